// The certificate of an HTTP server, from two files that may be replaced while it runs.
//
// Threads  Thread-safe.
// Errors   kUnavailable: a file cannot be read or is not PEM, or the two files do not match. While
//          the files are being replaced, they do not match for a moment.
//          kInvalid: a file is above 1 MiB.
// Always   TLS 1.2 or later. Reload keeps the pair in use if a new file is defective, or if the new
//          certificate is expired or not valid yet. The next Reload checks the files again.
//          Load accepts a certificate that is expired or not valid yet, and logs an error.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace asio::ssl {
class context;
}

namespace carillon {

struct TlsFiles {
  std::string certificate_file = {};  // PEM, the server's certificate first, then its chain
  std::string key_file = {};          // PEM, without a pass phrase

  bool empty() const { return certificate_file.empty() && key_file.empty(); }
};

class TlsCertificate {
 public:
  static Result<std::unique_ptr<TlsCertificate>> Load(const TlsFiles& files, const Clock& clock);

  // The context for new connections. Existing connections keep the context they began with.
  std::shared_ptr<asio::ssl::context> context() const;
  // The time at which the certificate expires.
  WallTime until() const;
  // Reads the files again. If they contain a new valid pair, new connections use this pair. The
  // error of an invalid pair is returned by each call, but logged only once.
  Status Reload();

 private:
  struct Texts {
    std::string certificate;
    std::string key;
    bool operator==(const Texts&) const = default;
  };
  TlsCertificate(const TlsFiles& files, const Clock& clock) : files_(files), clock_(clock) {}
  Result<Texts> Read() const;
  static Result<std::shared_ptr<asio::ssl::context>> Build(const Texts& texts);
  Status Use();

  const TlsFiles files_;
  const Clock& clock_;
  mutable std::mutex mu_;
  std::shared_ptr<asio::ssl::context> context_;  // guarded by mu_
  WallTime until_{};                             // guarded by mu_
  Texts used_;                                   // guarded by mu_: the files' texts in context_
  std::string complaint_;                        // guarded by mu_: the last logged error
};

}  // namespace carillon
