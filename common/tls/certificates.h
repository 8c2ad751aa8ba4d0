// Keys, requests and certificates as PEM text, and the authority that signs them.
//
// Place    The one door to OpenSSL's keys and certificates; who serves or dials with them has a
//          TLS library of its own (Asio, libcurl, gRPC, librdkafka), which reads the same PEM.
// Threads  Functions are thread-safe; an Authority is immutable after construction.
// Time     Never reads a clock.
// Errors   kInvalid: text that is not what it should be; the message says what OpenSSL saw in it.
// Always   Keys are EC P-256 in PKCS#8, hashes SHA-256, serial numbers 128 random bits.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::tls {

// A secret: never logged, in files 0600.
std::string NewKey();

// A request for a certificate of that name, signed with `key`.
Result<std::string> NewRequest(const std::string& key, const std::string& common_name);

struct CertificateInfo {
  std::string common_name;
  WallTime from;
  WallTime until;
  bool authority = false;   // may sign others
  std::string fingerprint;  // of the whole certificate: SHA-256, 64 lower-case hex digits
};
// Of the first certificate in `pem`.
Result<CertificateInfo> Describe(const std::string& pem);

// kInvalid: another key.
Status CheckPair(const std::string& certificate, const std::string& key);
// kDenied: not signed by `authority`, or not valid at `now`.
Status CheckIssued(const std::string& certificate, const std::string& authority, WallTime now);

enum class Purpose { kServer, kClient, kBoth };

// Who one is on the control link: what is shown, and whose signature is trusted. All PEM.
struct Identity {
  std::string authority = {};
  std::string certificate = {};
  std::string key = {};

  bool empty() const { return authority.empty(); }
};

struct IssueOptions {
  std::string common_name;                  // the request must be for this one
  std::vector<std::string> dns = {};        // names besides common_name, which is one as well
  std::vector<std::string> addresses = {};  // literal IP addresses
  Purpose purpose = Purpose::kBoth;
  WallTime from;
  WallTime until;
};

class Authority {
 public:
  struct Life {
    WallTime from;
    WallTime until;
  };
  // With a new key.
  static Authority Create(const std::string& common_name, const Life& life);
  // kInvalid: not a pair, or not a certificate that may sign others.
  static Result<Authority> Load(const std::string& certificate, const std::string& key);
  Authority(Authority&&) noexcept;
  Authority& operator=(Authority&&) noexcept;
  ~Authority();

  const std::string& certificate() const;
  const std::string& key() const;
  const std::string& fingerprint() const;

  // kInvalid: `request` is none, its signature is
  // not that of its own key, or it is for another name.
  Result<std::string> Issue(const std::string& request, const IssueOptions& options) const;
  // The same for a key that is at hand.
  Result<std::string> IssueFor(const std::string& key, const IssueOptions& options) const;

 private:
  struct Parts;
  explicit Authority(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace carillon::tls
