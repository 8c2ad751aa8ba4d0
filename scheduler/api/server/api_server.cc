#include "scheduler/api/server/api_server.h"

#include <utility>

#include "scheduler/api/server/request_pipeline.h"

namespace carillon::scheduler {

ApiServer::ApiServer(const ApiOptions& options, const ApiContext& context)
    : public_url_(options.public_url),
      handler_(std::make_unique<ApiHandler>(context, options.workers)) {
  while (public_url_.ends_with('/')) public_url_.pop_back();
}
ApiServer::~ApiServer() { Stop(); }

Result<std::unique_ptr<ApiServer>> ApiServer::Start(const ApiOptions& options,
                                                    const ApiContext& context) {
  std::unique_ptr<ApiServer> api(new ApiServer(options, context));
  CARILLON_ASSIGN_OR_RETURN(
      api->server_, HttpServer::Start({.name = "api",
                                       .address = options.address,
                                       .port = options.port,
                                       .tls = options.tls,
                                       .allow_beyond_loopback = options.allow_beyond_loopback,
                                       .advertise = options.advertise,
                                       .workers = options.workers,
                                       .address_connections_max = options.address_connections_max,
                                       .trusted_proxies = options.trusted_proxies,
                                       // A dump of thousands of jobs, which are converted together.
                                       .large_bodies_below = {"api", "imports"}},
                                      *api->handler_, context.clock));
  return api;
}

uint16_t ApiServer::port() const { return server_->port(); }
std::string ApiServer::url() const { return server_->url(); }
std::string ApiServer::public_url() const { return public_url_.empty() ? url() : public_url_; }

void ApiServer::Stop() {
  handler_->StopStreams();
  if (server_) server_->Stop();
  handler_->Stop();
}

}  // namespace carillon::scheduler
