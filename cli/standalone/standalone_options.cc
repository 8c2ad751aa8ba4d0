#include "cli/standalone/standalone_options.h"

#include "common/adapters/mysql/schema/server_sizes.h"
#include "scheduler/server/scheduler_settings.h"

namespace carillon::cli {

mysql::PrivateMariadbdOptions MariadbdOptionsOf(const config::Config& config,
                                                const process::DataDirectory& directory) {
  const mysql::ServerSizes sizes =
      mysql::SizesOf(config.Integer("store.buffer_pool_mib"), mysql::MemoryBytes());
  return {.directory = directory.Sub("mariadb"),
          .buffer_pool_bytes = sizes.buffer_pool_bytes,
          .redo_log_bytes = sizes.redo_log_bytes};
}

mysql::MysqlOptions StoreOptionsOf(const config::Config& config,
                                   const mysql::PrivateMariadbd& server) {
  return {.session = {.socket_path = server.socket_path(),
                      .user = server.user(),
                      .database = std::string(kStoreDatabase)},
          .pool_size = scheduler::StoreConnectionsOf(config),
          .create_database = true,
          .segment_count = static_cast<uint32_t>(config.Integer("scheduler.segments"))};
}

}  // namespace carillon::cli
