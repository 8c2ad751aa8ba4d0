// Certificates for executors: one-time join tokens, and what they are exchanged for.
//
// Place    The hub's calls come here; POST /api/executors/join-tokens (join_routes.h) makes tokens.
// Threads  Thread-safe.
// Errors   Issue: kDenied when the token is not known, for another executor, used or expired, when
//          the request is no good, or when a disabled executor wants the next certificate; as the
//          stores otherwise: a token may have been used up then.
// Always   A token is used up before its certificate is answered, so that it makes one at most.
//          What was disabled for good is out when its certificate ends.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/ports/admin_store.h"
#include "common/ports/auth_store.h"
#include "common/ports/executor_join.h"
#include "common/ports/executor_store.h"
#include "common/tls/certificates.h"

namespace carillon::scheduler {

// The role of join tokens: no permission knows it, so that they open nothing else.
inline constexpr std::string_view kJoinRole = "executor_join";
inline constexpr Duration kExecutorCertificateLife = 30 * 24h;
// Clocks of executors may be behind the member's.
inline constexpr Duration kClockTolerance = 1h;

class ExecutorEnrollment {
 public:
  using Now = std::function<Result<WallTime>()>;  // the cluster's time
  struct Stores {
    AuthStore& auth;
    ExecutorStore& executors;
    AdminStore& admin;  // the audit is told who joined
  };
  ExecutorEnrollment(const Stores& stores, const tls::Authority& authority, Now now)
      : stores_(stores), authority_(authority), now_(std::move(now)) {}

  Result<std::string> Issue(const JoinRequest& request) const;

 private:
  const Stores stores_;
  const tls::Authority& authority_;
  const Now now_;
};

}  // namespace carillon::scheduler
