#include "common/ops/health.h"

#include <utility>

namespace carillon::ops {

// A check that blocks, and the loop that calls it.
struct Health::Probed {
  Probed(ReadyCheck check, const Clock& clock)
      : probe(std::move(check)), loop("ready", clock, probe) {}
  ReadyProbe probe;
  LoopRunner loop;
};

HttpResponse PlainText(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-store"}},
          .body = std::move(body)};
}

HttpResponse OnlyReads() {
  HttpResponse refused = PlainText(405, "method not allowed\n");
  refused.headers.emplace_back("Allow", "GET, HEAD");
  return refused;
}

Health::Health(std::vector<ReadyCheck> checks, const Clock& clock) : clock_(clock) {
  for (ReadyCheck& check : checks) {
    auto aside = check.blocks ? std::make_unique<Probed>(check, clock_) : nullptr;
    checks_.push_back({std::move(check), std::move(aside)});
  }
  for (const Check& check : checks_) {
    if (check.aside) check.aside->probe.AwaitFirstAnswer();
  }
}

Health::~Health() { Stop(); }

void Health::Stop() {
  for (const Check& check : checks_) {
    if (check.aside) check.aside->loop.Stop();
  }
}

std::optional<HttpResponse> Health::Answer(const HttpRequest& request) const {
  if (request.segments.size() != 1) return std::nullopt;
  const std::string& path = request.segments[0];
  if (path != "livez" && path != "readyz") return std::nullopt;
  if (request.method != "GET" && request.method != "HEAD") return OnlyReads();
  return path == "livez" ? PlainText(200, "ok\n") : Readiness(request);
}

HttpResponse Health::Readiness(const HttpRequest& request) const {
  bool verbose = false;
  for (const auto& [name, value] : request.query) verbose = verbose || name == "verbose";
  bool ready = true;
  std::string lines;
  for (const auto& [check, aside] : checks_) {
    const Status status = aside ? aside->probe.Read(clock_.Steady()) : check.check();
    const std::string& name = check.name;
    ready = ready && status.ok();
    // Anyone may read this without a token, so it shows the stable code and not the driver's text.
    const std::string note = status.ok() && check.note ? check.note() : "";
    lines += status.ok()
                 ? "[+] " + name + " ok" + note + "\n"
                 : "[-] " + name + " failed: " + std::string(ErrorCodeName(status.code())) + "\n";
  }
  lines += ready ? "ready\n" : "not ready\n";
  const std::string brief = ready ? "ok\n" : "not ready\n";
  return PlainText(ready ? 200 : 503, verbose ? lines : brief);
}

}  // namespace carillon::ops
