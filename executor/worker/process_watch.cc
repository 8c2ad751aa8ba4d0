#include "executor/worker/process_watch.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>

namespace carillon::executor {
namespace {

constexpr int kStartField = 22;  // of /proc/PID/stat

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string BootId() {
  std::string id = ReadFile("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::optional<WorkerProcess> ProcessOf(pid_t pid) {
  const std::string stat = ReadFile(fmt::format("/proc/{}/stat", pid));
  // The name, in brackets, may itself have brackets and spaces. The third field follows its last bracket.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  size_t at = name_end + 2;
  for (int field = 3; field < kStartField; ++field) {
    at = stat.find(' ', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
  }
  // A zombie has ended.
  const char state = name_end + 2 < stat.size() ? stat[name_end + 2] : 'Z';
  WorkerProcess process{.pid = pid, .boot_id = BootId()};
  const auto [end, error] =
      std::from_chars(stat.data() + at, stat.data() + stat.size(), process.start_ticks);
  if (error != std::errc() || state == 'Z' || state == 'X') return std::nullopt;
  return process;
}

bool ProcessWatch::Add(const WorkerProcess& process) {
  if (watched_.contains(process)) return true;
  FileDescriptor fd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  // Compared after the descriptor was opened: the number cannot pass to another process any more unnoticed.
  if (!fd.open() || ProcessOf(static_cast<pid_t>(process.pid)) != process) return false;
  watched_[process] = std::move(fd);
  return true;
}

std::vector<std::pair<int, WorkerProcess>> ProcessWatch::Descriptors() const {
  std::vector<std::pair<int, WorkerProcess>> all;
  all.reserve(watched_.size());
  for (const auto& [process, fd] : watched_) all.emplace_back(fd.get(), process);
  return all;
}

}  // namespace carillon::executor
