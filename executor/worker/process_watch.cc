#include "executor/worker/process_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <mutex>
#include <string_view>

namespace carillon::executor {
namespace {

// Fields of /proc/PID/stat, from 1.
constexpr int kStateField = 3;
constexpr int kStartField = 22;
constexpr int kStackField = 28;

Error CannotLook(const std::string& path) {
  return {ErrorCode::kUnavailable, fmt::format("cannot read {}: {}", path, std::strerror(errno))};
}

// A file of /proc, which is read at once.
Result<std::string> ReadProc(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return CannotLook(path);
  std::array<char, 4096> buffer;
  const ssize_t size = read(file.get(), buffer.data(), buffer.size());
  if (size < 0) return CannotLook(path);
  return std::string(buffer.data(), static_cast<size_t>(size));
}

Result<std::string> BootId() {
  static std::string known;  // does not change; racing readers would read the same
  static std::mutex mu;
  std::lock_guard lock(mu);
  if (!known.empty()) return known;
  CARILLON_ASSIGN_OR_RETURN(std::string id, ReadProc("/proc/sys/kernel/random/boot_id"));
  while (!id.empty() && id.back() == '\n') id.pop_back();
  if (id.empty()) return Error{ErrorCode::kUnavailable, "the boot has no number"};
  known = id;
  return id;
}

bool NoSuchProcess(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

std::string_view FieldOf(std::string_view stat, int wanted) {
  // The name, in brackets, may itself have brackets and spaces. The third field follows its
  // last bracket.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return {};
  size_t at = name_end + 2;
  for (int field = kStateField; field < wanted && at < stat.size(); ++field) {
    at = std::min(stat.find(' ', at), stat.size() - 1) + 1;
  }
  if (at >= stat.size()) return {};
  return stat.substr(at, std::min(stat.find(' ', at), stat.size()) - at);
}

bool ReadNumber(std::string_view text, uint64_t* value) {
  return std::from_chars(text.data(), text.data() + text.size(), *value).ec == std::errc();
}

}  // namespace

Result<SeenProcess> LookAtProcess(pid_t pid) {
  const Error gone{ErrorCode::kNotFound, fmt::format("there is no process {}", pid)};
  if (NoSuchProcess(pid)) return gone;
  CARILLON_ASSIGN_OR_RETURN(const std::string boot_id, BootId());
  const Result<std::string> stat = ReadProc(fmt::format("/proc/{}/stat", pid));
  if (!stat.ok()) {
    if (NoSuchProcess(pid)) return gone;
    return stat.error();
  }
  const std::string_view state = FieldOf(*stat, kStateField);
  if (state == "Z" || state == "X") return gone;
  SeenProcess seen{.process = {.pid = pid, .boot_id = boot_id}};
  if (!ReadNumber(FieldOf(*stat, kStartField), &seen.process.start_ticks)) {
    return Error{ErrorCode::kUnavailable, fmt::format("/proc/{}/stat has another form", pid)};
  }
  ReadNumber(FieldOf(*stat, kStackField), &seen.image);
  return seen;
}

Life LifeOf(const WorkerProcess& process, uint64_t image) {
  const Result<SeenProcess> seen = LookAtProcess(static_cast<pid_t>(process.pid));
  if (!seen.ok()) return seen.code() == ErrorCode::kNotFound ? Life::kDead : Life::kUnknown;
  if (seen->process != process) return Life::kDead;
  const bool other = image != 0 && seen->image != 0 && seen->image != image;
  return other ? Life::kDead : Life::kAlive;
}

Status CheckProcessWatch() {
  const FileDescriptor self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  const bool never =
      !self.open() && (errno == ENOSYS || errno == EPERM || errno == EACCES || errno == EINVAL);
  if (!never) return {};
  return {ErrorCode::kUnavailable,
          fmt::format("this system does not let processes be watched: pidfd_open: {}",
                      std::strerror(errno))};
}

Life ProcessWatch::Add(const WorkerProcess& process) {
  if (watched_.contains(process)) return Life::kAlive;
  FileDescriptor fd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  // Looked at after the descriptor was opened: the number cannot pass to another process any
  // more unnoticed.
  const Life life = LifeOf(process, 0);
  if (life != Life::kAlive) return life;
  if (!fd.open()) return Life::kUnknown;
  watched_[process] = std::move(fd);
  return Life::kAlive;
}

void ProcessWatch::Keep(const std::set<WorkerProcess>& processes) {
  std::erase_if(watched_, [&](const auto& entry) { return !processes.contains(entry.first); });
}

std::vector<std::pair<int, WorkerProcess>> ProcessWatch::Descriptors() const {
  std::vector<std::pair<int, WorkerProcess>> all;
  all.reserve(watched_.size());
  for (const auto& [process, fd] : watched_) all.emplace_back(fd.get(), process);
  return all;
}

}  // namespace carillon::executor
