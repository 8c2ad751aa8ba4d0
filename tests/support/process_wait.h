// For tests with real processes: a directory of their own, and waiting for what they do.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace carillon::test {

// A new directory under TMPDIR (or /tmp), deleted with all in it at the end.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Looks every few milliseconds; false when `done` was not true within `deadline`.
bool WaitUntil(const std::function<bool()>& done, Duration deadline = 10s);

// Whole file; empty when it is not there.
std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

// Lives, and is more than a zombie.
bool ProcessAlive(pid_t pid);
// The numbers in a file, one a line: where test commands note their process ids.
std::vector<pid_t> ReadPids(const std::string& path);

// Runs it and waits; its exit code, -1 when a signal ended it or it could not be started.
int RunProgram(const std::vector<std::string>& command);

// An executable of this build, from the directory bin beside the tests.
std::string BuiltExecutable(const std::string& name);

}  // namespace carillon::test
