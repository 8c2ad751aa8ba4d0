// Converts the settings into the options of a cluster's database sessions.
//
// Errors   As process::ReadSecretFile.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/config/load.h"

namespace carillon::store {

Result<mysql::SessionOptions> SessionOptionsOf(const config::Config& config);

}  // namespace carillon::store
