// Port through which an executor obtains the certificate that it shows on the control link.
#pragma once

#include <functional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace carillon {

struct JoinRequest {
  ExecutorId executor;
  // One-time, from an administrator; empty: the executor has shown a certificate that is valid
  // still, and wants the next.
  std::string token;
  std::string request;  // PEM, for the executor's name
};

// PEM. Blocks as a write of the store does. kDenied: the token or the request is not good.
using IssueCertificate = std::function<Result<std::string>(const JoinRequest& request)>;

}  // namespace carillon
