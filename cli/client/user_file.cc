#include "cli/client/user_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace carillon::cli {
namespace {

bool WriteAll(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<size_t>(wrote);
  }
  return fsync(file) == 0;
}

}  // namespace

std::string UserDirectory(const std::map<std::string, std::string>& environment) {
  const auto named = environment.find("XDG_CONFIG_HOME");
  if (named != environment.end() && !named->second.empty()) return named->second + "/carillon";
  const auto home = environment.find("HOME");
  if (home != environment.end() && !home->second.empty()) return home->second + "/.config/carillon";
  return {};
}

Status MakeUserDirectory(const std::string& directory) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(directory).parent_path(), failed);
  if (mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return {ErrorCode::kUnavailable, "cannot create " + directory};
}

Status ReplaceUserFile(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  unlink(fresh.c_str());
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return {ErrorCode::kUnavailable, "cannot write " + fresh};
  const bool written = WriteAll(file, text);
  close(file);
  if (written && rename(fresh.c_str(), path.c_str()) == 0) return {};
  unlink(fresh.c_str());
  return {ErrorCode::kUnavailable, "cannot write " + path};
}

}  // namespace carillon::cli
