// The only header that includes RESTinio and Asio (11 s to compile). Other rooms must not use it.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wextra"
#include <restinio/all.hpp>
#include <restinio/impl/tls_socket.hpp>
#pragma GCC diagnostic pop
