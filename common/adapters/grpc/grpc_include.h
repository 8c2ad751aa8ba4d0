// The only way to gRPC: its headers are heavy and warn under our flags.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#pragma GCC diagnostic pop

// A macro of absl's, which ours (common/base/mutex.h) replaces.
#undef GUARDED_BY
