// Backfills: run the fires of a schedule that lie in a past range. Pure.
//
// Place    docs/backfill.md. The owner of the job's segment continues a backfill step by step; the
//          store calls these functions inside its transaction.
//
// A fire is run at most once, live or by a backfill: a backfilled run has the key of its fire. A
// fire belongs to the planner until the schedule has passed it, so a backfill ends before it.
//
// Example  A job fired every hour until its schedule was replaced at 12:00 by another one that also
//          fires every hour. A backfill of the new schedule from 10:00 finds the old schedule's
//          run of 10:00 at the same instant and does not run that fire again.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/queue/overlap.h"
#include "common/domain/run/run_state.h"
#include "common/domain/schedule/schedule.h"

namespace carillon {

inline constexpr int64_t kBackfillFiresMax = 100'000;  // of one backfill
inline constexpr int64_t kBackfillConcurrencyMax = 100;
// Fires that one step looks at, besides those that it may run.
inline constexpr size_t kBackfillLooksMax = 500;
// The flags of each backfilled run.
inline constexpr uint32_t kBackfillFlags = run_flag::kBackground | run_flag::kHasRequest;
// The flags of a run that it runs again: a rerun is a new run of the job's present version.
inline constexpr uint32_t kRerunFlags = kBackfillFlags | run_flag::kAnew;

enum class BackfillState {
  kRunning,
  kPaused,     // creates no runs until it is resumed
  kCompleted,  // every fire of the range was looked at, and no run is open
  kCancelled,  // by a user
  kStopped,    // its schedule or its job is gone
};
std::string_view Name(BackfillState state);  // "RUNNING", …
Result<BackfillState> ParseBackfillState(std::string_view text);
// The reason of a backfill that is stopped.
std::string StoppedSentence(bool job_deleted);
// True if it may still create runs.
constexpr bool IsOpen(BackfillState state) {
  return state == BackfillState::kRunning || state == BackfillState::kPaused;
}

// The fires with a run that are run once more.
enum class BackfillRerun {
  kNone,
  kFailed,  // FAILED, TIMED_OUT, LOST and CANCELLED runs
  kAll,     // these and COMPLETED runs
};
std::string_view Name(BackfillRerun rerun);  // "none", "failed", "all"
Result<BackfillRerun> ParseBackfillRerun(std::string_view text);

enum class BackfillOrder { kAscending, kDescending };
std::string_view Name(BackfillOrder order);  // "ascending", "descending"
Result<BackfillOrder> ParseBackfillOrder(std::string_view text);

// ---- one fire ----------------------------------------------------------------------------------

enum class BackfillVerdict {
  kInsert,    // the fire has no run
  kRunAgain,  // its run becomes PENDING again, with the next attempt
  kExisting,  // its run is kept
  kRefused,   // its run is open, or its process may still run
};

struct BackfillChoice {
  BackfillVerdict verdict = BackfillVerdict::kInsert;
  std::optional<RunKey> run = {};  // the run that decided; set unless kInsert

  bool operator==(const BackfillChoice&) const = default;
};

// The schedules of a job that a backfill must tell apart.
struct BackfillSchedules {
  ScheduleId own = {};                // the schedule whose fires are run
  std::set<ScheduleId> present = {};  // all schedules of the job
};

// Decides about a fire by the runs of its job at that instant. Only runs of fires of the job's own
// schedules count: no manual run, no node of a workflow, and no run that another job started. Those
// of the job's other present schedules do not count either, which fire for themselves. A run of a
// former schedule counts: an edit replaced that schedule by another one.
BackfillChoice DecideBackfill(const std::vector<RunRow>& runs, const BackfillSchedules& schedules,
                              BackfillRerun rerun);

// The change of a run that is run again (kRunAgain): due now, by the job's present version. A
// SKIPPED run has a new attempt, too, because an executor may still ask for the one from before,
// with its old parameters. As nobody was called, that one counts as given back (returns.h).
RunChange RunAgainChange(const RunRow& row, const JobRow& job, std::optional<int> priority,
                         WallTime now);
// Makes the row of such a run one of kind BACKFILL. It loses its claim token, because a repeated
// result of the earlier attempt must not complete the new one.
void MarkBackfilled(RunRow& row);

// ---- the fires of a range ----------------------------------------------------------------------

// The number of runs of a backfill that may be open. More than may be active would only fill the
// queue of the job before its live runs, or end each other.
int64_t OpenRunsMax(int64_t concurrency, const OverlapRules& overlap);

// The first fire of which it is certain that its run is kept. `job_days` is retention_days of the
// job, 0 if it has none of its own.
WallTime KeptFrom(WallTime now, Duration retention, int64_t job_days);

// The fires that a backfill still has to look at: those in [from, until).
struct BackfillSpan {
  WallTime from = WallTime{};
  WallTime until = WallTime{};
  BackfillOrder order = BackfillOrder::kAscending;
  // Fires before it are not run: if they have no run, it may have been deleted with its day.
  WallTime kept_from = WallTime{};
};
// The span of [from, to) that is left when the backfill has come to `cursor`.
BackfillSpan SpanLeft(WallTime from, WallTime to, BackfillOrder order, WallTime cursor);
// The cursor before the first step.
WallTime FirstCursor(WallTime from, WallTime to, BackfillOrder order);

struct NextFires {
  std::vector<WallTime> fires = {};  // in the order of the backfill
  WallTime from = WallTime{};        // the begin of the span, or kept_from after it
  WallTime until = WallTime{};       // the end of the span, or the schedule's next fire before it
  int64_t unkept = 0;                // fires of the span before `from`
  int64_t planners = 0;              // fires of the span from there on: the planner's
};
// The next fires of the span, at most `limit`. `next_fire`: the first fire that the planner has not
// passed yet.
NextFires NextFiresOf(const Schedule& schedule, const BackfillSpan& left, WallTime next_fire,
                      size_t limit);
// The cursor after `fire` was looked at.
WallTime CursorAfter(WallTime fire, BackfillOrder order);

// ---- counts ------------------------------------------------------------------------------------

// created + rerun + existing + refused are the fires that were looked at, and succeeded + failed +
// the open runs are created + rerun.
struct BackfillCounts {
  int64_t created = 0;    // runs of fires that had none
  int64_t rerun = 0;      // runs that were run again
  int64_t existing = 0;   // fires whose run was kept, of the planner, and of days not kept
  int64_t refused = 0;    // fires whose run was open
  int64_t succeeded = 0;  // COMPLETED
  int64_t failed = 0;     // ended otherwise

  bool operator==(const BackfillCounts&) const = default;
};
// The number of fires that are done: their run has ended, was kept or was refused.
constexpr int64_t DoneOf(const BackfillCounts& counts) {
  return counts.existing + counts.refused + counts.succeeded + counts.failed;
}

using RunsByFire = std::map<WallTime, std::vector<RunRow>>;

// The result of one step.
struct BackfillPlan {
  struct Item {
    WallTime fire;
    BackfillChoice choice;  // kInsert or kRunAgain
  };
  std::vector<Item> items = {};
  int64_t existing = 0;
  int64_t refused = 0;
  WallTime cursor = WallTime{};
  bool looked_at_all = false;  // no fire is left
};
struct BackfillRoom {
  int64_t runs = 0;  // that may be created
  size_t looks = kBackfillLooksMax;
};
// Decides about fires in their order until as many runs as there is room for are chosen. `next` is
// NextFiresOf with a limit of at least room.looks, and `runs` the job's runs at these fires.
BackfillPlan PlanBackfill(const NextFires& next, const RunsByFire& runs,
                          const BackfillSchedules& schedules, BackfillRerun rerun,
                          const BackfillSpan& left, const BackfillRoom& room);

// The result that a backfill would have.
struct BackfillPreview {
  int64_t fires = 0;
  int64_t to_run = 0;
  int64_t existing = 0;
  int64_t refused = 0;
  std::vector<WallTime> first = {};  // the first fires that would be run, in their order
};
inline constexpr size_t kBackfillPreviewFires = 20;
// The arguments of PreviewBackfill.
struct BackfillQuestion {
  BackfillSpan span;
  WallTime next_fire = kNever;  // as for NextFiresOf
  BackfillSchedules schedules = {};
  BackfillRerun rerun = BackfillRerun::kNone;
};
// Goes through the whole span. `read` returns the job's runs at the given fires, at most
// kBackfillReadMax of them.
inline constexpr size_t kBackfillReadMax = 5'000;
using ReadRunsAt = std::function<Result<RunsByFire>(const std::vector<WallTime>& fires)>;
Result<BackfillPreview> PreviewBackfill(const Schedule& schedule, const BackfillQuestion& question,
                                        const ReadRunsAt& read);

}  // namespace carillon
