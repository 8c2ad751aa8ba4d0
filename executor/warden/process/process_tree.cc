#include "executor/warden/process/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "common/domain/job_text.h"

namespace carillon::executor {
namespace {

// Scans per call of KillDescendants. The next call catches the processes of a faster fork bomb.
constexpr int kFreezeRoundsMax = 8;
constexpr size_t kProcFileBytesMax = 4u << 20;
constexpr size_t kNamesMax = 5;  // of processes in a sentence

std::string ReadProcFile(pid_t pid, const char* name) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/%s", static_cast<int>(pid), name);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string bytes;
  char buffer[4096];
  ssize_t n = 0;
  while (bytes.size() < kProcFileBytesMax && (n = read(fd, buffer, sizeof(buffer))) > 0) {
    bytes.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return bytes;
}

// Parses the content of /proc/PID/stat: "17 (name with ) in it) S 1 17 17 …".
bool ParseStat(const std::string& stat, ProcessEntry* entry) {
  const size_t open_at = stat.find('(');
  const size_t close_at = stat.rfind(')');
  if (open_at == std::string::npos || close_at == std::string::npos) return false;
  entry->name = stat.substr(open_at + 1, close_at - open_at - 1);
  int parent = 0;
  if (std::sscanf(stat.c_str() + close_at + 1, " %c %d", &entry->state, &parent) != 2) return false;
  entry->parent = parent;
  return true;
}

}  // namespace

std::vector<ProcessEntry> ReadProcesses() {
  std::vector<ProcessEntry> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
  if (directory == nullptr) return processes;
  while (const dirent* item = readdir(directory.get())) {
    if (item->d_name[0] < '0' || item->d_name[0] > '9') continue;
    ProcessEntry entry;
    entry.pid = std::atoi(item->d_name);
    if (ParseStat(ReadProcFile(entry.pid, "stat"), &entry)) processes.push_back(std::move(entry));
  }
  return processes;
}

std::vector<pid_t> DescendantsOf(pid_t root, const std::vector<ProcessEntry>& processes) {
  std::unordered_multimap<pid_t, const ProcessEntry*> children;
  for (const ProcessEntry& entry : processes) children.emplace(entry.parent, &entry);
  std::vector<pid_t> found;
  std::vector<pid_t> open_parents = {root};
  while (!open_parents.empty()) {
    const pid_t parent = open_parents.back();
    open_parents.pop_back();
    const auto [begin, end] = children.equal_range(parent);
    for (auto it = begin; it != end; ++it) {
      if (it->second->state != 'Z' && it->second->state != 'X') found.push_back(it->second->pid);
      open_parents.push_back(it->second->pid);
    }
  }
  return found;
}

std::string LeftRunningText(const std::vector<pid_t>& pids,
                            const std::vector<ProcessEntry>& processes) {
  if (pids.empty()) return {};
  std::vector<std::string> names;
  for (const pid_t pid : pids) {
    if (names.size() == kNamesMax) break;
    const auto found = std::find_if(processes.begin(), processes.end(),
                                    [pid](const ProcessEntry& entry) { return entry.pid == pid; });
    // A process chooses its name, of any bytes.
    std::string name = found == processes.end() ? "?" : found->name;
    const bool text = CountUtf8(name).has_value();
    std::replace_if(
        name.begin(), name.end(),
        [text](char c) { return IsControl(c) || (!text && static_cast<unsigned char>(c) >= 0x80); },
        '?');
    names.push_back(std::move(name));
  }
  const size_t more = pids.size() - names.size();
  return fmt::format(
      "{} still running when the command ended and {} stopped: {}{}",
      pids.size() == 1 ? "1 process was" : fmt::format("{} processes were", pids.size()),
      pids.size() == 1 ? "was" : "were", fmt::join(names, ", "),
      more == 0 ? "" : fmt::format(" and {} more", more));
}

size_t KillDescendants(pid_t root) {
  std::set<pid_t> frozen;
  for (int round = 0; round < kFreezeRoundsMax; ++round) {
    bool grew = false;
    for (const pid_t pid : DescendantsOf(root, ReadProcesses())) {
      if (!frozen.insert(pid).second) continue;
      kill(pid, SIGSTOP);
      grew = true;
    }
    if (!grew) break;
  }
  for (const pid_t pid : frozen) kill(pid, SIGKILL);
  return frozen.size();
}

std::string ReadEnvironment(pid_t pid) { return ReadProcFile(pid, "environ"); }
std::string ReadCommandLine(pid_t pid) { return ReadProcFile(pid, "cmdline"); }

bool HasVariable(std::string_view environment, std::string_view entry) {
  while (!environment.empty()) {
    const size_t end = environment.find('\0');
    if (environment.substr(0, end) == entry) return true;
    if (end == std::string_view::npos) break;
    environment.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace carillon::executor
