#include "common/domain/isolation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/ascii.h"
#include "common/domain/enum_names.h"
#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr std::array<NameOf<Enforce>, 2> kEnforces{
    {{Enforce::kRequired, "required"}, {Enforce::kBestEffort, "best_effort"}}};

// Limits that not every host can enforce.
struct Optional {
  std::string_view name;
  bool (*is_set)(const Limits& limits);
  Feature feature;
};
constexpr std::array<Optional, 3> kOptional{
    {{"memory_mb", [](const Limits& limits) { return limits.memory_mb != 0; },
      Feature::kMemoryLimit},
     {"cpu", [](const Limits& limits) { return limits.cpu != 0; }, Feature::kCpuLimit},
     {"pids", [](const Limits& limits) { return limits.pids != 0; }, Feature::kPidsLimit}}};

constexpr double kCpuMin = 0.01;
constexpr double kCpuMax = 1024;

Status CheckRange(std::string_view field, int64_t value, int64_t least, int64_t most) {
  if (value == 0 || (value >= least && value <= most)) return {};
  return Error{ErrorCode::kInvalid,
               fmt::format("{} is {}; it must be from {} to {}, or 0 for no limit", field, value,
                           least, most),
               fmt::format("/limits/{}", field)};
}

}  // namespace

std::string_view Name(Enforce value) { return NameIn(kEnforces, value); }
template <>
Result<Enforce> ParseName(std::string_view text) {
  return ValueIn(kEnforces, text);
}

bool LimitsAnything(const Limits& limits) {
  return limits.memory_mb != 0 || limits.cpu != 0 || limits.pids != 0 || limits.open_files != 0 ||
         limits.file_size_mb != 0;
}

Features NeedsOf(const Limits& limits) {
  Features needs{Feature::kLimits};
  if (limits.enforce == Enforce::kBestEffort) return needs;
  for (const Optional& one : kOptional) {
    if (one.is_set(limits)) needs.Add(one.feature);
  }
  return needs;
}

std::vector<std::string> NotEnforced(const Limits& limits, Features host) {
  std::vector<std::string> names;
  for (const Optional& one : kOptional) {
    if (one.is_set(limits) && !host.Has(one.feature)) names.emplace_back(one.name);
  }
  return names;
}

bool IsLimitName(std::string_view text) {
  return std::any_of(kOptional.begin(), kOptional.end(),
                     [text](const Optional& one) { return one.name == text; });
}

Status CheckLimits(const Limits& limits) {
  CARILLON_TRY(CheckRange("memory_mb", limits.memory_mb, 4, 16'777'216));
  if (limits.cpu != 0 && !(limits.cpu >= kCpuMin && limits.cpu <= kCpuMax)) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("cpu is {}; it must be from {} to {}, or 0 for no limit", limits.cpu,
                             kCpuMin, kCpuMax),
                 "/limits/cpu"};
  }
  CARILLON_TRY(CheckRange("pids", limits.pids, 1, 4'194'304));
  CARILLON_TRY(CheckRange("open_files", limits.open_files, 16, 1'048'576));
  return CheckRange("file_size_mb", limits.file_size_mb, 1, 16'777'216);
}

bool IsUserName(std::string_view text) {
  constexpr size_t kBytesMax = 32;
  return !text.empty() && text.size() <= kBytesMax &&
         (IsLetter(text.front()) || text.front() == '_') &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return IsLetter(c) || IsDigit(c) || c == '_' || c == '.' || c == '-';
         });
}

std::string WorkingDirectoryFault(std::string_view directory) {
  constexpr size_t kBytesMax = 4'096;
  std::string fault = TextFault(directory, kBytesMax);
  if (!fault.empty()) return fault;
  if (std::any_of(directory.begin(), directory.end(), IsControl))
    return "contains a control character";
  if (directory.find("{{") != std::string_view::npos)
    return "cannot have placeholders; use cd in the command";
  if (directory == "~" || directory.starts_with("~/") || directory.starts_with('/')) return "";
  return "must be an absolute path, or begin with ~/ (the home directory of the user); ~ alone is "
         "that directory itself";
}

Result<std::string> PathOfWorkingDirectory(std::string_view directory, std::string_view home) {
  if (!directory.starts_with('~')) return std::string(directory);
  if (home.empty()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("could not enter its working directory {}: the process has no HOME; "
                             "its user has no entry in the user database of the host, or the job "
                             "sets an empty HOME",
                             directory)};
  }
  if (!home.starts_with('/')) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("could not enter its working directory {}: HOME is no absolute path",
                             directory)};
  }
  return std::string(home).append(directory.substr(1));
}

}  // namespace carillon
