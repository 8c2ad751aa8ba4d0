// Keys, requests and certificates as PEM text, and the authority that signs them.
//
// Place    The only use of OpenSSL's keys and certificates. Servers and clients use the TLS of
//          their own libraries (Asio, libcurl, gRPC, librdkafka), which read the same PEM.
// Threads  Functions are thread-safe; an Authority is immutable after construction.
// Time     Never reads a clock.
// Errors   kInvalid: the text is not of the expected kind; the message contains OpenSSL's.
// Always   Keys are EC P-256 in PKCS#8, hashes SHA-256, serial numbers 128 random bits.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::tls {

// A new key. Secret: never log it, and store it only in files of mode 0600.
std::string NewKey();

// A certificate request for `common_name`, signed with `key`.
Result<std::string> NewRequest(const std::string& key, const std::string& common_name);

// The properties of a certificate; it is valid in [from, until).
struct CertificateInfo {
  std::string common_name;
  WallTime from;
  WallTime until;
  bool authority = false;   // may sign other certificates
  std::string fingerprint;  // of the whole certificate: SHA-256, 64 lower-case hex digits
};
// Describes the first certificate in `pem`.
Result<CertificateInfo> Describe(const std::string& pem);

// Checks that the certificate belongs to `key`; kInvalid if not.
Status CheckPair(const std::string& certificate, const std::string& key);
// Checks the signature and the validity. kDenied: not signed by `authority`, or not valid at `now`.
Status CheckIssued(const std::string& certificate, const std::string& authority, WallTime now);

enum class Purpose { kServer, kClient, kBoth };

// An identity on the control link, as PEM: a certificate, its key, and the trusted authority.
struct Identity {
  std::string authority = {};
  std::string certificate = {};
  std::string key = {};

  bool empty() const { return authority.empty(); }
};

// A name in the certificate of every member of a scheduler, for executors that know only the
// address of a member. Not an id, which has no dot.
inline constexpr std::string_view kAnyMember = "member.carillon";

// The content of the certificate to issue.
struct IssueOptions {
  std::string common_name;                  // the request must be for this name
  std::vector<std::string> dns = {};        // further names; common_name is always included
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
  // Creates an authority with a new key.
  static Authority Create(const std::string& common_name, const Life& life);
  // kInvalid: not a pair, or not a certificate that may sign others.
  static Result<Authority> Load(const std::string& certificate, const std::string& key);
  Authority(Authority&&) noexcept;
  Authority& operator=(Authority&&) noexcept;
  ~Authority();

  const std::string& certificate() const;
  const std::string& key() const;
  const std::string& fingerprint() const;

  // kInvalid: `request` is malformed, not signed with its own key, or for another name.
  Result<std::string> Issue(const std::string& request, const IssueOptions& options) const;
  // The same without a request, for a caller that has the private key.
  Result<std::string> IssueFor(const std::string& key, const IssueOptions& options) const;

 private:
  struct Parts;
  explicit Authority(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace carillon::tls
