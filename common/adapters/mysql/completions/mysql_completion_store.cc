#include "common/adapters/mysql/completions/mysql_completion_store.h"

#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/completions/completion_batch.h"
#include "common/adapters/mysql/completions/fire_end_batch.h"
#include "common/adapters/mysql/run_rows/run_rows.h"

namespace carillon::mysql {

Result<std::vector<RunCompletion>> MysqlCompletionStore::ScanCompletions(
    const std::vector<SegmentId>& segments, size_t limit) {
  if (segments.empty() || limit == 0) return std::vector<RunCompletion>{};
  return InRead(db_.pool(), "scan completions",
                [&](Session& session) { return ReadCompletions(session, segments, limit); });
}

Result<std::vector<CompletionEffect>> MysqlCompletionStore::Apply(
    const std::vector<RunCompletion>& ends, const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(ends, fence, "completions"));
  if (ends.empty()) return std::vector<CompletionEffect>{};
  // A stale owner may insert a run of a dependent at the same time; the next try counts it as
  // existing.
  return InTransaction(
      db_.pool(), {.operation = "completions", .retry_duplicates = true},
      [&](Session& session) { return ApplyCompletions(session, ends, fence, now); });
}

Result<std::vector<FireEffect>> MysqlCompletionStore::EndFires(const std::vector<FireLook>& fires,
                                                               const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(fires, fence, "fires"));
  if (fires.empty()) return std::vector<FireEffect>{};
  return InTransaction(db_.pool(), {.operation = "fires"}, [&](Session& session) {
    return EndFiresOf(session, fires, {db_.caches().incarnations, fence, now});
  });
}

Result<std::vector<FireLook>> MysqlCompletionStore::ScanUnended(
    const std::vector<SegmentId>& segments, WallTime due, size_t limit) {
  if (segments.empty() || limit == 0) return std::vector<FireLook>{};
  return InRead(db_.pool(), "scan unended fires",
                [&](Session& session) { return ReadUnended(session, segments, due, limit); });
}

Result<std::vector<StuckSchedule>> MysqlCompletionStore::ScanStuck(
    const std::vector<SegmentId>& segments, size_t limit) {
  if (segments.empty() || limit == 0) return std::vector<StuckSchedule>{};
  return InRead(db_.pool(), "scan stuck schedules",
                [&](Session& session) { return ReadStuck(session, segments, limit); });
}

Result<bool> MysqlCompletionStore::Revive(const StuckSchedule& stuck, const Fence& fence,
                                          WallTime now) {
  CARILLON_TRY(CheckBatch(std::vector<StuckSchedule>{stuck}, fence, "revive"));
  return InTransaction(db_.pool(), {.operation = "revive"}, [&](Session& session) {
    return ReviveSchedule(session, stuck, fence, now);
  });
}

}  // namespace carillon::mysql
