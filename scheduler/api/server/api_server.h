// The REST API of a member: an ApiHandler behind an HTTP server.
//
// Threads  Owns its IO threads and workers (http_server.h).
// Errors   Start: the errors of HttpServer::Start. Without TLS, only loopback addresses are
//          accepted, unless `allow_beyond_loopback` is set.
// Always   After Stop() the context is no longer used.
#pragma once

#include <memory>
#include <optional>

#include "common/adapters/http/http_server.h"
#include "scheduler/api/context/api_context.h"
#include "scheduler/auth/authenticator.h"  // CreateAdminToken, for the composition root

namespace carillon::scheduler {

class ApiHandler;

struct ApiOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 8640;  // 0 = any free port
  TlsFiles tls = {};
  bool allow_beyond_loopback = false;
  std::string advertise = {};          // host in the value of url(); empty = `address`
  std::string public_url = {};         // value of public_url(); empty = that of url()
  size_t workers = 8;                  // each may hold one store connection
  size_t address_connections_max = 0;  // 0 = no limit
  std::vector<IpNetwork> trusted_proxies = {};
};

class ApiServer {
 public:
  static Result<std::unique_ptr<ApiServer>> Start(const ApiOptions& options,
                                                  const ApiContext& context);
  ~ApiServer();

  uint16_t port() const;
  std::string url() const;  // "http://127.0.0.1:8640"
  // The base of links that people follow, without a slash at its end.
  std::string public_url() const;
  // As TlsCertificate::Reload.
  Status ReloadCertificate() { return server_->ReloadCertificate(); }
  std::optional<WallTime> CertificateUntil() const { return server_->CertificateUntil(); }
  void Stop();

 private:
  ApiServer(const ApiOptions& options, const ApiContext& context);

  std::string public_url_;  // empty = that of url()
  const std::unique_ptr<ApiHandler> handler_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace carillon::scheduler
