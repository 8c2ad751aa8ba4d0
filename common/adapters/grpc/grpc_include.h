// The only include of gRPC: its headers are heavy, and produce warnings under our flags.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/server_posix.h>
#include <grpcpp/support/method_handler.h>
#include <grpcpp/support/sync_stream.h>
#pragma GCC diagnostic pop

// Abseil's macro is replaced by ours (common/base/mutex.h).
#undef GUARDED_BY
