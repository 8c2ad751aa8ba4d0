// The working directory of one attempt: empty, 0700, the executor's own, gone afterwards.
//
// Place    Used by the keeper, before its command begins and after its tree is dead.
// Threads  Stateless.
// Errors   Take: false, in errno why.
//
// Making and removing a directory can cost more than everything else about
// a short process (a journal, or ext4 without one, which passes over every
// inode that was deleted within five seconds). So one that its attempt
// left untouched is renamed to `spare`, and again for the next attempt.
#pragma once

#include <sys/stat.h>

#include <string>

namespace carillon::executor {

class WorkDirectory {
 public:
  struct Place {
    std::string path;
    std::string spare = {};  // nobody else's meanwhile; empty: none
  };
  explicit WorkDirectory(const Place& place) : place_(place) {}

  // A remainder at its path goes first.
  bool Take();
  // To the spare when it is as good as new, else deleted with all in it. No process of the attempt
  // lives any more.
  void GiveBack();

 private:
  bool Untouched() const;

  const Place& place_;
  struct stat taken_ {};
};

// Deletes a directory and all in it, without following links, also what was made unwritable.
void RemoveTree(const std::string& path);

}  // namespace carillon::executor
