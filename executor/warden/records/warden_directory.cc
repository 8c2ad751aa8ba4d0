#include "executor/warden/records/warden_directory.h"

#include <sys/stat.h>

#include <string_view>

#include <fmt/format.h>

#include "executor/warden/process/process_tree.h"

namespace carillon::executor {
namespace {

constexpr std::string_view kFlag = "--directory";

// Returns the argument after kFlag in a NUL-separated command line.
std::string DirectoryIn(std::string_view command_line) {
  bool named = false;
  while (!command_line.empty()) {
    const size_t end = command_line.find('\0');
    const std::string_view argument = command_line.substr(0, end);
    if (named) return std::string(argument);
    named = argument == kFlag;
    if (end == std::string_view::npos) break;
    command_line.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace

WardenDirectory WardenDirectoryOf(pid_t pid) {
  WardenDirectory directory{.path = DirectoryIn(ReadCommandLine(pid))};
  if (directory.path.empty()) return directory;
  // The path as that process sees it, because the process may be in another container.
  const bool absolute = directory.path.front() == '/';
  const std::string seen =
      fmt::format("/proc/{}/{}/{}", pid, absolute ? "root" : "cwd", directory.path);
  struct stat info {};
  if (stat(seen.c_str(), &info) != 0) return directory;
  directory.device = info.st_dev;
  directory.inode = info.st_ino;
  return directory;
}

bool WardenDirectory::Same(const WardenDirectory& other) const {
  if (path.empty() || other.path.empty()) return false;
  if (inode != 0 && other.inode != 0) return device == other.device && inode == other.inode;
  return path == other.path;
}

}  // namespace carillon::executor
