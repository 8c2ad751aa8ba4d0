// The one door to RESTinio and Asio: included by http_server.cc only (11 s to compile).
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wextra"
#include <restinio/all.hpp>
#pragma GCC diagnostic pop
