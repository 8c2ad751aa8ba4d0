// Issues certificates to executors: for one-time join tokens, and as renewals.
//
// Place    The hub of the control link calls it. POST /api/executors/join-tokens (join_routes.h)
//          creates the tokens.
// Threads  Thread-safe.
// Errors   Issue: kDenied in these cases:
//          - the token is unknown, used, expired or for another executor;
//          - the certificate request is invalid;
//          - a disabled executor asks for a renewal.
//          Otherwise the stores' errors. After such an error the token may be used up.
// Always   A token is used up before its certificate is returned, so a token yields at most one
//          certificate. An executor that stays disabled is locked out when its certificate expires.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/ports/executor_join.h"
#include "common/ports/store/audit_store.h"
#include "common/ports/store/auth_store.h"
#include "common/ports/store/executor_store.h"
#include "common/tls/certificates.h"

namespace carillon::scheduler {

// The role of join tokens. It has no permissions, so a join token cannot be used for anything else.
inline constexpr std::string_view kJoinRole = "executor_join";
inline constexpr Duration kExecutorCertificateLife = 30 * 24h;
// A certificate is valid from this long before its issue, because an executor's clock
// may be behind.
inline constexpr Duration kClockTolerance = 1h;

class ExecutorEnrollment {
 public:
  using Now = std::function<Result<WallTime>()>;  // cluster time
  struct Stores {
    AuthStore& auth;
    ExecutorStore& executors;
    AuditStore& audit;  // for the audit of joins
  };
  ExecutorEnrollment(const Stores& stores, const tls::Authority& authority, Now now)
      : stores_(stores), authority_(authority), now_(std::move(now)) {}

  // Returns the certificate as PEM. A request without a token is a renewal.
  Result<std::string> Issue(const JoinRequest& request) const;

 private:
  const Stores stores_;
  const tls::Authority& authority_;
  const Now now_;
};

}  // namespace carillon::scheduler
