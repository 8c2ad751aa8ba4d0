// The directories of an attempt that runs as another user than the warden, who is root:
//
//   PATH          root's; others may only pass through it
//   PATH/work     the user's: the working directory
//   PATH/outputs  the user's: the file of outputs
//   PATH/script…  the user's, written by the keeper
//
// They lie outside the executor's own directory, which no other user can enter.
//
// Place    Used by the keeper, before its command begins and after its tree is dead.
// Threads  Stateless, but for the identity with which the calling thread uses files (FileIdentity).
#pragma once

#include <sys/types.h>

#include <string>

namespace carillon::executor {

// Creates them. A remainder is deleted. False, with the reason in errno.
bool MakeUserDirectory(const std::string& path, uid_t uid, gid_t gid);
std::string WorkDirectoryIn(const std::string& path);
std::string OutputFileIn(const std::string& path);
std::string ScriptFileIn(const std::string& path);  // without suffix

// Creates the directory below which the directories of attempts lie, if it is missing. False, with
// the reason in errno: also if somebody else could put something in the place of an attempt's
// directory.
bool MakeRunDirectory(const std::string& path);

// While it lives, the calling thread uses files with the permissions of the user, and not those of
// root: what the user has put there may lead to files of others.
class FileIdentity {
 public:
  FileIdentity(uid_t uid, gid_t gid);
  ~FileIdentity();
  FileIdentity(const FileIdentity&) = delete;
  FileIdentity& operator=(const FileIdentity&) = delete;
};

}  // namespace carillon::executor
