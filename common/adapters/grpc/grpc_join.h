// The call by which an executor requests a certificate.
#pragma once

#include <string>

#include "common/ports/executor_join.h"
#include "common/tls/certificates.h"

namespace carillon::rpc {

struct JoinTarget {
  MemberId member;  // the server must show its certificate
  std::string address;
};

// Asks one member and returns the certificate as PEM. An executor that has no certificate yet
// passes an `identity` without one. Blocks for at most 10 seconds. kDenied: the member refuses;
// kUnavailable: it cannot be reached, is not the expected one, or cannot answer now.
Result<std::string> Join(const JoinTarget& target, const tls::Identity& identity,
                         const JoinRequest& request);

}  // namespace carillon::rpc
