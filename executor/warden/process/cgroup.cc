#include "executor/warden/process/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "common/base/file_descriptor.h"

namespace carillon::executor {
namespace {

constexpr int64_t kCpuPeriod_us = 100'000;
constexpr size_t kFileBytesMax = 1u << 20;
constexpr char kWardenLeaf[] = "warden";
constexpr char kTrialGroup[] = "trial";

struct Controller {
  const char* name;
  Feature feature;
  Limits trial;  // a limit that its group accepts and that ends nothing
};
constexpr Controller kControllers[] = {
    {"memory", Feature::kMemoryLimit, {.memory_mb = 64}},
    {"cpu", Feature::kCpuLimit, {.cpu = 1}},
    {"pids", Feature::kPidsLimit, {.pids = 64}},
};

// Splits off the text up to `separator`.
std::string_view Take(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

bool WriteValue(const std::string& path, std::string_view value) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.open()) return false;
  return write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

std::string ReadText(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  while (file.open() && text.size() < kFileBytesMax &&
         (n = read(file.get(), buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

bool HasWord(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    std::string_view line = Take(text, '\n');
    while (!line.empty()) {
      if (Take(line, ' ') == word) return true;
    }
  }
  return false;
}

CgroupHost None(std::string detail, std::string cure) {
  return {.check = {.name = "cgroup",
                    .state = HostCheckState::kNo,
                    .detail = std::move(detail),
                    .cure = std::move(cure)}};
}

// Starts a child in a group with the limit and kills it by the group. Returns false, with the
// reason in errno, if any of that fails.
bool TryGroup(const std::string& path, const std::vector<CgroupSetting>& settings) {
  int fds[2];
  if (!MakeCgroup(path, settings) || pipe2(fds, O_CLOEXEC) != 0) return false;
  const FileDescriptor from_child(fds[0]);
  FileDescriptor to_parent(fds[1]);
  const pid_t child = fork();
  if (child == 0) {
    int moved = WriteValue(path + "/cgroup.procs", "0") ? 0 : errno;
    static_cast<void>(!write(to_parent.get(), &moved, sizeof(moved)));
    for (;;) pause();
  }
  if (child < 0) return false;
  to_parent.Close();
  int error = EPIPE;
  static_cast<void>(!read(from_child.get(), &error, sizeof(error)));
  if (error == 0 && !WriteValue(path + "/cgroup.kill", "1")) error = errno;
  if (error != 0) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  errno = error;
  return error == 0 && RemoveCgroup(path);
}

}  // namespace

std::vector<CgroupSetting> CgroupSettings(const Limits& limits, Features host) {
  std::vector<CgroupSetting> settings;
  if (limits.memory_mb != 0 && host.Has(Feature::kMemoryLimit)) {
    settings.push_back({"memory.max", fmt::format("{}", limits.memory_mb << 20)});
    settings.push_back({"memory.oom.group", "1"});
    settings.push_back({"memory.swap.max", "0", true});
  }
  if (limits.cpu != 0 && host.Has(Feature::kCpuLimit)) {
    const auto quota = std::llround(limits.cpu * static_cast<double>(kCpuPeriod_us));
    settings.push_back({"cpu.max", fmt::format("{} {}", quota, kCpuPeriod_us)});
  }
  if (limits.pids != 0 && host.Has(Feature::kPidsLimit)) {
    settings.push_back({"pids.max", fmt::format("{}", limits.pids)});
  }
  return settings;
}

std::string CgroupPath(std::string_view cgroup, std::string_view mountinfo) {
  std::string_view own;
  while (!cgroup.empty()) {
    const std::string_view line = Take(cgroup, '\n');
    if (line.starts_with("0::/")) own = line.substr(3);
  }
  if (own.empty()) return {};
  // "36 35 0:31 ROOT MOUNT_POINT options… - cgroup2 …": the mount shows the hierarchy from ROOT on.
  while (!mountinfo.empty()) {
    std::string_view line = Take(mountinfo, '\n');
    if (line.find(" - cgroup2 ") == std::string_view::npos) continue;
    for (int skipped = 0; skipped < 3; ++skipped) Take(line, ' ');
    std::string_view root = Take(line, ' ');
    const std::string_view point = Take(line, ' ');
    if (root == "/") root = {};
    if (own != root && !own.starts_with(std::string(root) + "/")) continue;
    const std::string_view below = own.substr(root.size());
    return std::string(point) + std::string(below == "/" ? "" : below);
  }
  return {};
}

int64_t CgroupCount(std::string_view events, std::string_view name) {
  while (!events.empty()) {
    std::string_view line = Take(events, '\n');
    if (Take(line, ' ') != name) continue;
    int64_t count = 0;
    std::from_chars(line.data(), line.data() + line.size(), count);
    return count;
  }
  return 0;
}

bool MakeCgroup(const std::string& path, const std::vector<CgroupSetting>& settings) {
  if (mkdir(path.c_str(), 0755) != 0) {
    if (errno != EEXIST) return false;
    KillCgroup(path);  // a remainder
    if (!RemoveCgroup(path) || mkdir(path.c_str(), 0755) != 0) return false;
  }
  for (const CgroupSetting& setting : settings) {
    if (WriteValue(path + "/" + setting.file, setting.value)) continue;
    if (setting.optional && errno == ENOENT) continue;
    const int error = errno;
    rmdir(path.c_str());
    errno = error;
    return false;
  }
  return true;
}

void KillCgroup(const std::string& path) { WriteValue(path + "/cgroup.kill", "1"); }
bool RemoveCgroup(const std::string& path) { return rmdir(path.c_str()) == 0; }
int64_t OomKills(const std::string& path) {
  return CgroupCount(ReadText(path + "/memory.events"), "oom_kill");
}

CgroupHost PrepareCgroups() {
  const std::string path =
      CgroupPath(ReadText("/proc/self/cgroup"), ReadText("/proc/self/mountinfo"));
  if (path.empty()) {
    return None("This host has no control groups of version 2.",
                "Boot it with the unified hierarchy (systemd.unified_cgroup_hierarchy=1).");
  }
  const std::string offered = ReadText(path + "/cgroup.controllers");
  if (offered.find_first_not_of(" \n") == std::string::npos) {
    return None(fmt::format("{} has no controllers.", path),
                "Boot the host with the unified hierarchy, and start the warden by a unit with "
                "Delegate=yes.");
  }
  constexpr char kUnitCure[] =
      "Start the warden by a unit of its own with Delegate=yes (carillon-warden.service).";
  std::string_view members = std::string_view();
  const std::string processes = ReadText(path + "/cgroup.procs");
  members = processes;
  const std::string self = fmt::format("{}", getpid());
  if (Take(members, '\n') != self || !members.empty()) {
    return None(fmt::format("The warden shares its group {} with other processes.", path),
                kUnitCure);
  }
  const std::string leaf = path + "/" + kWardenLeaf;
  if ((mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) ||
      !WriteValue(leaf + "/cgroup.procs", "0")) {
    return None(fmt::format("{} is not delegated to the warden: {}.", path, std::strerror(errno)),
                kUnitCure);
  }
  CgroupHost host{.path = path, .check = {.name = "cgroup"}};
  std::vector<std::string> works;
  std::vector<std::string> fails;
  for (const Controller& controller : kControllers) {
    const std::string name = controller.name;
    const bool enabled =
        HasWord(offered, name) && WriteValue(path + "/cgroup.subtree_control", "+" + name) &&
        TryGroup(path + "/" + kTrialGroup, CgroupSettings(controller.trial, {controller.feature}));
    if (enabled) host.features.Add(controller.feature);
    (enabled ? works : fails).push_back(name);
  }
  if (works.empty()) {
    return None(fmt::format("{} does not work: {}.", path, std::strerror(errno)), kUnitCure);
  }
  host.check.detail = fmt::format("{}: {}.", path, fmt::join(works, ", "));
  if (fails.empty()) return host;
  host.check.state = HostCheckState::kPartly;
  host.check.detail += fmt::format(" Not: {}.", fmt::join(fails, ", "));
  host.check.cure =
      "Delegate these controllers, too (Delegate=yes, and the controllers of its slice).";
  return host;
}

}  // namespace carillon::executor
