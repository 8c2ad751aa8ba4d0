// An HTTP/1.1 server behind our own types. The library RESTinio implements the protocol; the accept
// loop and the workers are ours.
//
// Threads  Owns its I/O threads and workers. Handle() is called on workers, several at once;
//          Overloaded() on an I/O thread: it must not block.
// Time     A connection is closed if it has not sent a whole request within `read_timeout`. The
//          same limit applies to idle keep-alive connections and to a TLS handshake.
// Errors   Start returns kInvalid if the address is neither an IP address nor "localhost", or if it
//          is beyond loopback and there is neither TLS nor allow_beyond_loopback. It returns
//          kUnavailable if the port is taken, or if there are no free descriptors. Errors of the
//          certificate and key: see TlsCertificate.
// Always   Each request is answered once, in order. At most connections_max connections are open.
//          At most workers + queue_max requests, and urgent_workers + queue_max urgent requests,
//          are accepted at a time. The connection is closed without a response if its input is not
//          HTTP, or exceeds body_bytes_hard or a limit of the headers.
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
  bool allow_beyond_loopback = false;  // permits an address beyond loopback without TLS
  std::string advertise = {};          // host name in url(); empty = the address
  size_t io_threads = 1;
  size_t workers = 8;
  size_t urgent_workers = 1;           // workers for urgent requests only
  size_t queue_max = 256;              // limit of each queue: of urgent and of other requests
  size_t connections_max = 1024;       // further connections wait in the kernel's backlog
  size_t address_connections_max = 0;  // per client address; others are closed; 0 = no limit
  // Connections of these proxies are not limited per address; their X-Forwarded-For is trusted.
  std::vector<IpNetwork> trusted_proxies = {};
  size_t target_bytes_max = 8u << 10;   // longer: HttpDefect::kTargetTooLong
  size_t header_bytes_max = 16u << 10;  // of one value (all headers: 80 KiB); longer: closed
  size_t header_count_max = 100;
  uint64_t body_bytes_max = 1u << 20;   // longer: HttpDefect::kBodyTooLarge
  uint64_t body_bytes_hard = 8u << 20;  // longer: closed
  // Segments of a path below which a body may have body_bytes_hard bytes; empty = none.
  std::vector<std::string> large_bodies_below = {};
  Duration read_timeout = 5s;
  Duration write_timeout = 10s;
  Duration queue_wait_max = 10s;  // requests that waited longer get Overloaded()
  Duration handle_timeout = 60s;  // the connection of a slower request is closed
  Duration stop_grace = 5s;       // for requests in progress during Stop
};

class HttpServer {
 public:
  // The server listens when Start returns. `handler` and `clock` must outlive the server.
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
