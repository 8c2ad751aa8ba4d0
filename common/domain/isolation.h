// Isolation of the processes of a job: limits on the resources of an attempt, the user as whom it
// runs, and the directory in which it begins. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/features.h"

namespace carillon {

// kRequired: a run goes only to a host that can enforce every limit. kBestEffort: also to others,
// and its attempt says which limits were not enforced.
enum class Enforce { kRequired, kBestEffort };
std::string_view Name(Enforce value);  // "required", "best_effort"
template <typename Enum>
Result<Enum> ParseName(std::string_view text);
template <>
Result<Enforce> ParseName(std::string_view text);

// The limits of an attempt, all its processes together, except the last two: those are for each
// process. 0 = none.
struct Limits {
  int64_t memory_mb = 0;     // 4-16,777,216 MiB
  double cpu = 0;            // 0.01-1,024 CPUs
  int64_t pids = 0;          // 1-4,194,304 processes and threads
  int64_t open_files = 0;    // 16-1,048,576
  int64_t file_size_mb = 0;  // 1-16,777,216 MiB
  Enforce enforce = Enforce::kRequired;

  bool operator==(const Limits&) const = default;
};

// True if any limit is set.
bool LimitsAnything(const Limits& limits);
// The features of a host that can enforce these limits; with kBestEffort those of one that
// reads them.
Features NeedsOf(const Limits& limits);
// The fields of the limits that a host with these features does not enforce, as in REST:
// "memory_mb", …
std::vector<std::string> NotEnforced(const Limits& limits, Features host);
// True for the name of a limit that a host may be unable to enforce.
bool IsLimitName(std::string_view text);

// The first limit that is out of its range, with a pointer such as "/limits/cpu".
Status CheckLimits(const Limits& limits);

// True for a letter or _, then up to 31 letters, digits, _, . and -.
bool IsUserName(std::string_view text);

// The fault of a working directory, which is "~", "~/…" or an absolute path of at most 4,096 bytes;
// "" = none.
std::string WorkingDirectoryFault(std::string_view directory);
// The absolute path of a working directory, where ~ is `home`, the HOME of the process. kInvalid:
// there is no such home. No message shows `home`, which may contain a secret.
Result<std::string> PathOfWorkingDirectory(std::string_view directory, std::string_view home);

}  // namespace carillon
