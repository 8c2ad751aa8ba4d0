// Jobs as people edit them. Any member calls these; writes lock the job's row and move its version.
//
// Threads  Thread-safe; blocking.
// Errors   kNotFound: no such job, or deleted. kConflict: the version is not the expected one.
//          kExists: the job_id is taken (also by a deleted job). kTimeout: outcome unknown; the
//          caller reads again before it answers. kCorrupt: the job's definition cannot be read;
//          it can still be replaced, deleted and its runs cancelled. ListJobs leaves it out.
// Always   When a write has returned, every later claim obeys it (P8).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/job.h"
#include "common/domain/misfire.h"
#include "common/domain/run.h"
#include "common/domain/run_state.h"

namespace carillon {

struct StoredSchedule {
  ScheduleId schedule_id;
  ScheduleSpec spec;
};

struct StoredJob {
  JobNo job_no;
  JobId job_id;
  SegmentId segment;
  int64_t version = 1;
  JobDefinition definition;               // `enabled` mirrors the state
  std::vector<StoredSchedule> schedules;  // in the definition's order
  std::string pause_reason;               // of the last pause; empty when enabled
  WallTime created;
  WallTime updated;
};

struct NewJob {
  JobId job_id;
  JobDefinition definition;
};
using NewJobs = std::vector<NewJob>;
using StoredJobs = std::vector<StoredJob>;
// In one call of CreateJobs.
inline constexpr size_t kJobsCreatedMax = 100;

// Jobs to look up in one go, by either.
struct JobKeys {
  std::vector<JobId> ids = {};
  std::vector<std::pair<std::string, std::string>> names = {};  // namespace, name
};
// Of one look-up; more than two jobs for each name of a full list.
inline constexpr size_t kJobsFoundMax = 400;

struct FoundJobs {
  std::vector<StoredJob> jobs = {};  // live and readable, by number
  std::set<JobId> taken = {};        // of the ids: those of any job, also a deleted one
};

// What is known of a job also when its definition cannot be read, or it was deleted.
struct JobHead {
  JobNo job_no;
  SegmentId segment;
  int64_t version = 1;
  std::string user_id;
  std::string name_space;
  bool enabled = true;
  bool deleted = false;
};

// What a job was after one of its changes.
struct JobVersion {
  int64_t version = 1;
  std::string actor = {};  // who made it
  WallTime created = {};
  std::optional<JobDefinition> definition = {};  // nullopt: cannot be read
};

// When a version counts as made. Members' clocks differ, but the versions of a job and its
// update_time ascend: a member whose clock is behind goes on right after the version before.
inline WallTime TimeOfNextVersion(WallTime previous, WallTime now) {
  return std::max(now, previous + Duration(1));
}

enum class JobOrder { kJobId, kName, kCreated, kUpdated };

// A job's place in a list: its id and, by the list's order, its name or time, as they were then.
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

struct JobFilter {
  std::optional<bool> enabled = {};
  std::optional<std::string> user_id = {};
  std::vector<std::string> namespaces = {};  // one of these; none = any
  std::string name = {};                     // exactly; empty = any
  std::string name_contains = {};            // in name or job_id, case-insensitive
  JobOrder order = JobOrder::kJobId;         // then by job_id
  bool descending = false;                   // the job_id as well
  std::optional<JobListPlace> after = {};    // cursor: strictly after this place
  size_t limit = 50;
  // What no index finds is looked for in at most about this many jobs; see JobPage.
  size_t search_max = kJobSearchMax;

  // Whether jobs have to be looked at one by one, since no index has those of the filter in its
  // order. By an exact name they are found, and sorted.
  bool searches() const {
    if (!name.empty()) return false;
    if (enabled || user_id || !name_contains.empty() || namespaces.size() > 1) return true;
    return !namespaces.empty() && (order == JobOrder::kCreated || order == JobOrder::kUpdated);
  }
};

struct JobPage {
  std::vector<StoredJob> jobs;
  // The search ended here although the page is not full: what comes behind was not looked at.
  std::optional<JobListPlace> searched_to = {};
};

// Where the list goes on after the page; nullopt = nowhere.
inline std::optional<JobListPlace> PlaceAfter(const JobPage& page, const JobFilter& filter) {
  if (page.searched_to || page.jobs.size() < filter.limit) return page.searched_to;
  return PlaceOf(filter.order, page.jobs.back());
}

// How many runs came to a final state.
using EndedRuns = std::map<RunState, int64_t>;

struct WriteContext {
  WallTime now;             // cluster time
  std::string actor = {};   // who, for the version's record
  std::string reason = {};  // why, in the person's words; empty = not said
  // That a run whose process may still run (run_state.h) is dead, or does no harm beside others.
  bool confirm_overlap = false;
  CancelMode cancel_mode = CancelMode::kGraceful;  // of a cancel
  // Where it is not null: set to what the write itself ended, when it was done.
  EndedRuns* ended = nullptr;

  Overlap overlap() const { return confirm_overlap ? Overlap::kConfirmed : Overlap::kUnconfirmed; }
};

class JobStore {
 public:
  virtual ~JobStore() = default;

  // The definition is already validated. First fires are strictly after `now`. The new schedules of
  // an enabled job are visible to ScanDue when this returns.
  virtual Result<StoredJob> CreateJob(const JobId& id, const JobDefinition& definition,
                                      const WriteContext& context) = 0;
  // At most kJobsCreatedMax at once, all of them or none. In their order. kExists: the id of one is
  // taken, or there twice.
  virtual Result<StoredJobs> CreateJobs(const NewJobs& jobs, const WriteContext& context) = 0;
  virtual Result<StoredJob> GetJob(const JobId& id) = 0;
  // kExhausted: over kJobsFoundMax jobs have those ids and names.
  virtual Result<FoundJobs> FindJobs(const JobKeys& keys) = 0;
  // Also of a deleted job, whose runs are still somebody's; never kCorrupt.
  virtual Result<JobHead> GetJobHead(const JobId& id) = 0;
  virtual Result<JobPage> ListJobs(const JobFilter& filter) = 0;
  // The namespaces that have a job, strictly after the cursor, by name.
  virtual Result<std::vector<std::string>> ListNamespaces(const std::string& after,
                                                          size_t limit) = 0;
  // Those below `before`, newest first; old ones are deleted after a while (DeleteExpired).
  virtual Result<std::vector<JobVersion>> ListVersions(const JobId& id, int64_t before,
                                                       size_t limit) = 0;

  // A schedule that fires alike in both definitions (FiresAlike) keeps its id and place; the others
  // are removed or added (first fire strictly after now). Unclaimed runs change as
  // DecidePendingEffect says. definition.enabled = false also pauses, true also resumes.
  virtual Result<StoredJob> ReplaceJob(const JobId& id, int64_t expected_version,
                                       const JobDefinition& definition,
                                       const WriteContext& context) = 0;

  // Idempotent. Pausing unplans future runs; resuming records what was missed as one gap a schedule
  // (reason paused) and goes on strictly after now. No version is expected; the version moves. Of a
  // paused job another reason, if it says anything, takes the place of the old one.
  virtual Result<StoredJob> PauseJob(const JobId& id, const std::string& reason,
                                     const WriteContext& context) = 0;
  virtual Result<StoredJob> ResumeJob(const JobId& id, const std::string& reason,
                                      const WriteContext& context) = 0;

  // Its runs and history stay; running attempts finish.
  virtual Status DeleteJob(const JobId& id, int64_t expected_version,
                           const WriteContext& context) = 0;
};

}  // namespace carillon
