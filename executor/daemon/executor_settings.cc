#include "executor/daemon/executor_settings.h"

#include <algorithm>
#include <thread>

#include "common/base/version.h"
#include "common/process/process.h"

namespace carillon::executor {
namespace {

constexpr int kSlotsPerCore = 4;

}  // namespace

ExecutorOptions ExecutorOptionsOf(const config::Config& config, uint64_t seed) {
  ExecutorOptions options;
  options.executor_id = ExecutorId(config.Text("executor.id"));
  options.incarnation = process::NewIncarnation(seed);
  options.host = process::HostName();
  options.version = kVersion;
  options.labels = config.Pairs("executor.labels");
  options.slots = static_cast<int>(config.Integer("executor.slots"));
  if (options.slots == 0) {
    options.slots =
        kSlotsPerCore * std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  options.light_slots = static_cast<int>(config.Integer("executor.light_slots"));
  options.output_bytes_max = static_cast<size_t>(config.Integer("executor.output_bytes_max"));
  options.bus_format = BusFormatOf(config.Text("bus.format"));
  return options;
}

}  // namespace carillon::executor
