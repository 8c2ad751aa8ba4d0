// The certificate of an HTTP server, from two files that may be replaced while it runs.
//
// Threads  Thread-safe.
// Errors   kUnavailable: a file is unreadable, not PEM, or does not match the other, which happens
//          briefly while both are being replaced. kInvalid: a file is above 1 MiB.
// Always   TLS 1.2 or later. An invalid pair, or one that is not valid now, never replaces a valid
//          one; each Reload checks it again. At startup a certificate that is not valid now is
//          used, and logged as an error.
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

  // For new connections; existing ones keep theirs.
  std::shared_ptr<asio::ssl::context> context() const;
  // The expiry.
  WallTime until() const;
  // Reads the files. A new pair is used from now on. The error of an invalid one is returned, and
  // logged once.
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
  Texts used_;                                   // guarded by mu_: what context_ was built from
  std::string complaint_;                        // guarded by mu_: last logged
};

}  // namespace carillon
