// The directory in which a warden or one of its keepers works, as the process's command line says.
//
// A keeper is a fork of its warden and has the same command line. The next warden may have another
// command line (another version, another path to the same directory). It is still responsible for
// that keeper.
//
// Threads  Stateless.
// Errors   A process that vanishes while it is read, or that is no warden, has no directory.
#pragma once

#include <sys/types.h>

#include <string>

namespace carillon::executor {

struct WardenDirectory {
  std::string path;  // the path in the command line; empty: none
  dev_t device = 0;
  ino_t inode = 0;  // 0: the directory could not be examined

  bool Same(const WardenDirectory& other) const;
};

WardenDirectory WardenDirectoryOf(pid_t pid);

}  // namespace carillon::executor
