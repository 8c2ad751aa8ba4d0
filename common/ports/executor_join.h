// Port for issuing the certificate that an executor uses on the control link.
#pragma once

#include <functional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace carillon {

// An executor's request for a certificate.
struct JoinRequest {
  ExecutorId executor;
  // One-time token from an administrator. Empty: the executor has shown a valid certificate, and
  // requests its next one.
  std::string token;
  std::string request;  // PEM certificate request for the executor's name
};

// Returns the certificate as PEM. Writes to the store, and blocks for that time. kDenied: invalid
// token or request.
using IssueCertificate = std::function<Result<std::string>(const JoinRequest& request)>;

}  // namespace carillon
