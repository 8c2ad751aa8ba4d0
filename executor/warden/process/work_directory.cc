#include "executor/warden/process/work_directory.h"

#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace carillon::executor {

bool WorkDirectory::Take() {
  const char* const path = place_.path.c_str();
  const bool again = !place_.spare.empty() && rename(place_.spare.c_str(), path) == 0;
  if (!again && mkdir(path, 0700) != 0) {
    if (errno != EEXIST) return false;
    RemoveTree(place_.path);
    if (mkdir(path, 0700) != 0) return false;
  }
  return lstat(path, &taken_) == 0;
}

void WorkDirectory::GiveBack() {
  if (Untouched() && rename(place_.path.c_str(), place_.spare.c_str()) == 0) return;
  RemoveTree(place_.path);
}

// True if the directory is as good as new: empty, with the attributes of a new one. The size is one
// of these attributes, because a directory that once held many entries stays large and slow.
bool WorkDirectory::Untouched() const {
  struct stat now {};
  if (place_.spare.empty() || lstat(place_.path.c_str(), &now) != 0) return false;
  const bool same = now.st_dev == taken_.st_dev && now.st_ino == taken_.st_ino &&
                    now.st_mode == taken_.st_mode && now.st_uid == taken_.st_uid &&
                    now.st_gid == taken_.st_gid && now.st_size == taken_.st_size;
  if (!same || llistxattr(place_.path.c_str(), nullptr, 0) > 0) return false;
  std::error_code error;
  return std::filesystem::is_empty(place_.path, error) && !error;
}

void RemoveTree(const std::string& path) {
  if (rmdir(path.c_str()) == 0 || errno == ENOENT) return;  // most runs leave it empty
  namespace fs = std::filesystem;
  std::error_code error;
  fs::remove_all(path, error);
  // No permissions stop root, and a process that shares the directory could lead a change of
  // them astray.
  if (!error || geteuid() == 0) return;
  // Some directory was made unwritable: restore the permissions, then try once more.
  fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, error);
  for (auto it = fs::recursive_directory_iterator(path, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) {
      fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
    }
  }
  fs::remove_all(path, error);
}

}  // namespace carillon::executor
