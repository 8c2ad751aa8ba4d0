// Turns accepted sockets into connections of RESTinio, directly or after a TLS handshake.
//
// Place    Between the accept loop of http_server.cc, which counts connections, and RESTinio.
// Threads  Take and everything that follows run on an I/O thread.
// Time     A handshake that is not complete within read_timeout is aborted.
#pragma once

#include <functional>
#include <memory>

#include "common/adapters/http/http_include.h"
#include "common/adapters/http/http_server.h"
#include "common/adapters/http/tls_certificate.h"
#include "common/base/address_places.h"

namespace carillon::http {

struct Traits : restinio::default_traits_t {
  static constexpr bool use_connection_count_limiter = true;
};
using Limiter = restinio::connection_count_limit_types<Traits>::limiter_t;
using LifetimeMonitor = restinio::connection_count_limit_types<Traits>::lifetime_monitor_t;
using RequestHandler =
    std::function<restinio::request_handling_status_t(const restinio::request_handle_t&)>;

// The interval at which a connection checks its deadlines.
inline constexpr std::chrono::milliseconds kTimerPeriod{100};
// A target is read up to this many times target_bytes_max. So a request whose target is a little
// above the limit gets a response instead of a closed connection.
inline constexpr size_t kTargetBytesRead = 4;  // factor

// An accepted socket. Monitor and place count the connection until they are destroyed.
struct Incoming {
  asio::ip::tcp::socket socket;
  restinio::endpoint_t peer;
  LifetimeMonitor monitor;
  Place place;
};

class Connections {
 public:
  virtual ~Connections() = default;
  virtual void Take(Incoming incoming) = 0;
};

std::unique_ptr<Connections> PlainConnections(asio::io_context& io,
                                              const HttpServerOptions& options,
                                              RequestHandler handler);
// `certificate` must outlive the returned object.
std::unique_ptr<Connections> TlsConnections(asio::io_context& io, const HttpServerOptions& options,
                                            RequestHandler handler,
                                            const TlsCertificate& certificate);

// Converts `options` into the settings of RESTinio.
template <typename AnyTraits>
std::unique_ptr<restinio::impl::connection_factory_t<AnyTraits>> MakeFactory(
    asio::io_context& io, const HttpServerOptions& options, RequestHandler handler) {
  restinio::server_settings_t<AnyTraits> settings;
  settings
      .incoming_http_msg_limits(restinio::incoming_http_msg_limits_t{}
                                    .max_url_size(options.target_bytes_max * kTargetBytesRead)
                                    .max_field_name_size(256)
                                    .max_field_value_size(options.header_bytes_max)
                                    .max_field_count(options.header_count_max)
                                    .max_body_size(options.body_bytes_hard))
      .read_next_http_message_timelimit(options.read_timeout)
      .write_http_response_timelimit(options.write_timeout)
      .handle_request_timeout(options.handle_timeout)
      .max_pipelined_requests(1)
      .request_handler(std::move(handler))
      .socket_options_setter([](restinio::socket_options_t& socket) {
        std::error_code ignored;
        socket.set_option(asio::ip::tcp::no_delay(true), ignored);
      });
  auto timers = std::make_shared<restinio::asio_timer_manager_t>(io, kTimerPeriod);
  auto connection_settings = std::make_shared<restinio::impl::connection_settings_t<AnyTraits>>(
      settings, restinio::impl::create_parser_settings<Traits::http_methods_mapper_t>(),
      std::move(timers));
  return std::make_unique<restinio::impl::connection_factory_t<AnyTraits>>(
      std::move(connection_settings), settings.socket_options_setter());
}

}  // namespace carillon::http
