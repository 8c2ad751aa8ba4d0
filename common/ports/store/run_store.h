// Port of runs as users see and control them. Any member calls it.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/parts/part_retry.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/run/run_state.h"
#include "common/domain/run_id.h"
#include "common/domain/workflow/workflow_retry.h"
#include "common/ports/store/bounded_count.h"
#include "common/ports/store/idempotency_store.h"
#include "common/ports/store/job_store.h"

namespace carillon {

// The identity of a new manual run.
struct CreatedRun {
  RunKey key;
  JobNo job_no;
  SegmentId segment;
};

// A request to run a job now.
struct ExecuteRequest {
  JobId job_id;
  std::string parameters_json = {};  // overrides; empty = none
  ExecutorId executor = {};          // empty = any
  std::optional<int> priority = {};
  std::string trace_id = {};  // trace.h; empty = derived from the run id
  std::optional<KeyedAnswer<CreatedRun>> keyed = {};
};

// A request for one more attempt of a run.
struct RetryRequest {
  RunKey key;
  // Of a workflow's run: which nodes. Ignored for a run without nodes.
  WorkflowRetry workflow = {};
  // Of a fire that has parts: which; nullopt = those that failed. kConflict for any other run.
  std::optional<PartChoice> parts = {};
  std::optional<KeyedAnswer<RunDetail>> keyed = {};
};

inline constexpr size_t kRunSearchMax = 50'000;

// Selects runs; all conditions must hold.
struct RunFilter {
  std::optional<JobId> job_id = {};
  std::optional<ExecutorId> executor = {};
  std::vector<RunState> states = {};         // any of; empty = all
  std::vector<RunKind> kinds = {};           // any of; empty = all
  std::vector<std::string> namespaces = {};  // any of these namespaces of the job; empty = all
  // Of the job's current version:
  std::optional<std::string> user_id = {};
  std::string name_contains = {};  // in name or job_id, case-insensitive
  // All of these labels, each with one of the values listed for it.
  std::map<std::string, std::vector<std::string>> labels = {};
  std::optional<WallTime> since = {};  // fire >= since
  std::optional<WallTime> until = {};  // fire < until
  bool parts = false;                  // the parts of fires as well
  bool awaiting = false;  // only those that wait for runs of other jobs, with fires up to now
  // Only open nodes that wait for a person, kUndecided, or for a time, kTimed (run.h). Here
  // `job_id` is that of the workflow.
  std::optional<WallTime> opened = {};
  bool oldest_first = false;
  // Cursor: strictly earlier in (fire, schedule, shard); with oldest_first, strictly later.
  std::optional<RunKey> before = {};
  size_t limit = 50;
  // Bounds a search without an index to about this many runs; see RunPage.
  size_t search_max = kRunSearchMax;

  bool looks_at_jobs() const {
    return !namespaces.empty() || user_id || !name_contains.empty() || !labels.empty();
  }
  // True if each run must be examined for more than its state, its job and its time.
  bool looks_at_runs() const { return executor || !kinds.empty() || looks_at_jobs(); }
};

struct RunPage {
  std::vector<RunDetail> runs;
  // The search stopped here before the page was full; later runs were not examined.
  std::optional<RunKey> searched_to = {};
};

inline constexpr size_t kMarkedRuns = 16;

// A run as shown in a list of many jobs.
struct RunSummary {
  RunKey key;
  RunState state = RunState::kPending;
  WallTime started = WallTime{};  // zero: not started
  WallTime ended = WallTime{};    // zero: not ended
  bool operator==(const RunSummary&) const = default;
};
struct RecentRuns {
  JobId job_id;
  std::vector<RunSummary> runs;  // newest fire first
};
struct RecentFilter {
  std::vector<JobId> job_ids;  // each job once
  size_t runs_max = 10;        // number of runs of each job
  WallTime until;              // fire <= until
};

// A range of fires of a job that never became runs.
struct GapRecord {
  ScheduleId schedule_id;
  JobId job_id;
  GapRange range;
};

struct GapFilter {
  std::optional<JobId> job_id = {};
  // Gaps that overlap [since, until); both ends of a gap are fires.
  std::optional<WallTime> since = {};
  std::optional<WallTime> until = {};
  std::vector<GapReason> reasons = {};  // any of; empty = all
  uint64_t before_id = UINT64_MAX;      // cursor, newest first
  size_t limit = 50;
};
struct GapPage {
  std::vector<GapRecord> gaps;
  std::optional<uint64_t> next;
};

struct RunCounts {
  int64_t pending = 0;  // due or not; counted up to 100,000
  int64_t running = 0;  // counted up to 100,000
};

// A run that failed with no attempt left, until a user retries or discards it.
struct DeadLetter {
  uint64_t id = 0;
  RunKey key;
  JobId job_id;
  RunState state = RunState::kFailed;
  int attempts = 1;
  std::string reason;
  WallTime created;
};

struct DeadLetterFilter {
  uint64_t before_id = UINT64_MAX;
  std::optional<JobId> job_id = {};
  size_t limit = 50;
};

// Beyond this many jobs with dead letters, the jobs with the highest numbers are left out.
inline constexpr size_t kDeadLetterJobsMax = 10'000;

// A job with dead letters.
struct DeadLetterJob {
  JobId job_id;
  std::string job_name;
  uint64_t newest_id = 0;  // the highest id of the job's dead letters
};
struct DeadLetterJobFilter {
  uint64_t before_id = UINT64_MAX;  // only jobs whose newest dead letter has a lower id
  size_t limit = 50;
};
struct DeadLetterJobPage {
  std::vector<DeadLetterJob> jobs;
  std::optional<uint64_t> next = {};  // cursor; nullopt on the last page
};

// The error of a write to a run that is only kept.
inline Error OnlyKept(const RunKey& key) {
  return {ErrorCode::kConflict,
          "run " + EncodeRunId(key) +
              " is older than the retention: only its result is kept; run its job instead"};
}

class RunStore {
 public:
  virtual ~RunStore() = default;

  // Creates one PENDING run of kind manual. Its fire and due time are `now` or the next free
  // microsecond. Its schedule is a pseudo schedule that each job has. Allowed on a paused job.
  // kInvalid: the parameters do not fit the rules of the job (parameter_rules.h).
  // kConflict: another request has finished the key of `keyed` meanwhile.
  virtual Result<CreatedRun> ExecuteJob(const ExecuteRequest& request,
                                        const WriteContext& context) = 0;

  // Applies DecideCancel with context.cancel_mode. A kill replaces a graceful request, never the
  // reverse. True if the run was cancelled or received a request; the run's `error` gives the
  // reason, if there is one. Of a workflow's run, the nodes follow before the call returns, level
  // by level: none of them is claimed after that. Of the own run of a fire, its parts follow in the
  // same transaction; a part is cancelled alone. kConflict: the run is only kept (RunDetail::kept).
  // With context.give_up: applies CheckGiveUp, and the owner ends the attempt (FiringStore).
  virtual Result<bool> CancelRun(const RunKey& key, const WriteContext& context) = 0;
  // Cancels every open run of the job that is due or running; planned future runs are kept. Returns
  // the number of these runs, without parts.
  virtual Result<int64_t> CancelJobRuns(const JobId& id, const WriteContext& context) = 0;
  // Applies DecideRetryByHand. A late report of the attempt that was given up counts as the end of
  // that attempt. Deletes the run's dead letters, since the run has another attempt. kConflict also
  // as ExecuteJob and CancelRun. Of a workflow's run that has begun: applies PlanRetry to its
  // nodes; a run that has ended, in whatever state, begins again. The retry of a node's run is one
  // of its workflow run from that node. kConflict, with a sentence that names the run or the nodes:
  // the workflow run is itself a node of another one, is being cancelled, or some of the nodes are
  // open or may still run. Of a fire that has parts: applies PlanPartRetry, also if `key` is of a
  // part, which it then means. A fire that has ended must also get its slot: otherwise nothing is
  // changed, and the error is NoSlotForFire.
  virtual Result<RunDetail> RetryRun(const RetryRequest& request, const WriteContext& context) = 0;

  virtual Result<RunDetail> GetRun(const RunKey& key) = 0;  // with attempts
  // By index; none if the run has no parts. kNotFound: there is no run `own`.
  virtual Result<std::vector<RunPart>> ListParts(const RunKey& own) = 0;
  // Runs without parts are left out.
  virtual Result<std::map<RunKey, PartCounts>> CountParts(const std::vector<RunKey>& owns) = 0;
  // Newest first, without attempts. Planned runs that are not due yet are included only if `states`
  // names PENDING (run_listing.h). A page may hold fewer runs than its limit, even none, although
  // more exist. Then searched_to says where the search stopped. Lists of one job include the runs
  // that are only kept.
  virtual Result<RunPage> ListRuns(const RunFilter& filter, WallTime now) = 0;
  // Like ListRuns, examines at most filter.search_max runs (and at most kRunCountLookedAtMax).
  virtual Result<BoundedCount> CountRuns(const RunFilter& filter, WallTime now) = 0;
  // The latest fires of each job, in the order of the request; unknown and deleted jobs are left
  // out. Reads `runs_max` runs per job, however long its history, and those that are only kept.
  virtual Result<std::vector<RecentRuns>> ListRecentRuns(const RecentFilter& filter) = 0;
  // Returns a number that changes when a run begins, ends or changes. Covers the open due runs (the
  // first 1,000) and the kMarkedRuns newest runs. The cost does not grow with the history.
  virtual Result<uint64_t> RunsFingerprint(WallTime now) = 0;
  virtual Result<GapPage> ListGaps(const GapFilter& filter) = 0;
  virtual Result<BoundedCount> CountGaps(const GapFilter& filter) = 0;
  virtual Result<RunCounts> CountOpenRuns() = 0;
  virtual Result<std::vector<DeadLetter>> ListDeadLetters(const DeadLetterFilter& filter) = 0;
  virtual Result<BoundedCount> CountDeadLetters(const DeadLetterFilter& filter) = 0;
  // Each job with dead letters once, ordered by its newest dead letter, newest first. Deleted jobs
  // are left out, so a page may hold fewer than `limit`. Reads one index entry for each such job,
  // however many dead letters there are.
  virtual Result<DeadLetterJobPage> ListDeadLetterJobs(const DeadLetterJobFilter& filter) = 0;
  virtual Result<DeadLetter> GetDeadLetter(uint64_t id) = 0;
  // The run keeps its final state. kNotFound: also if another request discarded it first.
  virtual Status DiscardDeadLetter(uint64_t id) = 0;
};

}  // namespace carillon
