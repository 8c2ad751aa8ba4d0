// The directory that a warden, or a keeper of it, works in, as its command line names it.
//
// A keeper is a fork of its warden and has its command line. The next warden may have another one,
// of another version in another place, and still answers for the same directory.
//
// Threads  Stateless.
// Errors   Of a process that vanishes while it is read, or that is no warden: no directory.
#pragma once

#include <sys/types.h>

#include <string>

namespace carillon::executor {

struct WardenDirectory {
  std::string path;  // as its command line has it; empty: none
  dev_t device = 0;
  ino_t inode = 0;  // 0: it could not be looked at

  bool Same(const WardenDirectory& other) const;
};

WardenDirectory WardenDirectoryOf(pid_t pid);

}  // namespace carillon::executor
