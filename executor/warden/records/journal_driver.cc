#include "executor/warden/records/journal_driver.h"

namespace carillon::executor {
namespace {

constexpr Duration kStepAgain = 200ms;  // pause after a disk failure
// If one order takes the disk longer than this, the warden is not ready for more attempts.
constexpr Duration kDiskAnswers = 1s;
// Changes that nobody waits for (starts, removals) are synced after this long at most.
constexpr Duration kSyncDelay = 200ms;
constexpr uint64_t kFreeBytesMin = 4u << 20;
constexpr uint64_t kFreeInodesMin = 64;

}  // namespace

void JournalDriver::Step(SteadyTime now) {
  // Even in the pause after a failure, an order under way is collected, because its completion is
  // signalled only once.
  if (step_failed_ && now < next_step_ && !journal_.log().busy()) return;
  const Status status = journal_.Step();
  step_failed_ = !status.ok();
  const SegmentLog& log = journal_.log();
  if (!log.busy() || log.orders() != order_seen_) {
    order_seen_ = log.orders();
    order_since_ = now;
  }
  if (!log.dirty() || log.synced() > synced_at_failure_) disk_failure_.reset();
  if (status.ok()) return;
  journal_.Complain(status.error().message);
  next_step_ = now + kStepAgain;
  disk_failure_ = status.error();
  synced_at_failure_ = log.synced();
}

void JournalDriver::SyncOverdue(SteadyTime now) {
  if (journal_.dirty() && now < sync_due_) return;
  if (journal_.dirty()) journal_.WantSync(journal_.last());
  sync_due_ = now + kSyncDelay;
}

SteadyTime JournalDriver::NextStep() const {
  if (step_failed_) return next_step_;
  // While the device is busy, the completion of its order wakes the loop.
  return journal_.dirty() && !journal_.log().busy() ? sync_due_ : SteadyTime::max();
}

Result<bool> JournalDriver::Ready(SteadyTime now) {
  SegmentLog& log = journal_.log();
  if (log.busy() && now - order_since_ >= kDiskAnswers) {
    return {ErrorCode::kUnavailable, "the disk under " + work_directory_ + " does not respond"};
  }
  // While nothing can be written, no space is requested: it would be useless, and each failed write
  // uses up the file that was made for it, so the request might never be answered.
  if (disk_failure_) return *disk_failure_;
  CARILLON_ASSIGN_OR_RETURN(const bool headroom, journal_.EnsureHeadroom());
  log.AskSpace(work_directory_);
  const std::optional<SegmentLog::Space> space = log.space();
  if (!headroom || !space) return false;
  if (space->error != 0) {
    return {ErrorCode::kUnavailable, "the working directory cannot be reached"};
  }
  if (space->free_bytes < kFreeBytesMin || space->free_inodes < kFreeInodesMin) {
    return {ErrorCode::kExhausted, "no space left in " + work_directory_};
  }
  return true;
}

}  // namespace carillon::executor
