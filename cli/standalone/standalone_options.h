// From the table of settings to the options of each part. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cli/standalone/data_directory.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/private_mariadbd.h"
#include "common/config/load.h"
#include "executor/app/executor_daemon.h"
#include "scheduler/api/api_server.h"
#include "scheduler/api/ops_server.h"
#include "scheduler/app/member_options.h"

namespace carillon::cli {

inline constexpr std::string_view kStoreDatabase = "carillon";

mysql::PrivateMariadbdOptions MariadbdOptionsOf(const config::Config& config,
                                                const DataDirectory& directory);
mysql::MysqlOptions StoreOptionsOf(const config::Config& config,
                                   const mysql::PrivateMariadbd& server);
// `seed` makes the incarnation: another one for each start.
scheduler::MemberOptions MemberOptionsOf(const config::Config& config, uint64_t seed);
executor::ExecutorOptions ExecutorOptionsOf(const config::Config& config, uint64_t seed);
scheduler::ApiOptions ApiOptionsOf(const config::Config& config);
scheduler::OpsOptions OpsOptionsOf(const config::Config& config);
// Every setting as it is in force.
std::map<std::string, std::string> SettingsOf(const config::Config& config);

}  // namespace carillon::cli
