// Tools for tests with real processes: scratch directories, waiting for a
// condition, running programs.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace carillon::test {

// A new directory under TMPDIR (or /tmp), which the destructor deletes with its contents.
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

// The limit of waits that a working product ends in a moment: long enough for a machine under any
// load, because a test that passes does not reach it. A shorter limit is for what must not happen,
// or for a time that is promised.
constexpr Duration kPatience = 120s;

// Calls `done` every few milliseconds until it returns true. Returns false if that takes longer
// than `deadline`.
bool WaitUntil(const std::function<bool()>& done, Duration deadline = kPatience);

// The whole file; empty if it does not exist.
std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

// True if the process exists and is not a zombie.
bool ProcessAlive(pid_t pid);
// The process ids that test commands have written to a file, one per line.
std::vector<pid_t> ReadPids(const std::string& path);

// Runs the command and waits for it. Returns its exit code, or -1 if a signal ended it or it could
// not be started.
int RunProgram(const std::vector<std::string>& command);

// Returns the path of an executable of this build, in the directory `bin` beside the tests.
std::string BuiltExecutable(const std::string& name);

}  // namespace carillon::test
