#include "common/adapters/http/connections.h"

#include <utility>

namespace carillon::http {
namespace {

class Plain final : public Connections {
 public:
  Plain(asio::io_context& io, const HttpServerOptions& options, RequestHandler handler)
      : factory_(MakeFactory<Traits>(io, options, std::move(handler))) {}

  void Take(asio::ip::tcp::socket socket, const restinio::endpoint_t& peer,
            LifetimeMonitor monitor) override {
    factory_->create_new_connection(std::move(socket), peer, std::move(monitor))->init();
  }

 private:
  const std::unique_ptr<restinio::impl::connection_factory_t<Traits>> factory_;
};

}  // namespace

std::unique_ptr<Connections> PlainConnections(asio::io_context& io,
                                              const HttpServerOptions& options,
                                              RequestHandler handler) {
  return std::make_unique<Plain>(io, options, std::move(handler));
}

}  // namespace carillon::http
