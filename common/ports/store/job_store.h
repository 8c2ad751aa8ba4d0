// Port of jobs as users edit them. Any member calls it. Writes lock a job and raise its version.
//
// Threads  Thread-safe; blocking.
// Errors   kNotFound: no such job, or deleted. kConflict: the version is not the expected one.
//          kExists: the job_id is taken (a deleted job keeps its id). kTimeout: outcome unknown;
//          the caller reads again before it answers. kCorrupt: the job's definition is unreadable.
//          It can still be replaced or deleted, and its runs cancelled. ListJobs leaves it out,
//          unless asked. kInvalid with a code of dependents.h: a write names an upstream job that
//          is not there (it must exist before the call), or that waits for this one.
// Always   Every claim after the return of a write obeys that write (P8).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/job/job.h"
#include "common/domain/job/misfire.h"
#include "common/domain/job/unreadable.h"
#include "common/domain/nodes/approval.h"
#include "common/domain/run/run.h"
#include "common/domain/run/run_state.h"
#include "common/ports/store/bounded_count.h"

namespace carillon {

struct StoredSchedule {
  ScheduleId schedule_id;
  ScheduleSpec spec;
};

// A job: its definition, and the properties that the store adds.
struct StoredJob {
  JobNo job_no;
  JobId job_id;
  SegmentId segment;
  int64_t version = 1;
  JobDefinition definition;               // `enabled` mirrors the state
  std::vector<StoredSchedule> schedules;  // in the definition's order
  std::string pause_reason;               // reason of the last pause; empty if enabled
  WallTime created, updated;
  std::string problem = {};  // UnreadableSentence, as GetJob says it; then only what JobHead has
  bool paused_by_failures = false;  // by StreakStore, and no person has paused it since
};

struct NewJob {
  JobId job_id;
  JobDefinition definition;
};
using NewJobs = std::vector<NewJob>;
using StoredJobs = std::vector<StoredJob>;
// Limit of one call of CreateJobs.
inline constexpr size_t kJobsCreatedMax = 100;

// Jobs to find in one query, by id or by name.
struct JobKeys {
  std::vector<JobId> ids = {};
  std::vector<std::pair<std::string, std::string>> names = {};  // namespace, name
};
// Limit of one query. Well above kJobsCreatedMax, because several jobs may have the same name.
inline constexpr size_t kJobsFoundMax = 400;

struct FoundJobs {
  std::vector<StoredJob> jobs = {};  // not deleted and readable, by number
  std::set<JobId> taken = {};        // requested ids that any job has, even a deleted one
};

// The properties that are known even if the job is deleted or its definition is unreadable.
struct JobHead {
  JobNo job_no;
  SegmentId segment;
  int64_t version = 1;
  std::string user_id;
  std::string name_space;
  bool enabled = true;
  bool deleted = false;
  std::string name = {};
  JobType type = JobType::kShell;  // also if this version does not know it
  std::string pause_reason = {};
  WallTime created = {}, updated = {};
};

// A job after one of its changes.
struct JobVersion {
  int64_t version = 1;
  std::string actor = {};  // author of the change
  WallTime created = {};
  std::optional<JobDefinition> definition = {};  // nullopt: unreadable
};

// The creation time of a version. Members' clocks differ, but the creation times of a job's
// versions and the job's update_time must ascend. So a member whose clock is behind uses the
// microsecond after the previous version.
inline WallTime TimeOfNextVersion(WallTime previous, WallTime now) {
  return std::max(now, previous + Duration(1));
}

enum class JobOrder { kJobId, kName, kCreated, kUpdated };

// A job's position in a list: its id and the sort key of the list's order, as they were
// on that page.
struct JobListPlace {
  std::string job_id;
  std::string name = {};
  WallTime time = {};
};

inline JobListPlace PlaceOf(JobOrder order, const StoredJob& job) {
  return {.job_id = job.job_id.value(),
          .name = job.definition.name,
          .time = order == JobOrder::kCreated ? job.created : job.updated};
}

inline constexpr size_t kJobSearchMax = 100'000;

// Selects and sorts jobs; all conditions must hold.
struct JobFilter {
  std::optional<bool> enabled = {};
  bool paused_by_failures = false;  // only such jobs
  std::optional<std::string> user_id = {};
  std::vector<std::string> namespaces = {};  // one of these; none = any
  std::string name = {};                     // exact; empty = any
  std::string name_contains = {};            // in name or job_id, case-insensitive
  std::optional<JobType> type = {};
  JobOrder order = JobOrder::kJobId;       // jobs with equal keys are sorted by job_id
  bool descending = false;                 // also applies to job_id
  std::optional<JobListPlace> after = {};  // cursor: strictly after this place
  size_t limit = 50;
  bool unreadable = false;  // with jobs that have a StoredJob::problem
  // Bounds a search without an index to about this many jobs; see JobPage.
  size_t search_max = kJobSearchMax;

  // True if jobs must be examined one by one, because no index covers the filter in this order.
  // With an exact name it is false: its few matches are sorted.
  bool searches() const {
    if (!name.empty()) return false;
    const bool by_name = !name_contains.empty() || namespaces.size() > 1;
    if (by_name || enabled || paused_by_failures || type || user_id) return true;
    return !namespaces.empty() && (order == JobOrder::kCreated || order == JobOrder::kUpdated);
  }
};

struct JobPage {
  std::vector<StoredJob> jobs;
  // The search stopped here before the page was full; later jobs were not examined.
  std::optional<JobListPlace> searched_to = {};
};

// Where the list continues after the page; nullopt if there is no more.
inline std::optional<JobListPlace> PlaceAfter(const JobPage& page, const JobFilter& filter) {
  if (page.searched_to || page.jobs.size() < filter.limit) return page.searched_to;
  return PlaceOf(filter.order, page.jobs.back());
}

// The later job has a schedule that names the earlier one, a node that runs it, or runs that wait.
enum class DependencyKind { kAfter, kNode, kWaits };
constexpr std::string_view Name(DependencyKind kind) {
  return std::array{"after", "node", "waits"}.at(static_cast<size_t>(kind));
}
struct JobDependency {
  JobId job_id = {};
  std::string job_name = {};
  DependencyKind kind = DependencyKind::kAfter;
  AfterOutcome on = AfterOutcome::kSuccess;  // of kAfter and kWaits
  bool deleted = false;

  bool operator==(const JobDependency&) const = default;
};
// Both lists by job_id; a job is in one as often as schedules say so.
struct JobDependencies {
  std::vector<JobDependency> upstream = {};    // those for whose ends it waits
  std::vector<JobDependency> downstream = {};  // those that wait for its ends; never deleted ones
};

// The number of runs that reached a final state, by state.
using EndedRuns = std::map<RunState, int64_t>;

// The author and circumstances of a write.
struct WriteContext {
  WallTime now;                  // cluster time
  std::string actor = {};        // author, for the version's record
  std::string reason = {};       // given by the user; empty = none
  bool confirm_overlap = false;  // the process of the run is dead, or may run beside another
  CancelMode cancel_mode = CancelMode::kGraceful;  // only for cancels
  bool give_up = false;        // only for cancels: of a handler, whose function may go on
  Decider decider = {};        // who decides, skips or retries (approval.h)
  bool force = false;          // only for deletes: although other jobs wait for the job
  bool keep_zones = false;     // edits: runs keep the zone of their fire, once all members know it
  EndedRuns* ended = nullptr;  // not null: receives the runs that the write itself ended

  Overlap overlap() const { return confirm_overlap ? Overlap::kConfirmed : Overlap::kUnconfirmed; }
};

class JobStore {
 public:
  virtual ~JobStore() = default;

  // The definition must be valid. The first fires are strictly after `now`. If the job is enabled,
  // ScanDue finds its schedules as soon as this call has returned.
  virtual Result<StoredJob> CreateJob(const JobId& id, const JobDefinition& definition,
                                      const WriteContext& context) = 0;
  // At most kJobsCreatedMax, all or none, in the same order. kExists: an id is taken or repeated.
  virtual Result<StoredJobs> CreateJobs(const NewJobs& jobs, const WriteContext& context) = 0;
  virtual Result<StoredJob> GetJob(const JobId& id) = 0;
  // kExhausted: more than kJobsFoundMax jobs have these ids and names.
  virtual Result<FoundJobs> FindJobs(const JobKeys& keys) = 0;
  // Also returns deleted jobs, because their runs still have an owner. Never kCorrupt.
  virtual Result<JobHead> GetJobHead(const JobId& id) = 0;
  virtual Result<JobPage> ListJobs(const JobFilter& filter) = 0;
  virtual Result<BoundedCount> CountJobs(const JobFilter& filter) = 0;
  // Namespaces with at least one job, strictly after the cursor, by name.
  virtual Result<std::vector<std::string>> ListNamespaces(const std::string& after,
                                                          size_t limit) = 0;
  virtual Result<BoundedCount> CountVersions(const JobId& id) = 0;
  virtual Result<BoundedCount> CountNamespaces() = 0;
  // Versions below `before`, newest first. Housekeeping::Maintain deletes old versions.
  virtual Result<std::vector<JobVersion>> ListVersions(const JobId& id, int64_t before,
                                                       size_t limit) = 0;

  // A schedule that fires alike in both definitions (FiresAlike, ContinuedSchedules) keeps its id.
  // Other schedules are removed or added. The first fire of an added schedule is strictly after
  // now. Unclaimed runs change as DecidePendingEffect says. definition.enabled = false also pauses
  // the job, true also resumes it.
  virtual Result<StoredJob> ReplaceJob(const JobId& id, int64_t expected_version,
                                       const JobDefinition& definition,
                                       const WriteContext& context) = 0;

  // PauseJob and ResumeJob are idempotent. Pausing removes planned future runs. Resuming records
  // missed fires as one gap per schedule (reason paused), and continues strictly after now. No
  // version is expected; the version increases. Pausing a paused job replaces the reason, unless
  // the new reason is empty.
  virtual Result<StoredJob> PauseJob(const JobId& id, const std::string& reason,
                                     const WriteContext& context) = 0;
  virtual Result<StoredJob> ResumeJob(const JobId& id, const std::string& reason,
                                      const WriteContext& context) = 0;

  // kNotFound: no such job, or deleted.
  virtual Result<JobDependencies> ListDependencies(const JobId& id) = 0;

  // Runs and history are kept; running attempts finish. kExists: other jobs wait for its ends, and
  // context.force is not set.
  virtual Status DeleteJob(const JobId& id, int64_t expected_version,
                           const WriteContext& context) = 0;
};

}  // namespace carillon
