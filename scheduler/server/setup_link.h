// The link through which the first administrator chooses a name and a password.
#pragma once

#include <string>

#include "common/ports/store/auth_store.h"

namespace carillon::scheduler {

// Creates a link below `url`. An earlier link becomes invalid. Empty if there already is an
// administrator, or if the store failed. The store's error is logged, and `carillon user
// setup-link` can create a link later.
std::string NewSetupLink(AuthStore& store, const std::string& url, const Result<WallTime>& now);

// The text that presents the link to the operator.
std::string SetupText(const std::string& link);

}  // namespace carillon::scheduler
