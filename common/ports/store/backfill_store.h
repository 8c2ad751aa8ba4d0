// Port of backfills (common/domain/backfill/backfill.h): users create and control them, the owner
// of their segment continues them.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h. The calls of the owner also as FiringStore.
// Always   A job has at most one open backfill. After PauseBackfill or CancelBackfill has returned,
//          no run is created by the backfill.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/backfill/backfill.h"
#include "common/ports/fence.h"
#include "common/ports/store/bounded_count.h"
#include "common/ports/store/idempotency_store.h"
#include "common/ports/store/job_store.h"

namespace carillon {

// A backfill as requested.
struct BackfillTerms {
  JobId job_id;
  ScheduleId schedule_id;  // a cron or rate schedule of the job
  WallTime from;
  WallTime to;  // exclusive
  BackfillOrder order = BackfillOrder::kAscending;
  BackfillRerun rerun = BackfillRerun::kNone;
  int64_t concurrency = 1;           // open runs, at most kBackfillConcurrencyMax
  std::optional<int> priority = {};  // of its runs; nullopt = the job's
  std::string parameters_json = {};  // of its runs; empty = those of the job

  bool operator==(const BackfillTerms&) const = default;
};

struct Backfill {
  uint64_t number = 0;  // assigned by the store, ascending
  JobNo job_no;
  SegmentId segment;
  BackfillTerms terms;
  BackfillState state = BackfillState::kRunning;
  int64_t fires = 0;  // in the range
  BackfillCounts counts = {};
  WallTime cursor = WallTime{};   // see FirstCursor
  std::vector<RunKey> runs = {};  // its runs that were open at the last step
  std::string error = {};         // the reason if stopped
  std::string actor = {};
  WallTime created = WallTime{};
  WallTime ended = WallTime{};  // zero while a run of it is open, even after a cancel

  bool operator==(const Backfill&) const = default;
};
inline bool HasEnded(const Backfill& backfill) { return backfill.ended != WallTime{}; }

struct BackfillFilter {
  std::optional<JobId> job_id = {};
  std::optional<BackfillState> state = {};
  uint64_t before_number = UINT64_MAX;  // cursor, newest first
  size_t limit = 50;
};

// A backfill that has not ended, for its owner.
struct OpenBackfill {
  uint64_t number = 0;
  JobNo job_no;
  SegmentId segment;

  bool operator==(const OpenBackfill&) const = default;
};

// The result of one step, for the owner's memory and metrics.
struct BackfillEffect {
  std::vector<RunRow> due = {};   // the rows as written: PENDING, due now
  size_t created = 0;             // of these, the runs that are new
  std::vector<RunKey> open = {};  // all open runs of the backfill
  bool more = false;              // another step may have something to do now
};

class BackfillStore {
 public:
  virtual ~BackfillStore() = default;

  // Counts the fires, and what would become of each. Writes nothing and takes no locks. kConflict:
  // the job has no such schedule any more.
  virtual Result<BackfillPreview> PreviewBackfill(const BackfillTerms& terms) = 0;
  // kConflict: the job has no such schedule any more, or another request has finished the key of
  // `keyed` meanwhile. kExists: the job has an open backfill. kExhausted: the range has more than
  // kBackfillFiresMax fires.
  virtual Result<Backfill> CreateBackfill(const BackfillTerms& terms,
                                          const std::optional<KeyedAnswer<Backfill>>& keyed,
                                          const WriteContext& context) = 0;
  virtual Result<Backfill> GetBackfill(uint64_t number) = 0;
  virtual Result<std::vector<Backfill>> ListBackfills(const BackfillFilter& filter) = 0;
  virtual Result<BoundedCount> CountBackfills(const BackfillFilter& filter) = 0;

  // Both are idempotent. kConflict: the backfill is not open any more.
  virtual Result<Backfill> PauseBackfill(uint64_t number, const WriteContext& context) = 0;
  virtual Result<Backfill> ResumeBackfill(uint64_t number, const WriteContext& context) = 0;
  // Cancels its open runs by DecideCancel. Idempotent. kConflict: it is COMPLETED or STOPPED.
  virtual Result<Backfill> CancelBackfill(uint64_t number, const WriteContext& context) = 0;

  // Backfills of `segments` that have not ended, with a number above `after`, by number. Takes no
  // lock on them.
  virtual Result<std::vector<OpenBackfill>> ScanBackfills(const std::vector<SegmentId>& segments,
                                                          uint64_t after, size_t limit) = 0;
  // Counts the runs that have ended, and creates runs as PlanBackfill says. Creates none while the
  // backfill or its job is paused, and none whose day is not kept any more: `retention` is that of
  // the cluster (KeptFrom). Nothing happens if the backfill has ended.
  virtual Result<BackfillEffect> StepBackfill(const OpenBackfill& backfill, const Fence& fence,
                                              WallTime now, Duration retention) = 0;
};

}  // namespace carillon
