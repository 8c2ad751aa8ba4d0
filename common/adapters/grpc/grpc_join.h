// The executor's call for a certificate.
#pragma once

#include <string>

#include "common/ports/executor_join.h"
#include "common/tls/certificates.h"

namespace carillon::rpc {

struct JoinTarget {
  MemberId member;  // whose certificate the server has to show
  std::string address;
};

// The answer of one member: PEM. `identity` without a certificate for the first time. Blocks for 10
// seconds at most. kDenied: the member refuses; kUnavailable: it cannot be reached, is not who it
// should be, or cannot say now.
Result<std::string> Join(const JoinTarget& target, const tls::Identity& identity,
                         const JoinRequest& request);

}  // namespace carillon::rpc
