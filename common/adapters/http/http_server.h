// An HTTP/1.1 server behind our own types: RESTinio for the protocol, our accept loop, our workers.
//
// Threads  Owns its IO threads and workers. Handle() is called on workers, several at once;
//          Overloaded() on an IO thread: it must not block.
// Time     A connection that has not sent a whole request within `read_timeout` is closed, so idle
//          keep-alive connections end after it too. A TLS handshake has as long.
// Errors   Start: kInvalid (address, an address beyond loopback without TLS or leave, certificate
//          or key), kUnavailable (port taken, no descriptors).
// Always   Each request is answered once, in order; at most connections_max connections and
//          workers + queue_max requests at a time. What is not HTTP, or breaks a hard limit (body
//          beyond body_bytes_hard, headers), is closed without an answer.
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
  // The answer when the queue is full or the request waited too long.
  virtual HttpResponse Overloaded(const HttpRequest& request) = 0;
  // True for what must be answered while handlers of other requests are held up; its own Handle has
  // to be quick then. Called on an IO thread: must not block.
  virtual bool Urgent(const HttpRequest& /*request*/) const { return false; }
};

struct HttpServerOptions {
  std::string name = "http";           // in log lines
  std::string address = "127.0.0.1";   // a literal address or "localhost"
  uint16_t port = 0;                   // 0 = any
  TlsFiles tls = {};                   // set: TLS, and nothing else on this port
  bool allow_beyond_loopback = false;  // also without TLS
  std::string advertise = {};          // host of url(); empty = the address
  size_t io_threads = 1;
  size_t workers = 8;
  size_t urgent_workers = 1;           // for what the handler calls urgent
  size_t queue_max = 256;              // requests waiting for a worker, and as many urgent ones
  size_t connections_max = 1024;       // more wait in the kernel's backlog
  size_t address_connections_max = 0;  // of one address; more are closed; 0 = no limit
  // They may have as many connections as there are, and their X-Forwarded-For is believed.
  std::vector<IpNetwork> trusted_proxies = {};
  size_t target_bytes_max = 8u << 10;   // longer: HttpDefect::kTargetTooLong
  size_t header_bytes_max = 16u << 10;  // one value; longer: closed (80 KiB together)
  size_t header_count_max = 100;
  uint64_t body_bytes_max = 1u << 20;   // longer: HttpDefect::kBodyTooLarge
  uint64_t body_bytes_hard = 8u << 20;  // longer: closed
  Duration read_timeout = 5s;
  Duration write_timeout = 10s;
  Duration queue_wait_max = 10s;  // older requests get Overloaded()
  Duration handle_timeout = 60s;  // then the connection is closed
  Duration stop_grace = 5s;       // for requests in progress when stopping
};

class HttpServer {
 public:
  // Listens when this returns. `handler` and `clock` outlive the server.
  static Result<std::unique_ptr<HttpServer>> Start(const HttpServerOptions& options,
                                                   HttpHandler& handler, const Clock& clock);
  virtual ~HttpServer() = default;

  virtual uint16_t port() const = 0;
  // "http://127.0.0.1:8640", with TLS "https://…"
  virtual std::string url() const = 0;
  // As TlsCertificate::Reload; nothing to do without TLS.
  virtual Status ReloadCertificate() = 0;
  // When the certificate ends; nullopt without TLS.
  virtual std::optional<WallTime> CertificateUntil() const = 0;
  // Takes no more connections, lets requests in progress end within stop_grace, closes the rest.
  // Idempotent; the destructor calls it.
  virtual void Stop() = 0;
};

}  // namespace carillon
