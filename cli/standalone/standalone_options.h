// Computes the options of the private database from the settings and the size of the
// machine's memory.
#pragma once

#include <string_view>

#include "common/adapters/mysql/client/mysql_options.h"
#include "common/adapters/mysql/mariadbd/private_mariadbd.h"
#include "common/config/load.h"
#include "common/process/data_directory.h"

namespace carillon::cli {

inline constexpr std::string_view kStoreDatabase = "carillon";

mysql::PrivateMariadbdOptions MariadbdOptionsOf(const config::Config& config,
                                                const process::DataDirectory& directory);
mysql::MysqlOptions StoreOptionsOf(const config::Config& config,
                                   const mysql::PrivateMariadbd& server);

}  // namespace carillon::cli
