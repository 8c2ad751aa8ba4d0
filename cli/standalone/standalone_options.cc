#include "cli/standalone/standalone_options.h"

#include <unistd.h>

#include <array>
#include <thread>

#include <fmt/core.h>

#include "common/base/version.h"
#include "common/config/config_table.h"

namespace carillon::cli {
namespace {

// Planning, claims, results, liveness and upkeep hold at most one connection each.
constexpr size_t kLoopConnections = 8;
constexpr int kSlotsPerCore = 4;

Incarnation NewIncarnation(uint64_t seed) { return Incarnation(fmt::format("{:016x}", seed)); }

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

size_t PoolSize(const config::Config& config) {
  return static_cast<size_t>(config.Integer("store.connections")) + kLoopConnections;
}

}  // namespace

mysql::PrivateMariadbdOptions MariadbdOptionsOf(const config::Config& config,
                                                const DataDirectory& directory) {
  return {.directory = directory.Sub("mariadb"),
          .buffer_pool_bytes = config.Integer("store.buffer_pool_mib") << 20};
}

mysql::MysqlOptions StoreOptionsOf(const config::Config& config,
                                   const mysql::PrivateMariadbd& server) {
  return {.session = {.socket_path = server.socket_path(),
                      .user = server.user(),
                      .database = std::string(kStoreDatabase)},
          .pool_size = PoolSize(config),
          .create_database = true,
          .segment_count = static_cast<uint32_t>(config.Integer("scheduler.segments"))};
}

scheduler::MemberOptions MemberOptionsOf(const config::Config& config, uint64_t seed) {
  scheduler::MemberOptions options;
  options.self = {.id = MemberId(config.Text("scheduler.id")), .incarnation = NewIncarnation(seed)};
  options.seed = seed;
  options.horizon = config.Time("scheduler.horizon_s");
  options.wheel_capacity = static_cast<size_t>(config.Integer("scheduler.wheel_capacity"));
  options.dispatch_timeout = config.Time("scheduler.dispatch_timeout_ms");
  options.lease = config.Time("scheduler.lease_ms");
  options.heartbeat = config.Time("scheduler.heartbeat_ms");
  options.executor_lost = config.Time("scheduler.executor_lost_ms");
  options.clock_offset_max = config.Time("scheduler.clock_offset_max_ms");
  options.retention = config.Time("retention_days");
  return options;
}

executor::ExecutorOptions ExecutorOptionsOf(const config::Config& config, uint64_t seed) {
  executor::ExecutorOptions options;
  options.executor_id = ExecutorId(config.Text("executor.id"));
  options.incarnation = NewIncarnation(seed);
  options.host = HostName();
  options.version = kVersion;
  options.labels = config.Pairs("executor.labels");
  options.slots = static_cast<int>(config.Integer("executor.slots"));
  if (options.slots == 0) {
    options.slots =
        kSlotsPerCore * std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  options.light_slots = static_cast<int>(config.Integer("executor.light_slots"));
  options.output_bytes_max = static_cast<size_t>(config.Integer("executor.output_bytes_max"));
  return options;
}

scheduler::ApiOptions ApiOptionsOf(const config::Config& config) {
  return {.address = config.Text("rest.listen"),
          .port = static_cast<uint16_t>(config.Integer("rest.port")),
          .allow_beyond_loopback = config.Flag("rest.allow_beyond_loopback"),
          .workers = static_cast<size_t>(config.Integer("rest.workers"))};
}

scheduler::OpsOptions OpsOptionsOf(const config::Config& config) {
  return {.address = config.Text("ops.listen"),
          .port = static_cast<uint16_t>(config.Integer("ops.port"))};
}

std::map<std::string, std::string> SettingsOf(const config::Config& config) {
  std::map<std::string, std::string> settings;
  for (const config::Setting& setting : config::SettingTable()) {
    settings[std::string(setting.name)] = config.Get(setting.name).text;
  }
  return settings;
}

}  // namespace carillon::cli
