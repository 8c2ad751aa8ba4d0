// The ops port: /livez, /readyz[?verbose], /healthz, /metrics. No token, so loopback unless told
// otherwise, and nothing that changes anything.
//
// Threads  As HttpServer. The checks are called on its workers; each must answer within seconds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/adapters/http/http_server.h"
#include "common/base/metrics.h"

namespace carillon::scheduler {

struct ReadyCheck {
  std::string name;
  std::function<Status()> check;
};

struct OpsOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 8642;  // 0 = any
  bool allow_beyond_loopback = false;
};

// What the ops port serves. References outlive the server.
struct OpsContext {
  Metrics& metrics;
  const Clock& clock;
  std::vector<ReadyCheck> ready = {};  // all must pass for /readyz and /healthz
};

class OpsServer {
 public:
  static Result<std::unique_ptr<OpsServer>> Start(const OpsOptions& options, OpsContext context);
  ~OpsServer();

  uint16_t port() const;
  std::string url() const;
  void Stop();

 private:
  explicit OpsServer(std::unique_ptr<HttpHandler> handler);

  const std::unique_ptr<HttpHandler> handler_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace carillon::scheduler
