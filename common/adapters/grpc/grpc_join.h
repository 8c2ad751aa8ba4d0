// The call by which an executor requests a certificate.
#pragma once

#include <string>

#include "common/ports/executor_join.h"
#include "common/tls/certificates.h"

namespace carillon::rpc {

struct JoinTarget {
  MemberId member;  // the server's certificate must name this member; empty: any member
  std::string address;
};

// Requests a certificate from one member and returns it as PEM. An executor that has no certificate
// yet passes an `identity` without one. Blocks for at most 10 seconds. kDenied: the member refused.
// kUnavailable: the member cannot be reached or cannot answer now, or another server answered.
Result<std::string> Join(const JoinTarget& target, const tls::Identity& identity,
                         const JoinRequest& request);

}  // namespace carillon::rpc
