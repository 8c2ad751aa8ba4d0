#include "common/adapters/mysql/firing/mysql_firing_store.h"

#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/database/plain_writes.h"
#include "common/adapters/mysql/firing/claim_batch.h"
#include "common/adapters/mysql/firing/open_run_scans.h"
#include "common/adapters/mysql/firing/result_batch.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/job_rows/plan_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"

namespace carillon::mysql {

Result<std::vector<DueSchedule>> MysqlFiringStore::ScanDue(const std::vector<SegmentId>& segments,
                                                           WallTime until, size_t limit) {
  if (segments.empty() || limit == 0) return std::vector<DueSchedule>{};
  return InRead(db_.pool(), "scan due",
                [&](Session& session) { return ReadDue(session, segments, until, limit); });
}

Result<std::vector<DueSchedule>> MysqlFiringStore::ScanOutdated(
    const std::vector<SegmentId>& segments, const std::vector<CalendarAt>& calendars,
    size_t limit) {
  if (segments.empty() || calendars.empty()) return std::vector<DueSchedule>{};
  return InRead(db_.pool(), "scan outdated", [&](Session& session) {
    return ReadOutdated(session, segments, calendars, limit);
  });
}

Status MysqlFiringStore::Plan(const PlanBatch& batch, const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(batch.runs, fence, "plan"));
  CARILLON_TRY(CheckBatch(batch.advances, fence, "plan"));
  if (batch.gaps.size() > kBatchRowsMax) {
    return {ErrorCode::kExhausted, "plan: more than kBatchRowsMax gaps"};
  }
  CARILLON_ASSIGN_OR_RETURN(const std::vector<ScheduleAdvance> advances,
                            MergeAdvances(batch.advances));
  Status planned =
      InTransaction(db_.pool(), {.operation = "plan"}, [&](Session& session) -> Status {
        CARILLON_TRY(LockFence(session, fence));
        return WritePlan(session, batch, advances, now);
      });
  if (!planned.ok() && planned.code() == ErrorCode::kExists) {
    return {ErrorCode::kConflict, planned.error().message};  // the run is already planned
  }
  return planned;
}

Result<PendingPage> MysqlFiringStore::ScanPending(const std::vector<SegmentId>& segments,
                                                  WallTime until, std::optional<Position> after,
                                                  size_t limit) {
  if (segments.empty() || limit == 0) return PendingPage{};
  return InRead(db_.pool(), "scan pending", [&](Session& session) {
    return ReadPending(session, db_.caches().incarnations, segments, until, after, limit);
  });
}

Result<JobPendingPage> MysqlFiringStore::ScanPendingOfJob(const JobWindow& window,
                                                          std::optional<RunKey> after,
                                                          size_t limit) {
  if (limit == 0) return JobPendingPage{};
  return InRead(db_.pool(), "scan pending of a job", [&](Session& session) {
    return ReadPendingOfJob(session, db_.caches().incarnations, window, after, limit);
  });
}

Result<RunningPage> MysqlFiringStore::ScanRunning(const std::vector<SegmentId>& segments,
                                                  std::optional<RunCursor> after, size_t limit) {
  return InRead(db_.pool(), "scan running", [&](Session& session) {
    return ReadRunning(session, db_.caches().incarnations, segments, after, limit);
  });
}

Result<RunningPage> MysqlFiringStore::ScanCancelRequests(const std::vector<SegmentId>& segments,
                                                         std::optional<RunCursor> after,
                                                         size_t limit) {
  return InRead(db_.pool(), "scan cancels", [&](Session& session) {
    return ReadCancelRequests(session, db_.caches().incarnations, segments, after, limit);
  });
}

Result<RunningPage> MysqlFiringStore::ScanPresumed(const std::vector<SegmentId>& segments,
                                                   std::optional<RunCursor> after, size_t limit) {
  return InRead(db_.pool(), "scan presumed", [&](Session& session) {
    return ReadPresumed(session, db_.caches().incarnations, segments, after, limit);
  });
}

Result<std::vector<JobVersionRecord>> MysqlFiringStore::LoadDefinitions(
    const std::vector<JobVersionKey>& keys) {
  return InRead(db_.pool(), "definitions",
                [&](Session& session) { return ReadDefinitions(session, keys); });
}

Result<RunRequest> MysqlFiringStore::LoadRunRequest(const RunKey& key) {
  return InRead(db_.pool(), "run request",
                [&](Session& session) { return ReadRunRequest(session, key); });
}

Result<std::map<RunKey, std::string>> MysqlFiringStore::LoadRunRules(
    const std::vector<RunKey>& keys) {
  if (keys.empty()) return std::map<RunKey, std::string>{};
  return InRead(db_.pool(), "run rules",
                [&](Session& session) { return ReadRunRules(session, keys); });
}

Result<std::vector<ClaimReply>> MysqlFiringStore::Claim(const std::vector<ClaimRequest>& requests,
                                                        const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(requests, fence, "claim"));
  if (requests.empty()) return std::vector<ClaimReply>{};
  std::vector<uint32_t> numbers;
  numbers.reserve(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const ClaimRequest& request = requests[i];
    if (i > 0 && requests[i - 1].executor == request.executor &&
        requests[i - 1].incarnation == request.incarnation) {
      numbers.push_back(numbers.back());
      continue;
    }
    CARILLON_ASSIGN_OR_RETURN(
        const uint32_t number,
        db_.caches().incarnations.NumberOf(db_.pool(), {request.executor, request.incarnation}));
    numbers.push_back(number);
  }
  // A duplicate key means that another transaction took the same slot of a job between our read and
  // our insert: the transaction runs again.
  const ClaimRules rules{db_.caches().incarnations, db_.caches().plain, numbers, fence, now};
  return InTransaction(
      db_.pool(), {.operation = "claim", .retry_duplicates = true}, [&](Session& session) {
        return PlainFirst(session, db_.caches().plain.claims,
                          [&](Look look) { return ClaimBatch(session, requests, rules, look); });
      });
}

Result<std::vector<RunKey>> MysqlFiringStore::Skip(const std::vector<SkipItem>& items,
                                                   const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(items, fence, "skip"));
  if (items.empty()) return std::vector<RunKey>{};
  return InTransaction(db_.pool(), {.operation = "skip"},
                       [&](Session& session) -> Result<std::vector<RunKey>> {
                         CARILLON_TRY(LockFence(session, fence));
                         return SkipBatch(session, items, db_.caches().incarnations, now);
                       });
}

Result<std::vector<RunEffect>> MysqlFiringStore::ApplyResults(
    const std::vector<ResultReport>& reports, const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(reports, fence, "results"));
  if (reports.empty()) return std::vector<RunEffect>{};
  const ResultRules rules{db_.caches().incarnations, db_.caches().plain.slot_jobs, fence, now};
  return InTransaction(db_.pool(), {.operation = "results"}, [&](Session& session) {
    return PlainFirst(session, db_.caches().plain.results,
                      [&](Look look) { return ApplyBatch(session, reports, rules, look); });
  });
}

namespace {

Result<std::vector<RunEffect>> Lose(MysqlDatabase& db, std::string_view operation, Loss loss,
                                    const std::vector<LostReport>& reports, const Fence& fence,
                                    WallTime now) {
  CARILLON_TRY(CheckBatch(reports, fence, operation));
  if (reports.empty()) return std::vector<RunEffect>{};
  return InTransaction(db.pool(), {.operation = operation}, [&](Session& session) {
    return LoseBatch(session, reports, {loss, db.caches().incarnations, fence, now});
  });
}

}  // namespace

Result<std::vector<RunEffect>> MysqlFiringStore::MarkLost(const std::vector<LostReport>& reports,
                                                          const Fence& fence, WallTime now) {
  return Lose(db_, "lost", Loss::kLeaseEnded, reports, fence, now);
}

Result<std::vector<RunEffect>> MysqlFiringStore::GiveUp(const std::vector<LostReport>& reports,
                                                        const Fence& fence, WallTime now) {
  return Lose(db_, "give up", Loss::kGivenUp, reports, fence, now);
}

Result<std::vector<RunEffect>> MysqlFiringStore::Presume(const std::vector<LostReport>& reports,
                                                         const Fence& fence, WallTime now) {
  return Lose(db_, "presume dead", Loss::kPresumed, reports, fence, now);
}

Result<OverdueReport> MysqlFiringStore::ReadOverdue(WallTime now) {
  return InRead(db_.pool(), "overdue", [&](Session& session) {
    return ReadOverdueRows(session, db_.segment_count(), now);
  });
}

}  // namespace carillon::mysql
