#include "executor/warden/process/user_directory.h"

#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "executor/warden/process/work_directory.h"

namespace carillon::executor {
namespace {

constexpr mode_t kPassThrough = 0711;

std::string OutputsIn(const std::string& path) { return path + "/outputs"; }

bool MakeFor(const std::string& path, uid_t uid, gid_t gid) {
  return mkdir(path.c_str(), 0700) == 0 && lchown(path.c_str(), uid, gid) == 0;
}

}  // namespace

std::string WorkDirectoryIn(const std::string& path) { return path + "/work"; }
std::string OutputFileIn(const std::string& path) { return OutputsIn(path) + "/file"; }
std::string ScriptFileIn(const std::string& path) { return path + "/script"; }

bool MakeUserDirectory(const std::string& path, uid_t uid, gid_t gid) {
  RemoveTree(path);
  return mkdir(path.c_str(), kPassThrough) == 0 && chmod(path.c_str(), kPassThrough) == 0 &&
         MakeFor(WorkDirectoryIn(path), uid, gid) && MakeFor(OutputsIn(path), uid, gid);
}

bool MakeRunDirectory(const std::string& path) {
  if (mkdir(path.c_str(), kPassThrough) == 0) return chmod(path.c_str(), kPassThrough) == 0;
  if (errno != EEXIST) return false;
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return false;
  const bool safe = S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
                    (info.st_mode & 022) == 0 && (info.st_mode & 001) != 0;
  if (!safe) errno = EPERM;
  return safe;
}

FileIdentity::FileIdentity(uid_t uid, gid_t gid) {
  setfsgid(gid);
  setfsuid(uid);
}

FileIdentity::~FileIdentity() {
  setfsuid(geteuid());
  setfsgid(getegid());
}

}  // namespace carillon::executor
