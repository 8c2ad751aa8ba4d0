// The link by which the first administrator chooses a name and a password.
#pragma once

#include <string>

#include "common/ports/auth_store.h"

namespace carillon::scheduler {

// A new link below `url`, which replaces an earlier one; empty if an administrator already exists,
// or if the store could not keep it (logged; `carillon user setup-link` creates one later).
std::string NewSetupLink(AuthStore& store, const std::string& url, const Result<WallTime>& now);

// The text that is printed with the link.
std::string SetupText(const std::string& link);

}  // namespace carillon::scheduler
