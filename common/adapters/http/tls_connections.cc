#include <utility>

#include "common/adapters/http/connections.h"
#include "common/base/log.h"

namespace carillon::http {

// A socket whose handshake is completed before RESTinio gets the socket. RESTinio's own handshake
// has no timeout, so silent clients could use up all connections.
class TlsSocket : public restinio::impl::tls_socket_t {
 public:
  using tls_socket_t::tls_socket_t;
  Place place = {};  // held for the lifetime of the connection
};

// Overload that RESTinio calls instead of its own function. Here the handshake is already complete.
template <typename Connection, typename StartRead, typename Failed>
void prepare_connection_and_start_read(TlsSocket& /*socket*/, Connection& /*connection*/,
                                       StartRead start_read, Failed /*failed*/) {
  start_read();
}

namespace {

struct TlsTraits : Traits {
  using stream_socket_t = TlsSocket;
};

struct Handshake {
  TlsSocket socket;
  asio::strand<asio::io_context::executor_type> strand;
  asio::steady_timer deadline;
  restinio::endpoint_t peer;
  LifetimeMonitor monitor;
};

class Tls final : public Connections {
 public:
  Tls(asio::io_context& io, const HttpServerOptions& options, RequestHandler handler,
      const TlsCertificate& certificate)
      : io_(io),
        name_(options.name),
        timeout_(options.read_timeout),
        certificate_(certificate),
        factory_(MakeFactory<TlsTraits>(io, options, std::move(handler))) {}

  void Take(Incoming incoming) override {
    auto handshake =
        std::make_shared<Handshake>(Handshake{.socket = TlsSocket(io_, certificate_.context()),
                                              .strand = asio::make_strand(io_),
                                              .deadline = asio::steady_timer(io_),
                                              .peer = incoming.peer,
                                              .monitor = std::move(incoming.monitor)});
    handshake->socket.place = std::move(incoming.place);
    handshake->socket.asio_ssl_stream().next_layer() = std::move(incoming.socket);
    handshake->deadline.expires_after(timeout_);
    handshake->deadline.async_wait(
        asio::bind_executor(handshake->strand, [handshake](const std::error_code& cancelled) {
          if (cancelled) return;
          std::error_code ignored;
          handshake->socket.close(ignored);
        }));
    handshake->socket.async_handshake(
        asio::ssl::stream_base::server,
        asio::bind_executor(handshake->strand, [this, handshake](const std::error_code& error) {
          Done(*handshake, error);
        }));
  }

 private:
  void Done(Handshake& handshake, const std::error_code& error) noexcept {
    try {
      handshake.deadline.cancel();
      // The deadline may have closed the socket meanwhile.
      if (error || !handshake.socket.is_open()) {
        log::Debug("http", "{}: no TLS with a client: {}", name_, error.message());
        return;
      }
      factory_
          ->create_new_connection(std::move(handshake.socket), handshake.peer,
                                  std::move(handshake.monitor))
          ->init();
    } catch (const std::exception& failure) {
      log::Warn("http", "{}: connection dropped: {}", name_, failure.what());
    }
  }

  asio::io_context& io_;
  const std::string name_;
  const Duration timeout_;
  const TlsCertificate& certificate_;
  const std::unique_ptr<restinio::impl::connection_factory_t<TlsTraits>> factory_;
};

}  // namespace

std::unique_ptr<Connections> TlsConnections(asio::io_context& io, const HttpServerOptions& options,
                                            RequestHandler handler,
                                            const TlsCertificate& certificate) {
  return std::make_unique<Tls>(io, options, std::move(handler), certificate);
}

}  // namespace carillon::http
