#include "common/ops/ops_server.h"

#include <utility>

#include "common/adapters/prometheus/exposition.h"

namespace carillon::ops {
namespace {

constexpr size_t kOpsWorkers = 2;
constexpr size_t kOpsQueueMax = 32;         // requests
constexpr size_t kOpsConnectionsMax = 128;  // connections
constexpr const char* kPlain = "text/plain; charset=utf-8";

HttpResponse Text(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", kPlain}, {"Cache-Control", "no-store"}},
          .body = std::move(body)};
}

// A blocking check, with the loop that runs it.
struct Probed {
  Probed(ReadyCheck check, const Clock& clock)
      : probe(std::move(check)), loop("ready", clock, probe) {}
  ReadyProbe probe;
  LoopRunner loop;
};

struct Check {
  ReadyCheck check;
  std::unique_ptr<Probed> aside;  // null if the check does not block
};

}  // namespace

class OpsHandler : public HttpHandler {
 public:
  explicit OpsHandler(OpsContext context) : metrics_(context.metrics), clock_(context.clock) {
    for (ReadyCheck& check : context.ready) {
      auto aside = check.blocks ? std::make_unique<Probed>(check, clock_) : nullptr;
      checks_.push_back({std::move(check), std::move(aside)});
    }
    for (const Check& check : checks_) {
      if (check.aside) check.aside->probe.AwaitFirstAnswer();
    }
  }

  HttpResponse Handle(const HttpRequest& request) override {
    if (request.defect != HttpDefect::kNone) return Text(400, "bad request\n");
    const std::string path = request.segments.size() == 1 ? request.segments[0] : "";
    const bool known =
        path == "livez" || path == "readyz" || path == "healthz" || path == "metrics";
    if (!known) return Text(404, "not found: try /livez, /readyz?verbose or /metrics\n");
    if (request.method != "GET" && request.method != "HEAD") {
      HttpResponse refused = Text(405, "method not allowed\n");
      refused.headers.emplace_back("Allow", "GET, HEAD");
      return refused;
    }
    if (path == "livez") return Text(200, "ok\n");
    if (path == "metrics") return MetricsText();
    return Readiness(request);
  }

  HttpResponse Overloaded(const HttpRequest&) override {
    HttpResponse busy = Text(503, "busy\n");
    busy.headers.emplace_back("Retry-After", "1");
    return busy;
  }

  void Stop() {
    for (const Check& check : checks_) {
      if (check.aside) check.aside->loop.Stop();
    }
  }

 private:
  HttpResponse MetricsText() const {
    HttpResponse response = Text(200, ToPrometheusText(metrics_.Collect()));
    response.headers[0].second = kPrometheusContentType;
    return response;
  }

  HttpResponse Readiness(const HttpRequest& request) const {
    bool verbose = false;
    for (const auto& [name, value] : request.query) verbose = verbose || name == "verbose";
    bool ready = true;
    std::string lines;
    for (const auto& [check, aside] : checks_) {
      const Status status = aside ? aside->probe.Read(clock_.Steady()) : check.check();
      const std::string& name = check.name;
      ready = ready && status.ok();
      // The port needs no token, so it shows the stable code rather than the driver's message.
      const std::string note = status.ok() && check.note ? check.note() : "";
      lines += status.ok()
                   ? "[+] " + name + " ok" + note + "\n"
                   : "[-] " + name + " failed: " + std::string(ErrorCodeName(status.code())) + "\n";
    }
    lines += ready ? "ready\n" : "not ready\n";
    const std::string brief = ready ? "ok\n" : "not ready\n";
    return Text(ready ? 200 : 503, verbose ? lines : brief);
  }

  Metrics& metrics_;
  const Clock& clock_;
  std::vector<Check> checks_;
};

OpsServer::OpsServer(std::unique_ptr<OpsHandler> handler) : handler_(std::move(handler)) {}
OpsServer::~OpsServer() { Stop(); }

Result<std::unique_ptr<OpsServer>> OpsServer::Start(const OpsOptions& options, OpsContext context) {
  const Clock& clock = context.clock;
  std::unique_ptr<OpsServer> ops(new OpsServer(std::make_unique<OpsHandler>(std::move(context))));
  CARILLON_ASSIGN_OR_RETURN(
      ops->server_, HttpServer::Start({.name = "ops",
                                       .address = options.address,
                                       .port = options.port,
                                       .allow_beyond_loopback = options.allow_beyond_loopback,
                                       .workers = kOpsWorkers,
                                       .queue_max = kOpsQueueMax,
                                       .connections_max = kOpsConnectionsMax,
                                       .body_bytes_max = 0},
                                      *ops->handler_, clock));
  return ops;
}

uint16_t OpsServer::port() const { return server_->port(); }
std::string OpsServer::url() const { return server_->url(); }

void OpsServer::Stop() {
  if (server_) server_->Stop();
  handler_->Stop();
}

}  // namespace carillon::ops
