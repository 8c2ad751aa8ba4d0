// The link by which the first administrator gives himself a name and a password.
#pragma once

#include <string>

#include "common/ports/auth_store.h"

namespace carillon::scheduler {

// A new link below `url`, which takes the place of an earlier one;
// empty when an administrator is there already, or when the store could
// not keep it (logged: `carillon user setup-link` makes one later).
std::string NewSetupLink(AuthStore& store, const std::string& url, const Result<WallTime>& now);

// What is told with it.
std::string SetupText(const std::string& link);

}  // namespace carillon::scheduler
