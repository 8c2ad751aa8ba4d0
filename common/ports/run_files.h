// Port of the files in which attempts leave their progress and their checkpoints, in one directory
// of the executor's host. A process may have put anything in their place.
//
// Threads  One loop calls it. Calls wait for the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/domain/run/run.h"

namespace carillon {

enum class RunFileKind { kProgress, kCheckpoint };

// A file of one attempt, by name.
struct RunFile {
  RunKey key;
  int attempt = 1;
  RunFileKind kind = RunFileKind::kProgress;

  auto operator<=>(const RunFile&) const = default;
};

// The identity of a content: equal marks mean that a file did not change.
struct RunFileMark {
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t changed_ns = 0;

  bool operator==(const RunFileMark&) const = default;
};

class RunFiles {
 public:
  virtual ~RunFiles() = default;
  // The absolute path of a file, for the environment of its process.
  virtual std::string PathOf(const RunFile& file) const = 0;

  struct Found {
    std::string name;
    std::optional<std::pair<RunKey, int>> attempt = {};  // nullopt: the name tells no attempt
    std::optional<RunFileKind> kind = {};                // nullopt: a file that was written beside
  };
  // The next names, at most `max`: it continues where the last call ended, and fewer than `max` are
  // the last ones. Processes may leave any number of names, so no call sees them all.
  virtual Result<std::vector<Found>> ListNext(size_t max) = 0;
  // nullopt: there is no such file.
  virtual std::optional<RunFileMark> Look(const RunFile& file) = 0;
  struct Content {
    std::string bytes;
    RunFileMark mark;
  };
  // nullopt: there is no file. kInvalid, with what is wrong: it is no regular file, of another
  // user, or larger than its kind may be. kConflict: it changes at this moment. kUnavailable: the
  // disk says no.
  virtual Result<std::optional<Content>> Read(const RunFile& file) = 0;
  // Writes the file beside and renames it, so that its process never sees a part of it.
  virtual Status Write(const RunFile& file, const std::string& bytes) = 0;
  // Succeeds if there is no such file.
  virtual Status Remove(const std::string& name) = 0;
};

}  // namespace carillon
