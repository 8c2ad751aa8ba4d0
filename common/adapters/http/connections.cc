#include "common/adapters/http/connections.h"

#include <utility>

namespace carillon::http {
namespace {

// A socket that holds the place of its connection.
// RESTinio keeps the socket until the connection ends.
class PlainSocket : public asio::ip::tcp::socket {
 public:
  PlainSocket(asio::ip::tcp::socket&& socket, Place place)
      : asio::ip::tcp::socket(std::move(socket)), place_(std::move(place)) {}

 private:
  Place place_;
};

struct PlainTraits : Traits {
  using stream_socket_t = PlainSocket;
};

class Plain final : public Connections {
 public:
  Plain(asio::io_context& io, const HttpServerOptions& options, RequestHandler handler)
      : factory_(MakeFactory<PlainTraits>(io, options, std::move(handler))) {}

  void Take(Incoming incoming) override {
    factory_
        ->create_new_connection(PlainSocket(std::move(incoming.socket), std::move(incoming.place)),
                                incoming.peer, std::move(incoming.monitor))
        ->init();
  }

 private:
  const std::unique_ptr<restinio::impl::connection_factory_t<PlainTraits>> factory_;
};

}  // namespace

std::unique_ptr<Connections> PlainConnections(asio::io_context& io,
                                              const HttpServerOptions& options,
                                              RequestHandler handler) {
  return std::make_unique<Plain>(io, options, std::move(handler));
}

}  // namespace carillon::http
