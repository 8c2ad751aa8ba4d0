// Jobs that start when a run of another job ends: which ends count, the run that they start, and
// what a definition may name. Pure.
//
// Place    The end is told by a completion (completion.h); the owner of its segment starts the
//          runs. docs/adr/0026-dependents.md.
// Always   Each run that ends starts at most one run of a dependent, also if it ends once more,
//          after a retry or a late result: the run that it started names it (RunTrigger). That run
//          has the key (fire of the run that ended, schedule, 0). If another run with that fire has
//          taken the key, it has the next free microsecond. The fire passes down a chain of jobs.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job/job.h"
#include "common/domain/run/completion.h"
#include "common/domain/run/run_state.h"

namespace carillon {

inline constexpr size_t kDependentsMax = 100;  // jobs that wait for one job

// True if an end in this final state counts. CANCELLED and SKIPPED start nothing.
bool Starts(AfterOutcome on, RunState state);

// A schedule that waits for the ends of a job.
struct Dependent {
  JobNo job_no;  // its own job
  ScheduleId schedule_id;
  AfterOutcome on = AfterOutcome::kSuccess;
  uint64_t since_id = 0;  // completions up to this id are older than the schedule

  bool operator==(const Dependent&) const = default;
};
bool IsStartedBy(const Dependent& dependent, const RunCompletion& end);

// Microseconds after a fire in which the runs of a waiting schedule are, that runs with this fire
// started: their number is limited by it.
inline constexpr int64_t kSameFireMax = 10'000;
// The runs of a waiting schedule with fires of [fire, fire + kSameFireMax), by fire: the run that
// started each. nullopt: this version cannot read which one it was.
using StartedRuns = std::map<WallTime, std::optional<RunKey>>;

struct DependentPlace {
  bool exists = false;                // the run that ended has started its run before
  std::optional<WallTime> fire = {};  // of the run to start; nullopt if there is none, or no room
};
// The place of the run that the end of `upstream` starts.
DependentPlace PlaceAfter(const RunKey& upstream, const StartedRuns& started);

struct DependentRun {
  RunRow row;
  RunTrigger trigger;
};
// The run that the end starts, with a fire of PlaceAfter. `job` is that of the dependent,
// `upstream` the id of the job that ended.
DependentRun RunAfter(const RunCompletion& end, WallTime fire, const Dependent& dependent,
                      const JobRow& job, const JobId& upstream, WallTime now);

// The flag of a run because other jobs wait for the job's ends; 0 = none.
// `flags`: those that the run has already.
uint32_t EndFlags(RunKind kind, uint32_t flags, bool has_dependents);

// One line, for the store. nullopt: this version cannot read it.
std::string ToText(const RunTrigger& trigger);
std::optional<RunTrigger> TriggerFromText(std::string_view text);

// The jobs that the definition waits for, each once.
std::vector<JobId> UpstreamOf(const JobDefinition& definition);
// The jobs that the nodes of a workflow run, each once.
std::vector<JobId> NodeJobsOf(const JobDefinition& definition);

// ---- what a definition may not name: kInvalid, with the pointer of the job in a schedule, a node
// or an entry of `waits_for`

Error UnknownUpstream(size_t schedule, const JobId& upstream);
Error TooManyDependents(size_t schedule, const JobId& upstream);
// `names` in the order in which they would run, the first one again at the end.
Error DependencyCycle(size_t schedule, const std::vector<std::string>& names);
Error UnknownNodeJob(const JobDefinition& definition, const JobId& job);
Error NodeCycle(const JobDefinition& definition, const JobId& job,
                const std::vector<std::string>& names);
// Of an entry of `waits_for`; `in`: of the workflow that it names.
Error UnknownAwaited(size_t entry, bool in, const JobId& job);
Error AwaitCycle(size_t entry, bool in, const std::vector<std::string>& names);
// "unknown_job", "too_many_dependents" or "cycle"; empty for any other error. The sentence
// without it.
std::string_view DependencyCode(const Error& error);
std::string DependencySentence(const Error& error);

// Reads the jobs for which these, or their runs, wait, by waiting job. A node's job counts as
// waiting for the workflow, because a run of the workflow leads to one of the job.
using ReadUpstream =
    std::function<Result<std::multimap<JobNo, JobNo>>(const std::vector<JobNo>& jobs)>;
// The jobs of a cycle that would arise if `job` waited for `upstream`, in the order in which they
// would run: job, …, upstream, job. Empty: there is none.
Result<std::vector<JobNo>> FindCycle(JobNo job, JobNo upstream, const ReadUpstream& read);

}  // namespace carillon
