// The certificate that an HTTP server shows, from two files that may be replaced while it runs.
//
// Threads  Thread-safe.
// Errors   kUnavailable: a file that cannot be read, is no PEM, or not the other's pair, as one of two
//          that are being replaced is for a moment. kInvalid: a file is over 1 MiB.
// Always   TLS 1.2 at least. A pair that is no good, or not valid now, does not take the place of
//          one that is; it is looked at again each time. At the start one that is not valid now is
//          shown, and said in the log.
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
  std::string certificate_file = {};  // PEM, the server's first, then what signed it
  std::string key_file = {};          // PEM, without a pass phrase

  bool empty() const { return certificate_file.empty() && key_file.empty(); }
};

class TlsCertificate {
 public:
  static Result<std::unique_ptr<TlsCertificate>> Load(const TlsFiles& files, const Clock& clock);

  // For the next connection; those that stand keep theirs.
  std::shared_ptr<asio::ssl::context> context() const;
  // When it ends.
  WallTime until() const;
  // Looks at the files. New ones are used from here on; bad ones are logged once and answered.
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
