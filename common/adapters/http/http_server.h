// An HTTP/1.1 server behind our own types: RESTinio's protocol, our accept loop and workers.
//
// Threads  Owns its I/O threads and workers. Handle() is called on workers, several at once;
//          Overloaded() on an I/O thread: it must not block.
// Time     A connection that has not sent a whole request within `read_timeout` is closed, and so
//          are idle keep-alive connections. A TLS handshake has the same limit.
// Errors   Start: kInvalid (address, an address beyond loopback without TLS or permission,
//          certificate or key), kUnavailable (port taken, no descriptors).
// Always   Each request is answered once, in order; at most connections_max connections and workers
//          + queue_max requests at a time. Input that is not HTTP, or exceeds a hard limit (of the
//          headers, or body_bytes_hard), closes the connection without a response.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/adapters/http/http_message.h"
#include "common/adapters/http/tls_certificate.h"
#include "common/base/clock.h"
#include "common/base/ip_address.h"
#include "common/base/result.h"

namespace carillon {

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // May block. An exception becomes a 500.
  virtual HttpResponse Handle(const HttpRequest& request) = 0;
  // Returns the response to a request that found the queue full or waited too long.
  virtual HttpResponse Overloaded(const HttpRequest& request) = 0;
  // True for a request that must be answered even while the handlers of other requests block.
  // Handle must be fast for such a request. Called on an I/O thread, so it must not block.
  virtual bool Urgent(const HttpRequest& /*request*/) const { return false; }
};

struct HttpServerOptions {
  std::string name = "http";           // identifies the server in log lines
  std::string address = "127.0.0.1";   // a literal address or "localhost"
  uint16_t port = 0;                   // 0 = any
  TlsFiles tls = {};                   // if set, TLS only
  bool allow_beyond_loopback = false;  // permits such an address without TLS
  std::string advertise = {};          // host name in url(); empty = the address
  size_t io_threads = 1;
  size_t workers = 8;
  size_t urgent_workers = 1;           // workers for urgent requests only
  size_t queue_max = 256;              // limit of each queue: of urgent and of other requests
  size_t connections_max = 1024;       // further ones wait in the kernel's backlog
  size_t address_connections_max = 0;  // per client address; more are closed; 0 = no limit
  // Connections of these proxies are not limited per address; their X-Forwarded-For is trusted.
  std::vector<IpNetwork> trusted_proxies = {};
  size_t target_bytes_max = 8u << 10;   // longer: HttpDefect::kTargetTooLong
  size_t header_bytes_max = 16u << 10;  // limit of one value (80 KiB in all); longer: closed
  size_t header_count_max = 100;
  uint64_t body_bytes_max = 1u << 20;   // longer: HttpDefect::kBodyTooLarge
  uint64_t body_bytes_hard = 8u << 20;  // longer: closed
  Duration read_timeout = 5s;
  Duration write_timeout = 10s;
  Duration queue_wait_max = 10s;  // older requests get Overloaded()
  Duration handle_timeout = 60s;  // then the connection is closed
  Duration stop_grace = 5s;       // for requests in progress during Stop
};

class HttpServer {
 public:
  // Listens on return. `handler` and `clock` must outlive the server.
  static Result<std::unique_ptr<HttpServer>> Start(const HttpServerOptions& options,
                                                   HttpHandler& handler, const Clock& clock);
  virtual ~HttpServer() = default;

  virtual uint16_t port() const = 0;
  // "http://127.0.0.1:8640", with TLS "https://…"
  virtual std::string url() const = 0;
  // Calls TlsCertificate::Reload. Has no effect without TLS.
  virtual Status ReloadCertificate() = 0;
  // The expiry of the certificate; nullopt without TLS.
  virtual std::optional<WallTime> CertificateUntil() const = 0;
  // Accepts no more connections, waits up to stop_grace for requests in progress, and then closes
  // all connections. Idempotent; the destructor calls it.
  virtual void Stop() = 0;
};

}  // namespace carillon
