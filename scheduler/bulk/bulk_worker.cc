#include "scheduler/bulk/bulk_worker.h"

#include <algorithm>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr const char* kRoom = "bulk";

Duration Backoff(int tries) {
  Duration wait = BulkWorker::kRetry;
  for (int i = 1; i < tries && wait < BulkWorker::kLongestRetry; ++i) wait *= 2;
  return std::min(wait, BulkWorker::kLongestRetry);
}

}  // namespace

SteadyTime BulkWorker::Step(SteadyTime now) {
  const bool nudged = !work_ && nudged_.exchange(false);
  if (now < next_ && !nudged) return next_;
  const auto cluster_now = ports_.cluster_now();
  if (!cluster_now.ok() || !ports_.store_trusted()) {
    if (nudged) nudged_ = true;
    return WaitUntil(now + kRetry);
  }
  if (!work_) return Take(now, *cluster_now);
  if (work_->piece.empty()) return NextPiece(now, *cluster_now);
  return DoNext(now, *cluster_now);
}

void BulkWorker::Leave() {
  if (work_ && !work_->finished.empty()) Record();
  if (work_) static_cast<void>(ports_.store.ReleaseBulk(work_->lease));
  work_.reset();
}

SteadyTime BulkWorker::Take(SteadyTime now, WallTime cluster_now) {
  auto taken = ports_.store.TakeBulk(cluster_now, cluster_now + kLease);
  if (!taken.ok()) {
    Failed(taken.error());
    return WaitUntil(now + kRetry);
  }
  if (!*taken) return WaitUntil(now + kLookEvery);
  LeasedBulk& leased = **taken;
  log::Debug(kRoom, "{}: continues with {} of {}", leased.lease.bulk_id,
             leased.action.done + leased.action.failed, leased.action.total);
  work_ = Work{.action = std::move(leased.action),
               .lease = std::move(leased.lease),
               .held_until = now + kLease};
  return WaitUntil(now);
}

SteadyTime BulkWorker::NextPiece(SteadyTime now, WallTime cluster_now) {
  Work& work = *work_;
  if (!work.finished.empty() && !Record()) return WaitUntil(now + kRetry);
  if (HasEnded(work.action)) {
    Drop(Name(work.action.state));
    return WaitUntil(now);
  }
  if (work.turn >= kTurn) {
    static_cast<void>(ports_.store.ReleaseBulk(work.lease));
    work_.reset();
    return WaitUntil(now + kRest);
  }
  if (!Resume(cluster_now)) return WaitUntil(now + (work_ ? kRetry : Duration::zero()));
  const auto items = ports_.store.ListBulkItems(work.lease.bulk_id,
                                                {.result = BulkResult::kPending, .limit = kPiece});
  if (!items.ok()) {
    Failed(items.error());
    return WaitUntil(now + kRetry);
  }
  if (items->empty()) {  // cancelled
    Drop("is complete");
    return WaitUntil(now);
  }
  if (!Precheck(*items)) return WaitUntil(now + kRetry);
  if (!work.finished.empty() && !Record()) return WaitUntil(now + kRetry);
  const auto asked = ReadTime();
  if (!asked.ok()) {
    Failed(asked.error());
    return WaitUntil(now + kRetry);
  }
  auto begun = ports_.store.BeginBulkItems(work.lease, items->back().position, asked->cluster,
                                           asked->cluster + kLease);
  if (!begun.ok()) {
    Failed(begun.error());
    return WaitUntil(now + kRetry);
  }
  work.held_until = asked->steady + kLease;
  work.record_at = asked->steady + kRecordEvery;
  work.piece.assign(begun->begin(), begun->end());
  return WaitUntil(now + kRest);
}

SteadyTime BulkWorker::DoNext(SteadyTime now, WallTime cluster_now) {
  Work& work = *work_;
  const bool anew = now - work.resumed >= kRightsFor;
  const bool record =
      LeaseIsShort(now) || ((anew || now >= work.record_at) && !work.finished.empty());
  if (record && !Record()) return WaitUntil(now + kRetry);
  if (anew && !Resume(cluster_now)) return WaitUntil(now + (work_ ? kRetry : Duration::zero()));
  const BulkItem item = work.piece.front();
  const EarlierAttempt tried =
      item.begun || work.tries > 0 ? EarlierAttempt::kPossibly : EarlierAttempt::kNo;
  const ItemOutcome outcome = ports_.runner.Do(work.action.order, work.caller, item, tried);
  if (outcome.verdict == ItemOutcome::Verdict::kAgain) {
    // A try counts only if the store accepts a record now. Otherwise the cause may be the store and
    // not the item.
    const int tries = ++work.tries;
    const bool answers = Record();
    if (!work_) return WaitUntil(now);
    if (!answers) work.tries = 1;
    if (tries < kTriesMax || !answers) return WaitUntil(now + Backoff(work.tries));
  }
  work.piece.pop_front();
  Finish(item, outcome);
  return WaitUntil(now);
}

void BulkWorker::Finish(const BulkItem& item, const ItemOutcome& outcome) {
  BulkItem finished = item;
  const bool done = outcome.verdict == ItemOutcome::Verdict::kDone;
  finished.result = done ? BulkResult::kDone : BulkResult::kError;
  finished.run_id = outcome.run_id;
  finished.error_json = done ? "" : outcome.error_json;
  work_->finished.push_back(std::move(finished));
  work_->tries = 0;
  ++work_->turn;
}

Result<BulkWorker::Moment> BulkWorker::ReadTime() const {
  const SteadyTime steady = ports_.clock.Steady();
  CARILLON_ASSIGN_OR_RETURN(const WallTime cluster, ports_.cluster_now());
  return Moment{.steady = steady, .cluster = cluster};
}

bool BulkWorker::Record() {
  Work& work = *work_;
  const auto asked = ReadTime();
  if (!asked.ok()) {
    Failed(asked.error());
    return false;
  }
  auto recorded = ports_.store.RecordBulkItems(work.lease, work.finished, asked->cluster,
                                               asked->cluster + kLease);
  if (!recorded.ok()) {
    Failed(recorded.error());
    return false;
  }
  for (const BulkItem& item : work.finished) {
    ports_.metrics.counter("carillon_bulk_items_total", Name(item.result)).Add();
  }
  work.action = std::move(recorded).value();
  work.finished.clear();
  work.held_until = asked->steady + kLease;
  work.record_at = asked->steady + kRecordEvery;
  return true;
}

bool BulkWorker::Resume(WallTime cluster_now) {
  Work& work = *work_;
  const BulkOrder& order = work.action.order;
  const SteadyTime asked = ports_.clock.Steady();
  auto resumed =
      ports_.resume({.user_id = order.user_id, .token_id = order.token_id, .role = order.role});
  if (!resumed.ok()) {
    Failed(resumed.error());
    return false;
  }
  if (resumed->caller) {
    work.caller = *std::move(resumed->caller);
    work.resumed = asked;
    return true;
  }
  const auto tried = [](const BulkItem& item) { return item.begun; };
  const bool untouched = !work.piece.empty() && work.tries == 0 &&
                         std::none_of(work.piece.begin(), work.piece.end(), tried);
  const auto stopped = ports_.store.StopBulk(
      work.lease, resumed->ended,
      ports_.runner.ErrorOf(order, untouched ? Undone::kNotBegun : Undone::kUnknown), cluster_now);
  if (!stopped.ok()) {
    Failed(stopped.error());
  } else {
    Drop(resumed->ended);
  }
  return false;
}

bool BulkWorker::Precheck(const std::vector<BulkItem>& items) {
  for (const BulkItem& item : items) {
    if (item.begun) continue;
    if (LeaseIsShort(ports_.clock.Steady()) && !Record()) return false;
    const auto outcome = ports_.runner.Precheck(work_->action.order, work_->caller, item);
    if (!outcome) continue;
    if (outcome->verdict == ItemOutcome::Verdict::kAgain) return false;
    Finish(item, *outcome);
  }
  return true;
}

void BulkWorker::Drop(std::string_view why) {
  log::Info(kRoom, "{}: {}", work_->lease.bulk_id, why);
  work_.reset();
}

void BulkWorker::Failed(const Error& error) {
  ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(error.code)).Add();
  log::Debug(kRoom, "{}", error.message);
  if (work_ && (error.code == ErrorCode::kFenced || error.code == ErrorCode::kNotFound)) {
    Drop("now belongs to another member, or is gone");
  }
}

}  // namespace carillon::scheduler
