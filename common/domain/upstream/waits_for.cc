#include "common/domain/upstream/waits_for.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/domain/enum_names.h"
#include "common/domain/job/job.h"
#include "common/domain/run/dependents.h"

namespace carillon {
namespace {

constexpr std::array<NameOf<WaitWhich>, 2> kWaitWhichNames{
    {{WaitWhich::kLast, "last"}, {WaitWhich::kAll, "all"}}};

Error RefusedWait(std::string pointer, std::string why) {
  return {ErrorCode::kInvalid, std::move(why), std::move(pointer)};
}

Status CheckWaitNumber(std::string pointer, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return {};
  return RefusedWait(std::move(pointer),
                     fmt::format("is {}; it must be from {} to {}", value, least, most));
}

Status CheckWaitJob(std::string pointer, const JobId& job) {
  if (ValidateJobId(job.value()).ok()) return {};
  return RefusedWait(std::move(pointer),
                     "must be the job_id of another job: 1 to 63 of a-z, 0-9, '-' and '_', the "
                     "first a letter or a digit");
}

Status CheckWindow(const std::string& at, const WaitWindow& window) {
  if (window.day) {
    if (window.back_s != 0 || window.ahead_s != 0) {
      return RefusedWait(at, "has either day, or back_s and ahead_s");
    }
    return CheckWaitNumber(at + "/day", *window.day, -kWaitDaysBackMax, 0);
  }
  CARILLON_TRY(CheckWaitNumber(at + "/back_s", window.back_s, 0, kWaitBackMaxS));
  CARILLON_TRY(CheckWaitNumber(at + "/ahead_s", window.ahead_s, 0, kWaitAheadMaxS));
  if (window.back_s != 0 || window.ahead_s != 0) return {};
  return RefusedWait(at, "needs a day, or back_s or ahead_s of at least 1");
}

Status CheckWait(const std::string& at, const UpstreamWait& wait) {
  CARILLON_TRY(CheckWaitJob(at + "/job", wait.job));
  if (!wait.in.empty()) CARILLON_TRY(CheckWaitJob(at + "/in", wait.in));
  if (wait.in == wait.job) {
    return RefusedWait(at + "/in", "must be a workflow that runs the job as a node");
  }
  if (wait.on == AfterOutcome::kFailure) {
    return RefusedWait(at + "/on", "must be success or done");
  }
  return CheckWindow(at + "/window", wait.window);
}

}  // namespace

bool WaitsForOthers(const JobDefinition& job) { return !job.waits_for.empty(); }

uint32_t FlagsOfSchedule(const JobDefinition& job, bool has_dependents) {
  return EndFlags(RunKind::kCron, 0, has_dependents) | (WaitsForOthers(job) ? run_flag::kWaits : 0);
}

Status ValidateWaits(const JobDefinition& job) {
  const auto& waits = job.waits_for;
  if (waits.empty()) {
    if (job.wait_limit_s == 0) return {};
    return RefusedWait("/wait_limit_s", "has no effect without waits_for; omit it");
  }
  if (waits.size() > kWaitsMax) {
    return RefusedWait("/waits_for", fmt::format("has {} entries; at most {} are allowed",
                                                 waits.size(), kWaitsMax));
  }
  for (size_t i = 0; i < waits.size(); ++i) {
    const std::string at = fmt::format("/waits_for/{}", i);
    CARILLON_TRY(CheckWait(at, waits[i]));
    const auto same = std::find(waits.begin(), waits.begin() + static_cast<ptrdiff_t>(i), waits[i]);
    if (same - waits.begin() < static_cast<ptrdiff_t>(i)) {
      return RefusedWait(at, fmt::format("repeats entry {}", same - waits.begin()));
    }
  }
  if (job.wait_limit_s == 0) {
    return RefusedWait("/wait_limit_s", "is missing; a run that waits needs a limit");
  }
  return CheckWaitNumber("/wait_limit_s", job.wait_limit_s, kWaitLimitMinS, kWaitLimitMaxS);
}

std::vector<JobId> WaitedJobsOf(const JobDefinition& job) {
  std::set<JobId> named;
  for (const UpstreamWait& wait : job.waits_for) {
    named.insert(wait.job);
    if (!wait.in.empty()) named.insert(wait.in);
  }
  return {named.begin(), named.end()};
}

std::string_view Name(WaitWhich value) { return NameIn(kWaitWhichNames, value); }
template <>
Result<WaitWhich> ParseName(std::string_view text) {
  return ValueIn(kWaitWhichNames, text);
}

}  // namespace carillon
