// The firing path's writes: plan, sweep, claim, results, losses. Only a segment's owner calls them.
//
// Threads  Thread-safe; calls may block for the configured statement timeout.
// Errors   kFenced: an epoch is over, nothing was written. kConflict: a row moved, nothing was
//          written, re-read. kTimeout: the outcome of the commit is unknown: forget the segments,
//          take them again, recover. kUnavailable, kBrokenStore: nothing was written, and no item
//          is to blame. kExhausted: the batch is above BatchLimits. kInvalid: one item is refused
//          by the store itself; bisect.
// Always   Each call is one transaction. Batches may cross
//          segments; all of a batch's segments are in its fence.
#pragma once

#include <optional>
#include <vector>

#include "common/domain/misfire.h"
#include "common/domain/run_state.h"
#include "common/ports/fence.h"

namespace carillon {

// Bounds of one batch; a store's adapter also bounds bytes by its packet size.
inline constexpr size_t kBatchRowsMax = 1000;

// A schedule that has unplanned fires at or before the scan's horizon.
struct DueSchedule {
  ScheduleId schedule_id;
  JobNo job_no;
  SegmentId segment;
  int64_t version = 0;      // of the schedule; any edit of its job moves it
  int64_t job_version = 0;  // stamped on the runs
  WallTime next_fire;       // the first unplanned fire
  ScheduleSpec spec;
  DstGap dst_gap = DstGap::kFire;
  DstRepeat dst_repeat = DstRepeat::kAuto;
  MisfireRules misfire;
  int priority = 0;
  // False: the row holds what this version cannot read (a newer one wrote it, or it was damaged).
  // It is listed so that it does not hide others, and must not be planned.
  bool readable = true;
};

struct PlannedRun {
  RunKey key;
  JobNo job_no;
  SegmentId segment;
  RunKind kind = RunKind::kCron;
  WallTime due;
  int priority = 0;
  int64_t def_version = 0;
};

struct ScheduleAdvance {
  ScheduleId schedule_id;
  SegmentId segment;
  int64_t version = 0;     // compared
  WallTime expected_next;  // compared
  WallTime next_fire;      // kNever = no more fires
};

struct PlannedGap {
  ScheduleId schedule_id;
  JobNo job_no;
  GapRange range;
};

struct PlanBatch {
  std::vector<PlannedRun> runs;
  std::vector<ScheduleAdvance> advances;
  std::vector<PlannedGap> gaps;
};

struct PendingPage {
  std::vector<RunRow> runs;  // by (due, key)
  // Where the next page begins; nullopt = this was the last one.
  std::optional<std::pair<WallTime, RunKey>> next;
};

// Work that a write may have made due, or has changed: the runs of a job, or one of them.
struct ChangedWork {
  JobNo job_no;
  SegmentId segment;
  std::optional<RunKey> run = {};
};

// Fires of one job, both ends included.
struct JobWindow {
  JobNo job_no;
  WallTime from{};
  WallTime to{};
};

struct JobPendingPage {
  std::vector<RunRow> runs;    // by key
  std::optional<RunKey> next;  // where the next page begins; nullopt = this was the last one
};

// A place in a scan over what is running: in the order of the store's index, so that no page has to
// sort what the others hold.
struct RunCursor {
  SegmentId segment;
  WallTime due;
  RunKey key;

  auto operator<=>(const RunCursor&) const = default;
};

struct RunningPage {
  std::vector<RunRow> runs;  // each run once, by (segment, due, key)
  std::optional<RunCursor> next;
};

struct ClaimReply {
  ClaimVerdict verdict = ClaimVerdict::kRefused;
  ClaimReason reason = ClaimReason::kNone;
  // Of what was accepted, as the run's row has it: whatever the request said.
  JobNo job_no = {};
  int64_t def_version = 0;
};

// What happened to a run, for the owner's memory (wheel, leases, metrics).
struct RunEffect {
  RunKey key;
  ResultVerdict verdict = ResultVerdict::kApplied;
  RunState state = RunState::kPending;  // as written; only for kApplied
  std::optional<RunRow> again = {};     // PENDING: the row as written
  bool dead_letter = false;
};

inline void NoteWritten(const RunRow& row, RunEffect* effect) {
  effect->state = row.state;
  if (row.state == RunState::kPending) effect->again = row;
}

// Where the due-but-unplanned watchdog and the overdue metric look.
struct OverdueReport {
  WallTime oldest_pending_due = kNever;     // PENDING; kNever = none
  WallTime oldest_unplanned_fire = kNever;  // next_fire of an enabled schedule
  int64_t pending_due = 0;                  // PENDING with due <= now, counted up to 100,000
};

struct JobVersionKey {
  JobNo job_no;
  int64_t version = 0;

  auto operator<=>(const JobVersionKey&) const = default;
};

struct JobVersionRecord {
  JobNo job_no;
  int64_t version = 0;
  JobId job_id;
  JobDefinition definition;
  // False: the version exists but cannot be read (as of DueSchedule); `definition` is empty. What
  // waits for it goes on waiting.
  bool readable = true;
};

class FiringStore {
 public:
  virtual ~FiringStore() = default;

  // Schedules of `segments` with next_fire <= until, earliest first. No locks.
  virtual Result<std::vector<DueSchedule>> ScanDue(const std::vector<SegmentId>& segments,
                                                   WallTime until, size_t limit) = 0;

  // Inserts the runs (PENDING, attempt 1) and gaps and advances the schedules, all or nothing.
  // kConflict when an advance matched no row (an edit, pause or delete won) or a run's key exists.
  virtual Status Plan(const PlanBatch& batch, const Fence& fence, WallTime now) = 0;

  // PENDING runs with due <= until, no lower bound, from `after` (exclusive). No locks.
  virtual Result<PendingPage> ScanPending(const std::vector<SegmentId>& segments, WallTime until,
                                          std::optional<std::pair<WallTime, RunKey>> after,
                                          size_t limit) = 0;

  // PENDING runs of `window` from `after` (exclusive), without those that are held back while their
  // job is paused. Reads only rows of the window. No locks.
  virtual Result<JobPendingPage> ScanPendingOfJob(const JobWindow& window,
                                                  std::optional<RunKey> after, size_t limit) = 0;

  // RUNNING runs, for a takeover. No locks.
  virtual Result<RunningPage> ScanRunning(const std::vector<SegmentId>& segments,
                                          std::optional<RunCursor> after, size_t limit) = 0;

  // RUNNING and HELD runs somebody asked to cancel. No locks.
  virtual Result<RunningPage> ScanCancelRequests(const std::vector<SegmentId>& segments,
                                                 std::optional<RunCursor> after, size_t limit) = 0;

  // Definitions by version, with the job's id; unknown ones are absent. One that cannot be read is
  // marked and keeps no other one back.
  virtual Result<std::vector<JobVersionRecord>> LoadDefinitions(
      const std::vector<JobVersionKey>& keys) = 0;

  // What the request said that made a manual run.
  virtual Result<RunRequest> LoadRunRequest(const RunKey& key) = 0;

  // Decides each request by DecideClaim on its locked row and writes; a row that is as a plain
  // request (plain.h) says need not be read for that. Replies in request order. Two
  // requests for one run in a batch are decided one after the other.
  virtual Result<std::vector<ClaimReply>> Claim(const std::vector<ClaimRequest>& requests,
                                                const Fence& fence, WallTime now) = 0;

  // PENDING -> SKIPPED by DecideSkip; items that moved are left alone. A run that was tried before
  // leaves a dead letter. Returns how many were written.
  virtual Result<size_t> Skip(const std::vector<SkipItem>& items, const Fence& fence,
                              WallTime now) = 0;

  // Applies by DecideResult. One effect per report, in order.
  virtual Result<std::vector<RunEffect>> ApplyResults(const std::vector<ResultReport>& reports,
                                                      const Fence& fence, WallTime now) = 0;

  // Applies by DecideLost. One effect per report whose row still matched.
  virtual Result<std::vector<RunEffect>> MarkLost(const std::vector<LostReport>& reports,
                                                  const Fence& fence, WallTime now) = 0;

  // For metrics and the watchdog, over all segments; no locks.
  virtual Result<OverdueReport> ReadOverdue(WallTime now) = 0;
};

}  // namespace carillon
