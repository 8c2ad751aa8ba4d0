// The writes of the firing path: plan, skip, claim, results, losses. For owners of segments only.
//
// Threads  Thread-safe; calls may block for the configured statement timeout.
// Errors   kFenced (an epoch has ended), kConflict (a row changed; re-read), kUnavailable and
//          kBrokenStore (no item is the cause): nothing was written. kTimeout: the outcome of the
//          commit is unknown: forget the segments, take them again, recover. kExhausted: above
//          kBatchRowsMax. kInvalid: the store rejects one item; find it by writing halves.
// Always   Each call is one transaction. A batch may span segments, if all of them are in
//          its fence.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/run/completion.h"
#include "common/domain/run/hanging.h"
#include "common/domain/run/run_state.h"
#include "common/domain/run/skip.h"
#include "common/ports/fence.h"
#include "common/ports/overdue_report.h"
#include "common/ports/planned_fires.h"

namespace carillon {

// Maximum rows of one batch. Adapters also limit its bytes to their packet size.
inline constexpr size_t kBatchRowsMax = 1000;

struct PendingPage {
  std::vector<RunRow> runs;  // by (due, key)
  // Start of the next page; nullopt = this was the last one.
  std::optional<std::pair<WallTime, RunKey>> next;
};

// The runs of a job, or only `run`, that a write has changed or may have made due.
struct ChangedWork {
  JobNo job_no;
  SegmentId segment;
  std::optional<RunKey> run = {};
};

// The fires of one job in [from, to].
struct JobWindow {
  JobNo job_no;
  WallTime from{};
  WallTime to{};
};

struct JobPendingPage {
  std::vector<RunRow> runs;    // by key
  std::optional<RunKey> next;  // start of the next page; nullopt = this was the last one
};

// A position in a scan of running runs, in the order of the store's index.
struct RunCursor {
  SegmentId segment;
  WallTime due;
  RunKey key;

  auto operator<=>(const RunCursor&) const = default;
};

struct RunningPage {
  std::vector<RunRow> runs;  // without duplicates, by (segment, due, key)
  std::optional<RunCursor> next;
  std::set<RunKey> given_up = {};  // of cancel requests: those whose present attempt is given up
};

// The verdict on one claim.
struct ClaimReply {
  ClaimVerdict verdict = ClaimVerdict::kRefused;
  ClaimReason reason = ClaimReason::kNone;
  // If accepted: as in the run's row, which may differ from the request.
  JobNo job_no = {};
  int64_t def_version = 0;
  // If it is queued: for a group in time, so that its next admission depends on the clock.
  bool in_timed_group = false;
  // If it is refused as not due: when the slot of its group that is reserved for it is cool.
  std::optional<WallTime> not_before = {};
};

// The effect of a write on one run, for the owner's memory (wheel, leases, metrics).
struct RunEffect {
  RunKey key;
  ResultVerdict verdict = ResultVerdict::kApplied;
  RunState state = RunState::kPending;           // as written; only for kApplied
  std::optional<RunRow> again = {};              // the row as written, if PENDING
  bool dead_letter = false, given_back = false;  // returns.h
  bool freed_slot = false;               // a queued run of its job or of its group may be admitted
  bool completed = false;                // a completion was written (completion_store.h)
  std::optional<WallTime> dead_at = {};  // PresumedDeadAt
};

inline void NoteWritten(const RunRow& row, RunEffect* effect) {
  effect->state = row.state;
  if (row.state == RunState::kPending) effect->again = row;
  effect->completed = IsFinal(row.state) && IsAwaited(row);
  effect->dead_at = PresumedDeadAt(row);
}

struct JobVersionKey {
  JobNo job_no;
  int64_t version = 0;

  auto operator<=>(const JobVersionKey&) const = default;
};

// The definition of a job at one version.
struct JobVersionRecord {
  JobNo job_no;
  int64_t version = 0;
  JobId job_id;
  JobDefinition definition;
  // Of the definition's schedules, in its order. Empty if the job has a later version: only the
  // schedules of the present one are stored, and runs of others are not started.
  std::vector<ScheduleId> schedule_ids = {};
  // False: the version exists but is unreadable (see DueSchedule); `definition` is empty. Runs that
  // need it keep waiting.
  bool readable = true;
};

class FiringStore {
 public:
  virtual ~FiringStore() = default;

  // Schedules of `segments` with next_fire <= until, earliest first. Takes no locks.
  virtual Result<std::vector<DueSchedule>> ScanDue(const std::vector<SegmentId>& segments,
                                                   WallTime until, size_t limit) = 0;

  // Schedules of `segments` that an older version of one of `calendars` computed, but not of paused
  // jobs. Their next_fire may be kNever. Takes no locks.
  virtual Result<std::vector<DueSchedule>> ScanOutdated(const std::vector<SegmentId>& segments,
                                                        const std::vector<CalendarAt>& calendars,
                                                        size_t limit) = 0;

  // Inserts the runs (PENDING, attempt 1) and gaps, and advances the schedules, all or
  // nothing. kConflict if an advance matched no row (an edit, pause or delete came first) or a
  // run's key exists.
  virtual Status Plan(const PlanBatch& batch, const Fence& fence, WallTime now) = 0;

  // PENDING runs with due <= until, however old, that come after `after`. Takes no locks.
  virtual Result<PendingPage> ScanPending(const std::vector<SegmentId>& segments, WallTime until,
                                          std::optional<std::pair<WallTime, RunKey>> after,
                                          size_t limit) = 0;

  // PENDING runs of `window` that come after `after`, except runs held back while their job is
  // paused. Reads only rows of the window. Takes no locks.
  virtual Result<JobPendingPage> ScanPendingOfJob(const JobWindow& window,
                                                  std::optional<RunKey> after, size_t limit) = 0;

  // RUNNING runs, for a takeover. Takes no locks.
  virtual Result<RunningPage> ScanRunning(const std::vector<SegmentId>& segments,
                                          std::optional<RunCursor> after, size_t limit) = 0;

  // RUNNING and HELD runs with a cancel request. Takes no locks.
  virtual Result<RunningPage> ScanCancelRequests(const std::vector<SegmentId>& segments,
                                                 std::optional<RunCursor> after, size_t limit) = 0;

  // HELD runs that are taken for dead at some time, for a takeover. Takes no locks.
  virtual Result<RunningPage> ScanPresumed(const std::vector<SegmentId>& segments,
                                           std::optional<RunCursor> after, size_t limit) = 0;

  // Definitions by version, with the job's id. Unknown versions are left out, unreadable ones
  // marked.
  virtual Result<std::vector<JobVersionRecord>> LoadDefinitions(
      const std::vector<JobVersionKey>& keys) = 0;

  // The parts of the execute request that are stored with a manual run.
  virtual Result<RunRequest> LoadRunRequest(const RunKey& key) = 0;

  // RunRow::rules of those that have some; of a part, those of its own run.
  virtual Result<std::map<RunKey, std::string>> LoadRunRules(const std::vector<RunKey>& keys) = 0;

  // Decides each request by DecideClaim on its locked row, and writes. A plain request (plain.h)
  // whose facts hold is written without reading the row. Replies are in request order. Two requests
  // for the same run are decided one after the other.
  virtual Result<std::vector<ClaimReply>> Claim(const std::vector<ClaimRequest>& requests,
                                                const Fence& fence, WallTime now) = 0;

  // Changes PENDING runs to SKIPPED by DecideSkip; runs that have changed meanwhile are left alone.
  // A run with earlier attempts leaves a dead letter. Returns the runs written, as in `items`.
  virtual Result<std::vector<RunKey>> Skip(const std::vector<SkipItem>& items, const Fence& fence,
                                           WallTime now) = 0;

  // Applies DecideResult. One effect per report, in order.
  virtual Result<std::vector<RunEffect>> ApplyResults(const std::vector<ResultReport>& reports,
                                                      const Fence& fence, WallTime now) = 0;

  // Applies DecideLost. One effect per report whose row still matched.
  virtual Result<std::vector<RunEffect>> MarkLost(const std::vector<LostReport>& reports,
                                                  const Fence& fence, WallTime now) = 0;

  // Applies DecideGivenUp. One effect per report whose row still matched.
  virtual Result<std::vector<RunEffect>> GiveUp(const std::vector<LostReport>& reports,
                                                const Fence& fence, WallTime now) = 0;

  // Applies DecidePresumed. One effect per report whose row still matched.
  virtual Result<std::vector<RunEffect>> Presume(const std::vector<LostReport>& reports,
                                                 const Fence& fence, WallTime now) = 0;

  // For metrics and the watchdog, over all segments. Takes no locks.
  virtual Result<OverdueReport> ReadOverdue(WallTime now) = 0;
};

}  // namespace carillon
