// The limit of open files of this process.
#pragma once

#include <cstdint>

namespace carillon::executor {

// Login shells give 1,024, which the requests of http jobs alone may need.
inline constexpr uint64_t kOpenFilesWanted = 65'536;

struct OpenFiles {
  uint64_t before = 0;  // for the programs that the process starts: some do not expect more
  uint64_t now = 0;
};
// Raises the soft limit to kOpenFilesWanted, or to the hard limit if that is less. Never lowers it.
OpenFiles RaiseOpenFiles();

}  // namespace carillon::executor
