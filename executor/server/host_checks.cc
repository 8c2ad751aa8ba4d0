#include "executor/server/host_checks.h"

#include <pwd.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/wire/json/job/job_json.h"

namespace carillon::executor {
namespace {

constexpr uint64_t kFilesOfARun = 3;       // its pipes
constexpr uint64_t kFilesOfTheRest = 256;  // connections, journals, logs
constexpr uint64_t kFreeBytesMin = uint64_t{1} << 30;
constexpr double kGiB = 1024.0 * 1024 * 1024;

HostCheck CheckUser(const HostFacts& facts) {
  if (!facts.root) return {.name = "user", .detail = facts.user};
  return {.name = "user",
          .state = HostCheckState::kPartly,
          .detail = "The executor runs as root, and so does every job.",
          .cure = "Start it as a user of its own."};
}

HostCheck CheckOpenFiles(const HostFacts& facts) {
  const uint64_t needed = kFilesOfARun * static_cast<uint64_t>(facts.slots) + kFilesOfTheRest;
  if (facts.open_files >= needed) {
    return {.name = "open_files", .detail = fmt::format("{}", facts.open_files)};
  }
  return {.name = "open_files",
          .state = HostCheckState::kPartly,
          .detail = fmt::format("At most {} files may be open; {} slots need {}.", facts.open_files,
                                facts.slots, needed),
          .cure = "Raise the limit (LimitNOFILE of its unit), or lower executor.slots."};
}

HostCheck CheckDirectory(const HostFacts& facts) {
  const std::string free = fmt::format("{} has {:.1f} GiB free.", facts.directory,
                                       static_cast<double>(facts.free_bytes) / kGiB);
  if (facts.free_bytes >= kFreeBytesMin) return {.name = "directory", .detail = free};
  return {.name = "directory",
          .state = HostCheckState::kPartly,
          .detail = free,
          .cure = "Free at least 1 GiB for results and working directories."};
}

// Paths may be any bytes. A replaced byte takes three.
void BoundDetail(HostCheck& check) {
  check.detail = ToValidUtf8(check.detail.substr(0, kHostCheckBytesMax / 3));
}

}  // namespace

HostCheck CheckInterpreter(const Interpreters& found, const std::string& path,
                           Interpreter interpreter) {
  HostCheck check{.name = std::string(Name(FeatureOf(interpreter)))};
  const auto known = found.find(interpreter);
  if (known != found.end()) {
    check.detail = known->second;
  } else {
    check.state = HostCheckState::kNo;
    check.detail = fmt::format("There is no {} in {}.", Name(interpreter), path);
    check.cure = fmt::format("Install {}: it is looked for every 30 s.", Name(interpreter));
  }
  BoundDetail(check);
  return check;
}

std::vector<HostCheck> DecideHostChecks(const HostFacts& facts) {
  std::vector<HostCheck> checks = {CheckUser(facts), CheckOpenFiles(facts), CheckDirectory(facts)};
  for (const Interpreter interpreter : AllInterpreters()) {
    checks.push_back(CheckInterpreter(facts.interpreters, facts.path, interpreter));
  }
  for (HostCheck& check : checks) BoundDetail(check);
  return checks;
}

HostCheck DecideWorkersCheck(const std::string& socket, const Status& why) {
  if (why.ok())
    return {.name = "workers", .detail = ToValidUtf8(socket.substr(0, kHostCheckBytesMax / 3))};
  return {.name = "workers",
          .state = HostCheckState::kNo,
          .detail = ToValidUtf8(why.error().message.substr(0, kHostCheckBytesMax / 3)),
          .cure =
              "Handlers need Linux 5.3 or newer, a sandbox that allows pidfd_open, and a socket "
              "that can be made "
              "(executor.worker_socket)."};
}

void ReadHost(HostFacts* facts) {
  const uid_t uid = geteuid();
  facts->root = uid == 0;
  facts->user = fmt::format("{}", uid);
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    facts->user = found->pw_name;
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) facts->open_files = limit.rlim_max;
  struct statvfs disk {};
  if (statvfs(facts->directory.c_str(), &disk) == 0) {
    facts->free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
  }
}

void LogHostChecks(const std::vector<HostCheck>& checks) {
  for (const HostCheck& check : checks) {
    if (check.state == HostCheckState::kPartly) {
      log::Warn("executor", "{}: {} {}", check.name, check.detail, check.cure);
    } else if (check.state == HostCheckState::kNo) {
      log::Info("executor", "{}: {} {}", check.name, check.detail, check.cure);
    }
  }
}

}  // namespace carillon::executor
