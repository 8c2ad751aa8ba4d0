#include "common/adapters/mysql/backfill/mysql_backfill_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "common/adapters/mysql/backfill/backfill_rows.h"
#include "common/adapters/mysql/backfill/backfill_step.h"
#include "common/adapters/mysql/client/ascii.h"
#include "common/adapters/mysql/client/segment_merge.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/job_rows/calendar_rows.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/job_rows/request_keys.h"
#include "common/adapters/mysql/job_rows/schedule_rows.h"
#include "common/adapters/mysql/run_rows/cancel_rows.h"
#include "common/adapters/mysql/run_rows/count_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"

namespace carillon::mysql {
namespace {

// The rows from which the fires of a backfill follow.
struct Found {
  StoredJobRow job;
  Schedule schedule;
  BackfillQuestion question;
};

Result<Found> Find(Session& session, const BackfillTerms& terms, StoredJobRow job) {
  CARILLON_ASSIGN_OR_RETURN(const std::vector<StoredScheduleRow> rows,
                            ShareSchedules(session, job.job_no));
  const auto own = std::find_if(rows.begin(), rows.end(), [&](const StoredScheduleRow& row) {
    return row.due.schedule_id == terms.schedule_id;
  });
  if (own == rows.end()) {
    return {ErrorCode::kConflict, fmt::format("job {} has no schedule {}", terms.job_id.value(),
                                              terms.schedule_id.value())};
  }
  if (!own->due.readable) {
    return {ErrorCode::kCorrupt,
            fmt::format("schedule {} cannot be read", terms.schedule_id.value())};
  }
  WallTime place = own->place(job.definition.enabled);
  CARILLON_ASSIGN_OR_RETURN(Schedule schedule, CompileSchedule(session, own->due, &place));
  BackfillQuestion question{.span = {terms.from, terms.to, terms.order},
                            .next_fire = place,
                            .schedules = {.own = terms.schedule_id},
                            .rerun = terms.rerun};
  for (const StoredScheduleRow& row : rows) {
    question.schedules.present.insert(row.due.schedule_id);
  }
  return Found{std::move(job), std::move(schedule), std::move(question)};
}

Error AlreadyEnded(const Backfill& backfill) {
  return {ErrorCode::kConflict,
          fmt::format("backfill {} is {}", backfill.number, Name(backfill.state))};
}

Conditions WithinOf(const BackfillFilter& filter) {
  Conditions within;
  if (filter.job_id) {
    within.Add("b.job_no = (SELECT x.job_no FROM jobs x WHERE x.job_id = ?)",
               {filter.job_id->value()});
  }
  return within;
}

Conditions WantedOf(const BackfillFilter& filter) {
  Conditions wanted;
  if (filter.state) wanted.Add("b.state = ?", {Name(*filter.state)});
  return wanted;
}

// Ends a run of the backfill, or asks it to stop. Returns true if it has ended.
Result<bool> CancelOne(StoredRun& run, const CancelTools& tools, const WriteContext& context) {
  if (IsFinal(run.row.state)) return true;
  CARILLON_ASSIGN_OR_RETURN(const CancelEffect effect, CancelLocked(run, tools, TermsOf(context)));
  return effect == CancelEffect::kCancelledNow;
}

Status CancelRuns(Session& session, Incarnations& incarnations, Backfill* backfill,
                  const WriteContext& context) {
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, backfill->runs, incarnations));
  RunWriter writer(session);
  std::vector<RunKey> open;
  for (const RunKey& key : backfill->runs) {
    const auto found = runs.find(key);
    if (found != runs.end() && !found->second.readable) {
      open.push_back(key);
      continue;
    }
    const bool completed = found != runs.end() && found->second.row.state == RunState::kCompleted;
    bool ended = true;
    if (found != runs.end()) {
      CARILLON_ASSIGN_OR_RETURN(ended,
                                CancelOne(found->second, {session, incarnations, writer}, context));
    }
    if (!ended) {
      open.push_back(key);
    } else {
      ++(completed ? backfill->counts.succeeded : backfill->counts.failed);
    }
  }
  CARILLON_TRY(writer.Flush());
  if (context.ended != nullptr) *context.ended = writer.ended();
  backfill->runs = std::move(open);
  return {};
}

}  // namespace

Result<BackfillPreview> MysqlBackfillStore::PreviewBackfill(const BackfillTerms& terms) {
  if (!IsAscii(terms.job_id.value())) {
    return {ErrorCode::kNotFound, "no job " + terms.job_id.value()};
  }
  // Each statement is a transaction of its own, so its lock ends with it.
  return InList(db_.pool(), "preview backfill", [&](Session& session) -> Result<BackfillPreview> {
    CARILLON_ASSIGN_OR_RETURN(StoredJobRow job,
                              LockLiveJob(session, terms.job_id, JobLock::kShare));
    CARILLON_ASSIGN_OR_RETURN(const Found found, Find(session, terms, std::move(job)));
    return carillon::PreviewBackfill(found.schedule, found.question,
                                     [&](const std::vector<WallTime>& fires) {
                                       return ReadRunsAt(session, found.job.job_no, fires);
                                     });
  });
}

Result<Backfill> MysqlBackfillStore::CreateBackfill(
    const BackfillTerms& terms, const std::optional<KeyedAnswer<Backfill>>& keyed,
    const WriteContext& context) {
  if (!IsAscii(terms.job_id.value())) {
    return {ErrorCode::kNotFound, "no job " + terms.job_id.value()};
  }
  return InTransaction(
      db_.pool(), {.operation = "create backfill"}, [&](Session& session) -> Result<Backfill> {
        CARILLON_ASSIGN_OR_RETURN(StoredJobRow job,
                                  LockLiveJob(session, terms.job_id, JobLock::kUpdate));
        CARILLON_ASSIGN_OR_RETURN(const Found found, Find(session, terms, std::move(job)));
        CARILLON_ASSIGN_OR_RETURN(const bool open, HasOpenBackfill(session, found.job.job_no));
        if (open) {
          return {ErrorCode::kExists, "job " + terms.job_id.value() + " has an open backfill"};
        }
        Backfill backfill{.job_no = found.job.job_no,
                          .segment = found.job.segment,
                          .terms = terms,
                          .fires = found.schedule.Count(terms.from, terms.to),
                          .cursor = FirstCursor(terms.from, terms.to, terms.order),
                          .actor = context.actor,
                          .created = context.now};
        if (backfill.fires > kBackfillFiresMax) {
          return {ErrorCode::kExhausted, fmt::format("{} fires in the range", backfill.fires)};
        }
        CARILLON_TRY(InsertBackfill(session, &backfill));
        if (keyed) {
          CARILLON_TRY(SettleRequest(session, keyed->scope, keyed->key, keyed->answer(backfill)));
        }
        return backfill;
      });
}

Result<Backfill> MysqlBackfillStore::GetBackfill(uint64_t number) {
  return InRead(db_.pool(), "backfill",
                [&](Session& session) { return ReadBackfill(session, number); });
}

Result<std::vector<Backfill>> MysqlBackfillStore::ListBackfills(const BackfillFilter& filter) {
  if (filter.job_id && !IsAscii(filter.job_id->value())) return std::vector<Backfill>{};
  return InList(db_.pool(), "backfills", [&](Session& session) {
    Conditions where;
    where.Add("b.backfill_no < ?", {filter.before_number});
    where.Add(WithinOf(filter));
    where.Add(WantedOf(filter));
    return ReadBackfills(session, where.text(), where.params(), filter.limit);
  });
}

Result<BoundedCount> MysqlBackfillStore::CountBackfills(const BackfillFilter& filter) {
  if (filter.job_id && !IsAscii(filter.job_id->value())) return kNoneCounted;
  return CountIn(db_.pool(), {.from = "backfills b",
                              .order = "b.backfill_no DESC",
                              .within = WithinOf(filter),
                              .wanted = WantedOf(filter)});
}

Result<Backfill> MysqlBackfillStore::SetState(uint64_t number, BackfillState state) {
  return InTransaction(
      db_.pool(), {.operation = "change backfill"}, [&](Session& session) -> Result<Backfill> {
        CARILLON_ASSIGN_OR_RETURN(Backfill backfill, LockBackfill(session, number));
        if (!IsOpen(backfill.state)) return AlreadyEnded(backfill);
        backfill.state = state;
        CARILLON_TRY(UpdateBackfill(session, backfill));
        return backfill;
      });
}

Result<Backfill> MysqlBackfillStore::PauseBackfill(uint64_t number, const WriteContext&) {
  return SetState(number, BackfillState::kPaused);
}

Result<Backfill> MysqlBackfillStore::ResumeBackfill(uint64_t number, const WriteContext&) {
  return SetState(number, BackfillState::kRunning);
}

Result<Backfill> MysqlBackfillStore::CancelBackfill(uint64_t number, const WriteContext& context) {
  return InTransaction(
      db_.pool(), {.operation = "cancel backfill"}, [&](Session& session) -> Result<Backfill> {
        CARILLON_ASSIGN_OR_RETURN(Backfill backfill, LockBackfill(session, number));
        if (backfill.state == BackfillState::kCancelled) return backfill;
        if (!IsOpen(backfill.state)) return AlreadyEnded(backfill);
        backfill.state = BackfillState::kCancelled;
        CARILLON_TRY(CancelRuns(session, db_.caches().incarnations, &backfill, context));
        if (backfill.runs.empty()) backfill.ended = context.now;
        CARILLON_TRY(UpdateBackfill(session, backfill));
        return backfill;
      });
}

Result<std::vector<OpenBackfill>> MysqlBackfillStore::ScanBackfills(
    const std::vector<SegmentId>& segments, uint64_t after, size_t limit) {
  if (segments.empty() || limit == 0) return std::vector<OpenBackfill>{};
  // A branch for each segment, so that each reads only its range of the index.
  static const std::string branch =
      "SELECT b.backfill_no, b.job_no, b.segment FROM backfills b FORCE INDEX (open_backfills) "
      "WHERE b.open_segment = ? AND b.backfill_no > ? ORDER BY b.backfill_no LIMIT ?";
  Params params;
  for (const SegmentId segment : segments) {
    params.emplace_back(static_cast<uint64_t>(segment.value()));
    params.emplace_back(after);
    params.emplace_back(static_cast<uint64_t>(limit));
  }
  return InRead(
      db_.pool(), "scan backfills", [&](Session& session) -> Result<std::vector<OpenBackfill>> {
        CARILLON_ASSIGN_OR_RETURN(Rows rows,
                                  session.Query(UnionOf(branch, segments.size()), params));
        std::vector<OpenBackfill> open;
        while (rows.Next()) {
          open.push_back({rows.Unsigned(1), JobNo(rows.Unsigned(2)),
                          SegmentId(static_cast<uint32_t>(rows.Unsigned(3)))});
        }
        std::sort(open.begin(), open.end(),
                  [](const OpenBackfill& a, const OpenBackfill& b) { return a.number < b.number; });
        if (open.size() > limit) open.resize(limit);
        return open;
      });
}

Result<BackfillEffect> MysqlBackfillStore::StepBackfill(const OpenBackfill& backfill,
                                                        const Fence& fence, WallTime now,
                                                        Duration retention) {
  CARILLON_TRY(CheckBatch(std::vector<OpenBackfill>{backfill}, fence, "backfill"));
  const StepRules rules{db_.caches().incarnations, fence, now, retention};
  return InTransaction(db_.pool(), {.operation = "backfill", .retry_duplicates = true},
                       [&](Session& session) { return StepBatch(session, backfill, rules); });
}

}  // namespace carillon::mysql
