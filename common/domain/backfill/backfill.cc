#include "common/domain/backfill/backfill.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/failpoint.h"
#include "common/domain/run/run_kind.h"

namespace carillon {
namespace {

constexpr std::array kBackfillStates = {BackfillState::kRunning, BackfillState::kPaused,
                                        BackfillState::kCompleted, BackfillState::kCancelled,
                                        BackfillState::kStopped};
constexpr std::array kReruns = {BackfillRerun::kNone, BackfillRerun::kFailed, BackfillRerun::kAll};
constexpr std::array kOrders = {BackfillOrder::kAscending, BackfillOrder::kDescending};

template <typename Enum, size_t kCount>
Result<Enum> Parse(const std::array<Enum, kCount>& all, std::string_view text,
                   std::string_view what) {
  for (const Enum one : all) {
    if (Name(one) == text) return one;
  }
  return {ErrorCode::kInvalid, "not a " + std::string(what) + ": '" + std::string(text) + "'"};
}

// The runs of one instant in the order in which they decide about its fire.
enum class Weight { kNone, kSkipped, kFailed, kCompleted, kOpen };

Weight WeightOf(const RunRow& row) {
  if (!IsFinal(row.state) || row.may_still_run) return Weight::kOpen;
  switch (row.state) {
    case RunState::kCompleted: return Weight::kCompleted;
    case RunState::kSkipped: return Weight::kSkipped;
    default: return Weight::kFailed;
  }
}

bool Counts(const RunRow& row, const BackfillSchedules& schedules) {
  const bool of_a_schedule =
      failpoint::Broken("backfill.any_kind") ? IsOfAFire(row.kind) : IsFireOfASchedule(row.kind);
  if (!of_a_schedule) return false;
  const ScheduleId id = row.key.schedule_id;
  return id == schedules.own || !schedules.present.contains(id);
}

BackfillVerdict VerdictOf(Weight weight, BackfillRerun rerun) {
  switch (weight) {
    case Weight::kNone: return BackfillVerdict::kInsert;
    case Weight::kSkipped: return BackfillVerdict::kRunAgain;
    case Weight::kFailed:
      return rerun == BackfillRerun::kNone ? BackfillVerdict::kExisting
                                           : BackfillVerdict::kRunAgain;
    case Weight::kCompleted:
      return rerun == BackfillRerun::kAll ? BackfillVerdict::kRunAgain : BackfillVerdict::kExisting;
    case Weight::kOpen: return BackfillVerdict::kRefused;
  }
  return BackfillVerdict::kRefused;
}

}  // namespace

std::string_view Name(BackfillState state) {
  switch (state) {
    case BackfillState::kRunning: return "RUNNING";
    case BackfillState::kPaused: return "PAUSED";
    case BackfillState::kCompleted: return "COMPLETED";
    case BackfillState::kCancelled: return "CANCELLED";
    case BackfillState::kStopped: return "STOPPED";
  }
  return "";
}

Result<BackfillState> ParseBackfillState(std::string_view text) {
  return Parse(kBackfillStates, text, "state of a backfill");
}

std::string_view Name(BackfillRerun rerun) {
  switch (rerun) {
    case BackfillRerun::kNone: return "none";
    case BackfillRerun::kFailed: return "failed";
    case BackfillRerun::kAll: return "all";
  }
  return "";
}

Result<BackfillRerun> ParseBackfillRerun(std::string_view text) {
  return Parse(kReruns, text, "choice of runs to run again");
}

std::string_view Name(BackfillOrder order) {
  return order == BackfillOrder::kAscending ? "ascending" : "descending";
}

Result<BackfillOrder> ParseBackfillOrder(std::string_view text) {
  return Parse(kOrders, text, "order of a backfill");
}

std::string StoppedSentence(bool job_deleted) {
  return job_deleted ? "Its job was deleted." : "Its schedule was replaced or removed.";
}

BackfillChoice DecideBackfill(const std::vector<RunRow>& runs, const BackfillSchedules& schedules,
                              BackfillRerun rerun) {
  Weight weight = Weight::kNone;
  std::optional<RunKey> decides;
  for (const RunRow& row : runs) {
    if (!Counts(row, schedules)) continue;
    const Weight own = WeightOf(row);
    // Of two runs that weigh the same, the one of the schedule itself decides, or else the later.
    const bool first =
        own > weight ||
        (own == weight &&
         (row.key.schedule_id == schedules.own ||
          (decides->schedule_id != schedules.own && decides->schedule_id < row.key.schedule_id)));
    if (!first) continue;
    weight = own;
    decides = row.key;
  }
  return {.verdict = VerdictOf(weight, rerun), .run = decides};
}

RunChange RunAgainChange(const RunRow& row, const JobRow& job, std::optional<int> priority,
                         WallTime now) {
  const bool was_tried = row.state != RunState::kSkipped;
  return {.state = RunState::kPending,
          .attempt = row.attempt + 1,
          .due = std::max(now, row.key.fire),
          .def_version = job.version,
          .priority = priority.value_or(job.priority),
          .record_attempt = was_tried,
          .given_back = !was_tried};
}

void MarkBackfilled(RunRow& row) {
  row.kind = RunKind::kBackfill;
  row.flags = kRerunFlags | (row.flags & run_flag::kReturns);
  if (!failpoint::Broken("backfill.keep_token")) row.claim_token = {};
}

int64_t OpenRunsMax(int64_t concurrency, const OverlapRules& overlap) {
  return TakesSlots(overlap.policy) ? std::min(concurrency, overlap.max_running) : concurrency;
}

WallTime KeptFrom(WallTime now, Duration retention, int64_t job_days) {
  constexpr Duration kDay = 24h;
  // The runs of a job with a retention of its own are deleted one by one, all others by whole days.
  if (job_days > 0) return now - std::min(retention, kDay * job_days);
  return WallTime{(now - retention).time_since_epoch() / kDay * kDay};
}

BackfillSpan SpanLeft(WallTime from, WallTime to, BackfillOrder order, WallTime cursor) {
  if (order == BackfillOrder::kAscending) return {std::max(from, cursor), to, order};
  return {from, std::min(to, cursor), order};
}

WallTime FirstCursor(WallTime from, WallTime to, BackfillOrder order) {
  return order == BackfillOrder::kAscending ? from : to;
}

WallTime CursorAfter(WallTime fire, BackfillOrder order) {
  return order == BackfillOrder::kAscending ? fire + Duration(1) : fire;
}

NextFires NextFiresOf(const Schedule& schedule, const BackfillSpan& left, WallTime next_fire,
                      size_t limit) {
  NextFires next;
  const WallTime until =
      failpoint::Broken("backfill.past_next") ? left.until : std::min(left.until, next_fire);
  next.until = until;
  if (until < left.until) {
    next.planners = schedule.Count(std::max(until, left.from), left.until);
  }
  next.from = std::max(left.from, left.kept_from);
  const WallTime unkept_until = std::min(next.from, until);
  if (left.from < unkept_until) next.unkept = schedule.Count(left.from, unkept_until);
  if (next.from >= until || limit == 0) return next;
  WallTime first = next.from;
  if (left.order == BackfillOrder::kDescending) {
    const int64_t fires = schedule.Count(next.from, until);
    const int64_t before = std::max<int64_t>(0, fires - static_cast<int64_t>(limit));
    const auto begin = schedule.Nth(next.from, before);
    if (fires == 0 || !begin) return next;
    first = *begin;
  }
  auto fire = schedule.Nth(first, 0);
  while (fire && *fire < until && next.fires.size() < limit) {
    next.fires.push_back(*fire);
    const auto following = schedule.Next(*fire);
    fire = following ? std::optional<WallTime>(following->time) : std::nullopt;
  }
  if (left.order == BackfillOrder::kDescending) std::reverse(next.fires.begin(), next.fires.end());
  return next;
}

BackfillPlan PlanBackfill(const NextFires& next, const RunsByFire& runs,
                          const BackfillSchedules& schedules, BackfillRerun rerun,
                          const BackfillSpan& left, const BackfillRoom& room) {
  static const std::vector<RunRow> kNoRuns;
  const bool ascending = left.order == BackfillOrder::kAscending;
  BackfillPlan plan{.cursor = ascending ? next.from : next.until};
  size_t looked_at = 0;
  for (const WallTime fire : next.fires) {
    if (looked_at == room.looks) break;
    const auto found = runs.find(fire);
    const BackfillChoice choice =
        DecideBackfill(found == runs.end() ? kNoRuns : found->second, schedules, rerun);
    const bool runs_it =
        choice.verdict == BackfillVerdict::kInsert || choice.verdict == BackfillVerdict::kRunAgain;
    if (runs_it && static_cast<int64_t>(plan.items.size()) >= room.runs) break;
    ++looked_at;
    if (runs_it) plan.items.push_back({fire, choice});
    if (choice.verdict == BackfillVerdict::kExisting) ++plan.existing;
    if (choice.verdict == BackfillVerdict::kRefused) ++plan.refused;
    plan.cursor = CursorAfter(fire, left.order);
  }
  // The planner's fires lie at the end of an ascending range, and at the beginning of a descending
  // one, where the first step passes them. With those that are not kept it is the other way round.
  if (looked_at == next.fires.size() && looked_at < room.looks) {
    plan.looked_at_all = true;
    plan.cursor = ascending ? left.until : left.from;
  }
  if (plan.looked_at_all || !ascending) plan.existing += next.planners;
  if (plan.looked_at_all || ascending) plan.existing += next.unkept;
  return plan;
}

Result<BackfillPreview> PreviewBackfill(const Schedule& schedule, const BackfillQuestion& question,
                                        const ReadRunsAt& read) {
  const BackfillSpan& span = question.span;
  BackfillPreview preview{.fires = schedule.Count(span.from, span.until)};
  if (preview.fires > kBackfillFiresMax) {
    return {ErrorCode::kExhausted, std::to_string(preview.fires) + " fires in the range"};
  }
  const BackfillRoom room{.runs = INT64_MAX, .looks = kBackfillReadMax};
  BackfillPlan plan{.cursor = FirstCursor(span.from, span.until, span.order)};
  while (!plan.looked_at_all) {
    const BackfillSpan left = SpanLeft(span.from, span.until, span.order, plan.cursor);
    const NextFires next = NextFiresOf(schedule, left, question.next_fire, room.looks);
    CARILLON_ASSIGN_OR_RETURN(const RunsByFire runs, read(next.fires));
    plan = PlanBackfill(next, runs, question.schedules, question.rerun, left, room);
    preview.existing += plan.existing;
    preview.refused += plan.refused;
    preview.to_run += static_cast<int64_t>(plan.items.size());
    for (const BackfillPlan::Item& item : plan.items) {
      if (preview.first.size() == kBackfillPreviewFires) break;
      preview.first.push_back(item.fire);
    }
  }
  return preview;
}

}  // namespace carillon
