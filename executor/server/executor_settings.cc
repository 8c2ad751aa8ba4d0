#include "executor/server/executor_settings.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "common/base/version.h"
#include "common/process/process.h"

namespace carillon::executor {
namespace {

constexpr int kSlotsPerCore = 4;

std::vector<std::string> ListOf(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

}  // namespace

ExecutorTuning ExecutorTuningOf(const config::Config& config) {
  ExecutorTuning tuning{
      .slots = static_cast<int>(config.Integer("executor.slots")),
      .starts_per_second = static_cast<int>(config.Integer("executor.starts_per_second")),
      .output_bytes_max = static_cast<size_t>(config.Integer("executor.output_bytes_max")),
      .bus_format = BusFormatOf(config.Text("bus.format"))};
  if (tuning.slots == 0) {
    tuning.slots =
        kSlotsPerCore * std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  return tuning;
}

ExecutorOptions ExecutorOptionsOf(const config::Config& config, uint64_t seed) {
  ExecutorOptions options;
  options.executor_id = ExecutorId(config.Text("executor.id"));
  options.incarnation = process::NewIncarnation(seed);
  options.host = process::HostName();
  options.version = kVersion;
  options.labels = config.Pairs("executor.labels");
  options.tuning = ExecutorTuningOf(config);
  options.log_bytes_max = static_cast<size_t>(config.Integer("executor.log_bytes_max"));
  options.light_slots = static_cast<int>(config.Integer("executor.light_slots"));
  options.http_allow = config.Networks("executor.http_allow");
  options.http_deny = config.Networks("executor.http_deny");
  options.http_proxy = config.Text("executor.http_proxy");
  options.no_proxy = config.Text("executor.no_proxy");
  options.http_ca_file = config.Text("executor.http_ca_file");
  options.worker_socket = config.Text("executor.worker_socket");
  options.run_as_allowed = ListOf(config.Text("executor.run_as_allowed"));
  options.run_as_directory = config.Text("executor.run_as_directory");
  options.worker_users = config.Pairs("executor.worker_users");
  options.container_engine = config.Text("executor.container.engine");
  options.interpreters = FindInterpreters(options.base_env["PATH"]);
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) OfferCommand(self.parent_path().string(), options.base_env);
  return options;
}

}  // namespace carillon::executor
