#include "scheduler/daemon/scheduler_settings.h"

#include "common/process/process.h"

namespace carillon::scheduler {
namespace {

// Planning, claims, results, liveness, the guard and upkeep hold at most one connection each.
constexpr size_t kLoopConnections = 9;

}  // namespace

MemberTuning MemberTuningOf(const config::Config& config) {
  return {.horizon = config.Time("scheduler.horizon_s"),
          .dispatch_timeout = config.Time("scheduler.dispatch_timeout_ms"),
          .bus_format = BusFormatOf(config.Text("bus.format")),
          .retention = config.Time("retention_days")};
}

MemberOptions MemberOptionsOf(const config::Config& config, uint64_t seed) {
  MemberOptions options;
  options.self = {.id = MemberId(config.Text("scheduler.id")),
                  .incarnation = process::NewIncarnation(seed)};
  options.seed = seed;
  options.tuning = MemberTuningOf(config);
  options.wheel_capacity = static_cast<size_t>(config.Integer("scheduler.wheel_capacity"));
  options.lease = config.Time("scheduler.lease_ms");
  options.heartbeat = config.Time("scheduler.heartbeat_ms");
  options.executor_lost = config.Time("scheduler.executor_lost_ms");
  options.clock_offset_max = config.Time("scheduler.clock_offset_max_ms");
  return options;
}

ApiOptions ApiOptionsOf(const config::Config& config) {
  return {.address = config.Text("rest.listen"),
          .port = static_cast<uint16_t>(config.Integer("rest.port")),
          .tls = {.certificate_file = config.Text("rest.tls_certificate_file"),
                  .key_file = config.Text("rest.tls_key_file")},
          .allow_beyond_loopback = config.Flag("rest.allow_beyond_loopback"),
          .advertise = config.Text("rest.advertise"),
          .workers = static_cast<size_t>(config.Integer("rest.workers"))};
}

ops::OpsOptions OpsOptionsOf(const config::Config& config) {
  return {.address = config.Text("ops.listen"),
          .port = static_cast<uint16_t>(config.Integer("ops.port")),
          .allow_beyond_loopback = config.Flag("ops.allow_beyond_loopback")};
}

size_t StoreConnectionsOf(const config::Config& config) {
  return static_cast<size_t>(config.Integer("store.connections")) + kLoopConnections;
}

}  // namespace carillon::scheduler
