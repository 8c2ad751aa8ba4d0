// The working directory of one attempt: empty, mode 0700, the executor's own, removed afterwards.
//
// Place    Used by the keeper, before its command begins and after its tree is dead.
// Threads  Stateless.
// Errors   Take: false, with the reason in errno.
//
// Creating and deleting a directory can cost more than everything else that a short process does.
// Either the file system writes to its journal, or it is ext4 without a journal, which skips every
// inode deleted within the last five seconds. So a directory that its attempt left untouched is
// renamed to `spare`, and renamed back for the next attempt.
#pragma once

#include <sys/stat.h>

#include <string>

namespace carillon::executor {

class WorkDirectory {
 public:
  struct Place {
    std::string path;
    std::string spare = {};  // used by this attempt alone; empty: no spare
  };
  explicit WorkDirectory(const Place& place) : place_(place) {}

  // Creates the directory, or renames the spare to its path. A remainder at that path is deleted.
  bool Take();
  // Renames the directory to the spare if it is as good as new, else deletes it with its contents.
  // No process of the attempt may be alive.
  void GiveBack();

 private:
  bool Untouched() const;

  const Place& place_;
  struct stat taken_ {};
};

// Deletes a directory and its contents, unwritable ones too, or a file, without following links.
void RemoveTree(const std::string& path);

}  // namespace carillon::executor
