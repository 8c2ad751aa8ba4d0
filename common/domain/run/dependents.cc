#include "common/domain/run/dependents.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/core.h>

#include "common/base/failpoint.h"
#include "common/domain/run/run_kind.h"

namespace carillon {
namespace {

constexpr std::array<std::string_view, 3> kCodes = {"unknown_job", "too_many_dependents", "cycle"};
constexpr std::string_view kCodeEnds = ": ";

Error RefusedAt(std::string_view code, std::string pointer, const std::string& sentence) {
  return {ErrorCode::kInvalid, fmt::format("{}{}{}", code, kCodeEnds, sentence),
          std::move(pointer)};
}

Error Refused(std::string_view code, size_t schedule, const std::string& sentence) {
  return RefusedAt(code, fmt::format("/schedules/{}/job", schedule), sentence);
}

// Of the first node that runs the job.
std::string NodePointerOf(const JobDefinition& definition, const JobId& job) {
  size_t at = 0;
  if (definition.workflow) {
    const auto& nodes = definition.workflow->nodes;
    while (at + 1 < nodes.size() && nodes[at].job != job) ++at;
  }
  return fmt::format("/workflow/nodes/{}/job", at);
}

std::string AwaitedPointer(size_t entry, bool in) {
  return fmt::format("/waits_for/{}/{}", entry, in ? "in" : "job");
}

std::string PathOf(const std::vector<std::string>& names) {
  std::string path;
  for (const std::string& name : names) path += (path.empty() ? "" : " -> ") + name;
  return path;
}

}  // namespace

bool Starts(AfterOutcome on, RunState state) {
  const bool success = state == RunState::kCompleted;
  const bool failure =
      state == RunState::kFailed || state == RunState::kTimedOut || state == RunState::kLost;
  switch (on) {
    case AfterOutcome::kSuccess: return success;
    case AfterOutcome::kFailure: return failure;
    case AfterOutcome::kDone: return success || failure;
  }
  return false;
}

bool IsStartedBy(const Dependent& dependent, const RunCompletion& end) {
  return end.id > dependent.since_id && Starts(dependent.on, end.state);
}

DependentPlace PlaceAfter(const RunKey& upstream, const StartedRuns& started) {
  const WallTime end = upstream.fire + Duration(kSameFireMax);
  const auto first = started.lower_bound(upstream.fire);
  for (auto at = first; at != started.end() && at->first < end; ++at) {
    if (at->second == upstream) return {.exists = true};
  }
  WallTime fire = upstream.fire;
  for (auto at = first; at != started.end() && at->first == fire && fire < end; ++at) {
    // Whichever run it was, it had this fire: a second run could start the same end twice.
    if (!at->second || failpoint::Broken("after.same_fire")) return {.exists = true};
    fire += Duration(1);
  }
  return {.fire = fire < end ? std::optional(fire) : std::nullopt};
}

DependentRun RunAfter(const RunCompletion& end, WallTime fire, const Dependent& dependent,
                      const JobRow& job, const JobId& upstream, WallTime now) {
  DependentRun run;
  // The fire may be in the future: a user can cancel a run before it is due and retry it at once.
  const WallTime due = std::max(now, fire);
  if (failpoint::Broken("after.key")) fire = due;
  run.row = {.key = {.fire = fire, .schedule_id = dependent.schedule_id},
             .job_no = job.job_no,
             .segment = job.segment,
             .kind = RunKind::kAfter,
             .due = job.waits ? kAwaiting : due,
             .priority = job.priority,
             .def_version = job.version,
             .flags = run_flag::kHasRequest | (end.by_hand ? run_flag::kByHand : 0) |
                      EndFlags(RunKind::kAfter, 0, job.has_dependents)};
  run.trigger = {.run = end.key, .job_id = upstream, .state = end.state};
  return run;
}

uint32_t EndFlags(RunKind kind, uint32_t flags, bool has_dependents) {
  if (!has_dependents || failpoint::Broken("after.no_flag")) return 0;
  return MayStartDependents(kind, flags) ? run_flag::kDependents : 0;
}

std::string ToText(const RunTrigger& trigger) {
  return fmt::format("{} {} {}", EncodeRunId(trigger.run), Name(trigger.state),
                     trigger.job_id.value());
}

std::optional<RunTrigger> TriggerFromText(std::string_view text) {
  const size_t first = text.find(' ');
  const size_t second = first == std::string_view::npos ? first : text.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto run = DecodeRunId(text.substr(0, first));
  const auto state = ParseRunState(text.substr(first + 1, second - first - 1));
  if (!run.ok() || !state.ok()) return std::nullopt;
  return RunTrigger{
      .run = *run, .job_id = JobId(std::string(text.substr(second + 1))), .state = *state};
}

std::vector<JobId> UpstreamOf(const JobDefinition& definition) {
  std::set<JobId> named;
  for (const ScheduleSpec& spec : definition.schedules) {
    if (spec.kind == ScheduleKind::kAfter) named.insert(JobId(spec.upstream));
  }
  return {named.begin(), named.end()};
}

std::vector<JobId> NodeJobsOf(const JobDefinition& definition) {
  std::set<JobId> named;
  if (definition.workflow) {
    for (const WorkflowNode& node : definition.workflow->nodes) {
      if (!RunsNoJob(node)) named.insert(node.job);
    }
  }
  return {named.begin(), named.end()};
}

Error UnknownUpstream(size_t schedule, const JobId& upstream) {
  return Refused("unknown_job", schedule, fmt::format("There is no job {}.", upstream.value()));
}

Error TooManyDependents(size_t schedule, const JobId& upstream) {
  return Refused("too_many_dependents", schedule,
                 fmt::format("{} jobs start after job {} already; more are not allowed.",
                             kDependentsMax, upstream.value()));
}

Error DependencyCycle(size_t schedule, const std::vector<std::string>& names) {
  return Refused("cycle", schedule,
                 fmt::format("The jobs would start each other without end: {}.", PathOf(names)));
}

Error UnknownNodeJob(const JobDefinition& definition, const JobId& job) {
  return RefusedAt("unknown_job", NodePointerOf(definition, job),
                   fmt::format("There is no job {}.", job.value()));
}

Error NodeCycle(const JobDefinition& definition, const JobId& job,
                const std::vector<std::string>& names) {
  return RefusedAt("cycle", NodePointerOf(definition, job),
                   fmt::format("The jobs would start each other without end: {}.", PathOf(names)));
}

Error UnknownAwaited(size_t entry, bool in, const JobId& job) {
  return RefusedAt("unknown_job", AwaitedPointer(entry, in),
                   fmt::format("There is no job {}.", job.value()));
}

Error AwaitCycle(size_t entry, bool in, const std::vector<std::string>& names) {
  return RefusedAt(
      "cycle", AwaitedPointer(entry, in),
      fmt::format("The jobs would wait for each other without end: {}.", PathOf(names)));
}

std::string_view DependencyCode(const Error& error) {
  if (error.code != ErrorCode::kInvalid) return {};
  const std::string_view text = error.message;
  for (const std::string_view code : kCodes) {
    if (text.starts_with(code) && text.substr(code.size()).starts_with(kCodeEnds)) return code;
  }
  return {};
}

std::string DependencySentence(const Error& error) {
  const std::string_view code = DependencyCode(error);
  return code.empty() ? error.message : error.message.substr(code.size() + kCodeEnds.size());
}

Result<std::vector<JobNo>> FindCycle(JobNo job, JobNo upstream, const ReadUpstream& read) {
  if (job == upstream) return std::vector<JobNo>{job, job};
  std::map<JobNo, JobNo> before;  // by job: the one that starts after it, on the way to `upstream`
  std::vector<JobNo> looked_at{upstream};
  std::set<JobNo> known{upstream};
  while (!looked_at.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const auto found, read(looked_at));
    looked_at.clear();
    for (const auto& [waiting, awaited] : found) {
      if (!known.insert(awaited).second) continue;
      before[awaited] = waiting;
      if (awaited != job) {
        looked_at.push_back(awaited);
        continue;
      }
      std::vector<JobNo> path{job};
      while (path.back() != upstream) path.push_back(before.at(path.back()));
      path.push_back(job);
      return path;
    }
  }
  return std::vector<JobNo>{};
}

}  // namespace carillon
