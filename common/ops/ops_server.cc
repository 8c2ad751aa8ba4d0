#include "common/ops/ops_server.h"

#include <utility>

#include "common/adapters/prometheus/exposition.h"

namespace carillon::ops {
namespace {

constexpr size_t kOpsWorkers = 2;
constexpr size_t kOpsQueueMax = 32;         // requests
constexpr size_t kOpsConnectionsMax = 128;  // connections

}  // namespace

class OpsHandler : public HttpHandler {
 public:
  explicit OpsHandler(const OpsContext& context)
      : metrics_(context.metrics), health_(context.health) {}

  HttpResponse Handle(const HttpRequest& request) override {
    if (request.defect != HttpDefect::kNone) return PlainText(400, "bad request\n");
    if (auto answer = health_.Answer(request)) return std::move(*answer);
    const std::string path = request.segments.size() == 1 ? request.segments[0] : "";
    const bool known = path == "healthz" || path == "metrics";
    if (!known) return PlainText(404, "not found: try /livez, /readyz?verbose or /metrics\n");
    if (request.method != "GET" && request.method != "HEAD") return OnlyReads();
    return path == "metrics" ? MetricsText() : health_.Readiness(request);
  }

  HttpResponse Overloaded(const HttpRequest&) override {
    HttpResponse busy = PlainText(503, "busy\n");
    busy.headers.emplace_back("Retry-After", "1");
    return busy;
  }

 private:
  HttpResponse MetricsText() const {
    HttpResponse response = PlainText(200, ToPrometheusText(metrics_.Collect()));
    response.headers[0].second = kPrometheusContentType;
    return response;
  }

  Metrics& metrics_;
  const Health& health_;
};

OpsServer::OpsServer(std::unique_ptr<OpsHandler> handler) : handler_(std::move(handler)) {}
OpsServer::~OpsServer() { Stop(); }

Result<std::unique_ptr<OpsServer>> OpsServer::Start(const OpsOptions& options,
                                                    const OpsContext& context) {
  std::unique_ptr<OpsServer> ops(new OpsServer(std::make_unique<OpsHandler>(context)));
  CARILLON_ASSIGN_OR_RETURN(
      ops->server_, HttpServer::Start({.name = "ops",
                                       .address = options.address,
                                       .port = options.port,
                                       .allow_beyond_loopback = options.allow_beyond_loopback,
                                       .workers = kOpsWorkers,
                                       .queue_max = kOpsQueueMax,
                                       .connections_max = kOpsConnectionsMax,
                                       .body_bytes_max = 0},
                                      *ops->handler_, context.clock));
  return ops;
}

uint16_t OpsServer::port() const { return server_->port(); }
std::string OpsServer::url() const { return server_->url(); }

void OpsServer::Stop() {
  if (server_) server_->Stop();
}

}  // namespace carillon::ops
