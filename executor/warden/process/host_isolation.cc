#include "executor/warden/process/host_isolation.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "common/base/stable_hash.h"
#include "executor/warden/process/cgroup.h"
#include "executor/warden/process/user_directory.h"

namespace carillon::executor {
namespace {

HostCheck NoRunAs(std::string detail, std::string cure) {
  return {.name = "run_as",
          .state = HostCheckState::kNo,
          .detail = std::move(detail),
          .cure = std::move(cure)};
}

void PrepareRunAs(const std::string& directory, const std::string& run_directory,
                  HostIsolation& isolation) {
  if (geteuid() != 0) {
    isolation.checks.push_back(
        NoRunAs("The executor does not run as root.",
                "Start it as root, and name the users in executor.run_as_allowed."));
    return;
  }
  const std::string own = fmt::format("{}/{:016x}", run_directory,
                                      StableHash(std::filesystem::absolute(directory).string()));
  const std::string old = own + ".old";
  if (rename(own.c_str(), old.c_str()) == 0 || errno == ENOTEMPTY) isolation.leftovers = old;
  for (const std::string& path : {run_directory, own}) {
    if (MakeRunDirectory(path)) continue;
    isolation.checks.push_back(
        NoRunAs(fmt::format("{} cannot be used: {}.", path, std::strerror(errno)),
                "Set executor.run_as_directory to a directory that only root can write to, and all "
                "can pass "
                "through."));
    return;
  }
  isolation.run_directory = own;
  isolation.features.Add(Feature::kRunAs);
  isolation.checks.push_back({.name = "run_as", .detail = run_directory});
}

}  // namespace

HostIsolation PrepareIsolation(const std::string& directory, const std::string& run_directory) {
  HostIsolation isolation;
  CgroupHost cgroups = PrepareCgroups();
  isolation.cgroup = cgroups.path;
  isolation.features = isolation.features.With(cgroups.features);
  isolation.checks.push_back(std::move(cgroups.check));
  if (!run_directory.empty()) PrepareRunAs(directory, run_directory, isolation);
  return isolation;
}

Status CheckIsolation(const StartAttempt& start, Features host) {
  if (start.user && !host.Has(Feature::kRunAs)) {
    return {ErrorCode::kInvalid,
            fmt::format("start it as {}: the executor cannot change users", start.user->name)};
  }
  if (!start.limits || start.limits->enforce == Enforce::kBestEffort) return {};
  const std::vector<std::string> missing = NotEnforced(*start.limits, host);
  if (missing.empty()) return {};
  return {ErrorCode::kInvalid, fmt::format("enforce {}", fmt::join(missing, ", "))};
}

void ApplyLimits(const Limits& limits, Features host, const std::string& cgroup, ShimSpec& spec) {
  constexpr rlim_t kMiB = 1u << 20;
  if (limits.open_files != 0) spec.open_files_max = static_cast<rlim_t>(limits.open_files);
  if (limits.file_size_mb != 0)
    spec.file_bytes_max = static_cast<rlim_t>(limits.file_size_mb) * kMiB;
  spec.cgroup_settings = CgroupSettings(limits, host);
  if (!spec.cgroup_settings.empty()) spec.cgroup = cgroup;
}

}  // namespace carillon::executor
