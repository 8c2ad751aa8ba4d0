// The ops port: /livez, /readyz[?verbose], /healthz, /metrics. Its requests need no token, so the
// port listens on loopback only, unless configured otherwise. No request changes anything.
//
// Threads  As HttpServer.
#pragma once

#include <memory>
#include <string>

#include "common/adapters/http/http_server.h"
#include "common/base/metrics/metrics.h"
#include "common/ops/health.h"

namespace carillon::ops {

// The address on which the ops port listens.
struct OpsOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 8642;  // 0 = any
  bool allow_beyond_loopback = false;
};

// The data of the ops port. The references must outlive the server.
struct OpsContext {
  Metrics& metrics;
  const Clock& clock;
  const Health& health;
};

class OpsHandler;

class OpsServer {
 public:
  static Result<std::unique_ptr<OpsServer>> Start(const OpsOptions& options,
                                                  const OpsContext& context);
  ~OpsServer();

  uint16_t port() const;
  std::string url() const;
  // After Stop has returned, the context is not used any more.
  void Stop();

 private:
  explicit OpsServer(std::unique_ptr<OpsHandler> handler);

  const std::unique_ptr<OpsHandler> handler_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace carillon::ops
