#include "common/adapters/mysql/notices/mysql_notice_store.h"

#include <fmt/core.h>

#include <map>

#include "common/adapters/mysql/client/ascii.h"
#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/notices/deliveries.h"
#include "common/adapters/mysql/run_rows/count_rows.h"
#include "common/adapters/mysql/run_rows/notice_rows.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/wire/json/job/job_json.h"

namespace carillon::mysql {
namespace {

// First part of a join: the given segments, with the alias k. The name of a table is appended. The
// join finds the table's open rows in these segments.
constexpr std::string_view kOpenSegments =
    "JSON_TABLE(" CARILLON_JSON ", '$[*]' COLUMNS (g INT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN ";

Result<Notice> ReadNotice(const Rows& rows) {
  CARILLON_ASSIGN_OR_RETURN(const NoticeKind kind, ParseNoticeKind(rows.Text(3)));
  CARILLON_ASSIGN_OR_RETURN(const RunState state, ParseRunState(rows.Text(9)));
  return Notice{
      .id = rows.Unsigned(1),
      .kind = kind,
      .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(2))),
      .job_no = JobNo(rows.Unsigned(4)),
      .key = {rows.Time(5), ScheduleId(rows.Unsigned(6)), static_cast<uint32_t>(rows.Unsigned(7))},
      .attempt = static_cast<int>(rows.Int(8)),
      .state = state,
      .reason = rows.Text(10),
      .fires = rows.Int(11),
      .until = rows.Time(12),
      .created = rows.Time(13)};
}

Result<std::vector<OpenNotice>> FetchOpen(Session& session, const std::string& segments,
                                          size_t limit) {
  static const std::string statement =
      "SELECT n.id, n.segment, n.kind, n.job_no, n.fire_us, n.schedule_id, n.shard, n.attempt, "
      "n.state, n.reason, n.fires, n.until_us, n.created_us, j.job_id, j.name, v.definition, "
      "COALESCE(m.told_us, 0), COALESCE(m.held_back, 0), COALESCE(m.kind = 'failed' AND "
      "m.watched_segment IS NULL, 0), COALESCE(c.told_us, 0), COALESCE(c.held_back, 0) FROM "
      "(SELECT o.id FROM " +
      std::string(kOpenSegments) +
      "notices o FORCE INDEX (open_notices) ON o.open_segment = k.g ORDER BY o.id LIMIT ?) x "
      "STRAIGHT_JOIN notices n FORCE INDEX (PRIMARY) ON n.id = x.id STRAIGHT_JOIN jobs j "
      "FORCE INDEX (PRIMARY) ON j.job_no = n.job_no LEFT JOIN job_versions v ON "
      "v.job_no = j.job_no AND v.version = j.version LEFT JOIN notice_memories m ON "
      "m.job_no = n.job_no AND m.kind = n.kind LEFT JOIN notice_memories c ON c.job_no = 0 AND "
      "c.kind = n.kind ORDER BY n.id";
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Query(statement, {segments, static_cast<uint64_t>(limit)}));
  std::vector<OpenNotice> open;
  while (rows.Next()) {
    const auto notice = ReadNotice(rows);
    if (!notice.ok()) {
      session.NoteUnreadable("notices", rows.Text(1), notice.error().message);
      continue;
    }
    OpenNotice one{.notice = *notice, .job_id = JobId(rows.Text(14)), .job_name = rows.Text(15)};
    const auto definition = DefinitionFromText(rows.Text(16), one.job_id);
    if (definition.ok()) one.rules = definition->notify;
    // The end of the workflow's own run is told, not those of its tasks.
    if (IsTaskJob(one.notice.job_no)) one.rules = {.on = std::vector<NoticeKind>{}};
    one.memory = {.told = rows.Time(17), .held_back = rows.Int(18), .recovered = rows.Int(19) != 0};
    if (SharesMemory(one.notice, one.rules)) {
      one.memory = {.told = rows.Time(20), .held_back = rows.Int(21)};
    }
    open.push_back(std::move(one));
  }
  return open;
}

Status InsertDelivery(Session& session, const Notice& notice, const NewDelivery& delivery,
                      WallTime now) {
  std::string recipients;
  for (const std::string& one : delivery.recipients) {
    recipients += (recipients.empty() ? "" : ",") + one;
  }
  const auto segment = static_cast<uint64_t>(notice.segment.value());
  const int64_t now_us = ToUnixMicros(now);
  CARILLON_TRY(session.Execute(
      "INSERT INTO deliveries (notice_id, channel, segment, open_segment, kind, job_no, fire_us, "
      "schedule_id, shard, state, created_us, asked_us, due_us, error, recipients, message) VALUES "
      "(?, ?, ?, ?, ?, ?, ?, ?, ?, 'PENDING', ?, ?, ?, '', ?, ?)",
      {notice.id, Name(delivery.channel), segment, segment, Name(notice.kind),
       notice.job_no.value(), ToUnixMicros(notice.key.fire), notice.key.schedule_id.value(),
       static_cast<uint64_t>(notice.key.shard), now_us, now_us, now_us, recipients,
       delivery.message}));
  return {};
}

// Remembers that a notice was sent. After a failure this starts the watch for a success.
Status RememberNotice(Session& session, const NoticeDecision& decision, WallTime now) {
  const Notice& notice = decision.notice;
  const bool failed = notice.kind == NoticeKind::kFailed;
  const auto segment = static_cast<uint64_t>(notice.segment.value());
  const Param watched = failed ? Param(segment) : Param(nullptr);
  CARILLON_TRY(session.Execute(
      "INSERT INTO notice_memories (job_no, kind, segment, watched_segment, told_us, "
      "failed_fire_us, failed_us) VALUES (?, ?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE "
      "watched_segment = VALUES(watched_segment), told_us = VALUES(told_us), held_back = 0, "
      "failed_fire_us = VALUES(failed_fire_us), failed_us = VALUES(failed_us)",
      {MemoryOf(decision).value(), Name(notice.kind), segment, watched, ToUnixMicros(now),
       failed ? ToUnixMicros(notice.key.fire) : 0, failed ? ToUnixMicros(notice.created) : 0}));
  return {};
}

// The held-back notices of one job and kind. Their number is added to the job's notice memory. For
// failures, so are the fire and the time after which a success counts as a recovery.
struct HeldBack {
  int64_t count = 0;
  int64_t failed_fire_us = 0;
  int64_t failed_us = 0;
};
using HeldBacks = std::map<std::pair<JobNo, NoticeKind>, HeldBack>;

void Add(HeldBacks& held, const NoticeDecision& decision) {
  const Notice& notice = decision.notice;
  HeldBack& sum = held[{MemoryOf(decision), notice.kind}];
  ++sum.count;
  if (notice.kind != NoticeKind::kFailed) return;
  sum.failed_fire_us = std::max(sum.failed_fire_us, ToUnixMicros(notice.key.fire));
  sum.failed_us = std::max(sum.failed_us, ToUnixMicros(notice.created));
}

Status RememberHeldBack(Session& session, const HeldBacks& held) {
  if (held.empty()) return {};
  JsonRows rows;
  for (const auto& [of, sum] : held) {
    rows.Begin()
        .Add(of.first.value())
        .Add(Name(of.second))
        .Add(sum.count)
        .Add(sum.failed_fire_us)
        .Add(sum.failed_us);
  }
  CARILLON_TRY(session.Execute(
      "UPDATE JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (j BIGINT UNSIGNED PATH '$[0]', k VARCHAR(16) "
      "CHARACTER SET ascii PATH '$[1]', n BIGINT PATH '$[2]', f BIGINT PATH '$[3]', u BIGINT PATH "
      "'$[4]')) k STRAIGHT_JOIN notice_memories m FORCE INDEX (PRIMARY) ON m.job_no = k.j AND "
      "m.kind = k.k SET m.held_back = m.held_back + k.n, m.failed_fire_us = "
      "GREATEST(m.failed_fire_us, k.f), m.failed_us = GREATEST(m.failed_us, k.u)",
      {rows.Take()}));
  return {};
}

// Closes the `count` notices with these ids. `statement` is "DELETE n FROM", or "UPDATE" with its
// SET clause in `set`. kConflict: one of the notices was already closed.
Status Close(Session& session, const std::string& statement, JsonRows ids, int64_t count,
             const std::string& set = "") {
  if (count == 0) return {};
  CARILLON_ASSIGN_OR_RETURN(
      const int64_t matched,
      session.Execute(statement +
                          " JSON_TABLE(" CARILLON_JSON
                          ", '$[*]' COLUMNS (i BIGINT UNSIGNED PATH '$[0]')) k "
                          "STRAIGHT_JOIN notices n FORCE INDEX (PRIMARY) ON n.id = k.i " +
                          set + " WHERE n.open_segment IS NOT NULL",
                      {ids.Take()}));
  if (matched == count) return {};
  return {ErrorCode::kConflict,
          fmt::format("{} of {} notices were decided about meanwhile", count - matched, count)};
}

// Thousands of notices per second may be held back or dropped, so any number of these notices costs
// the same few statements. Only the few notices that are sent need statements of their own.
Status DecideAll(Session& session, const std::vector<NoticeDecision>& decisions, WallTime now) {
  JsonRows dropped;
  JsonRows kept;
  int64_t drops = 0;
  HeldBacks held;
  for (const NoticeDecision& decision : decisions) {
    const bool drop = decision.verdict == NoticeVerdict::kDrop;
    (drop ? dropped : kept).Begin().Add(decision.notice.id);
    if (drop) ++drops;
    if (decision.verdict == NoticeVerdict::kHoldBack) Add(held, decision);
    // A notice that is sent replaces all notices that were held back before it.
    if (decision.verdict == NoticeVerdict::kTell) {
      held.erase({MemoryOf(decision), decision.notice.kind});
    }
  }
  const auto count = static_cast<int64_t>(decisions.size());
  CARILLON_TRY(Close(session, "DELETE n FROM", std::move(dropped), drops));
  CARILLON_TRY(
      Close(session, "UPDATE", std::move(kept), count - drops, "SET n.open_segment = NULL"));
  for (const NoticeDecision& decision : decisions) {
    if (decision.verdict != NoticeVerdict::kTell) continue;
    for (const NewDelivery& delivery : decision.deliveries) {
      CARILLON_TRY(InsertDelivery(session, decision.notice, delivery, now));
    }
    CARILLON_TRY(RememberNotice(session, decision, now));
  }
  return RememberHeldBack(session, held);
}

struct Watched {
  SegmentId segment;
  JobNo job_no;
  int64_t failed_fire_us = 0;
  int64_t failed_us = 0;
};

Result<std::vector<Watched>> FetchWatched(Session& session, const std::string& segments,
                                          std::optional<JobNo> after, size_t limit) {
  static const std::string statement =
      "SELECT m.segment, m.job_no, m.failed_fire_us, m.failed_us FROM " +
      std::string(kOpenSegments) +
      "notice_memories m FORCE INDEX (watched) ON m.watched_segment = k.g WHERE m.job_no > ? "
      "ORDER BY m.job_no LIMIT ?";
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(statement, {segments, after ? after->value() : uint64_t{0},
                                           static_cast<uint64_t>(limit)}));
  std::vector<Watched> watched;
  while (rows.Next()) {
    watched.push_back({.segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(1))),
                       .job_no = JobNo(rows.Unsigned(2)),
                       .failed_fire_us = rows.Int(3),
                       .failed_us = rows.Int(4)});
  }
  return watched;
}

// Limits the search for a success to this many of the newest fires that were due. Otherwise all
// runs of a job that has only skipped runs after a failure would be read each time. The failed run
// itself is always checked too, because a retry of it may have succeeded.
constexpr uint64_t kFiresLookedAt = 5000;

Result<std::optional<Recovery>> FindRecovery(Session& session, const Watched& watched,
                                             WallTime now) {
  static const std::string statement = fmt::format(
      "SELECT x.fire_us, x.schedule_id, x.shard, x.attempt FROM ((SELECT fire_us, schedule_id, "
      "shard, attempt, state, ended_us FROM job_runs FORCE INDEX (by_job) WHERE job_no = ? AND "
      "fire_us > ? AND fire_us <= ? AND shard = 0 ORDER BY fire_us DESC, "
      "schedule_id DESC, shard DESC LIMIT {}) UNION ALL (SELECT "
      "fire_us, schedule_id, shard, attempt, state, ? + 1 FROM job_runs FORCE INDEX (by_job) WHERE "
      "job_no = ? AND fire_us = ? AND shard = 0)) x WHERE x.state = 'COMPLETED' AND x.ended_us > ? "
      "ORDER BY "
      "x.fire_us, x.schedule_id, x.shard LIMIT 1",
      kFiresLookedAt);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(statement, {watched.job_no.value(), watched.failed_fire_us, ToUnixMicros(now),
                                watched.failed_us, watched.job_no.value(), watched.failed_fire_us,
                                watched.failed_us}));
  if (!rows.Next()) return std::optional<Recovery>();
  return std::optional<Recovery>(Recovery{
      .segment = watched.segment,
      .job_no = watched.job_no,
      .key = {rows.Time(1), ScheduleId(rows.Unsigned(2)), static_cast<uint32_t>(rows.Unsigned(3))},
      .attempt = static_cast<int>(rows.Int(4))});
}

}  // namespace

Result<std::vector<OpenNotice>> MysqlNoticeStore::ScanNotices(
    const std::vector<SegmentId>& segments, size_t limit) {
  if (segments.empty()) return std::vector<OpenNotice>{};
  const std::string list = SegmentList(segments);
  return InRead(db_.pool(), "notices",
                [&](Session& session) { return FetchOpen(session, list, limit); });
}

Result<std::optional<RunDetail>> MysqlNoticeStore::FindRun(const Notice& notice) {
  using Found = Result<std::optional<RunDetail>>;
  if (notice.kind == NoticeKind::kMissed) return std::optional<RunDetail>();
  return InRead(db_.pool(), "notices", [&](Session& session) -> Found {
    auto run = ReadDetail(session, notice.key, db_.caches().incarnations);
    if (run.ok()) return std::optional(std::move(run).value());
    const bool gone = run.code() == ErrorCode::kNotFound || run.code() == ErrorCode::kCorrupt;
    return gone ? Found(std::optional<RunDetail>()) : Found(run.error());
  });
}

Status MysqlNoticeStore::DecideNotices(const std::vector<NoticeDecision>& decisions,
                                       const Fence& fence, WallTime now) {
  if (decisions.empty()) return {};
  std::vector<Notice> notices;
  notices.reserve(decisions.size());
  for (const NoticeDecision& decision : decisions) notices.push_back(decision.notice);
  CARILLON_TRY(CheckBatch(notices, fence, "notices"));
  return InTransaction(db_.pool(), {.operation = "decide notices"},
                       [&](Session& session) -> Status {
                         CARILLON_TRY(LockFence(session, fence));
                         return DecideAll(session, decisions, now);
                       });
}

Status MysqlNoticeStore::AddNotices(const std::vector<Notice>& notices, const Fence& fence) {
  if (notices.empty()) return {};
  CARILLON_TRY(CheckBatch(notices, fence, "notices"));
  return InTransaction(db_.pool(), {.operation = "notices"}, [&](Session& session) -> Status {
    CARILLON_TRY(LockFence(session, fence));
    JsonRows rows;
    JsonRows recovered;
    for (const Notice& notice : notices) {
      rows.Begin()
          .Add(notice.key)
          .Add(notice.segment.value())
          .Add(Name(notice.kind))
          .Add(notice.job_no.value())
          .Add(notice.attempt)
          .Add(Name(notice.state))
          .Add(notice.reason)
          .Add(notice.created);
      if (notice.kind == NoticeKind::kRecovered) recovered.Begin().Add(notice.job_no.value());
    }
    CARILLON_TRY(session.Execute(kInsertNotices, {rows.Take()}));
    if (recovered.empty()) return {};
    CARILLON_TRY(session.Execute(
        "UPDATE JSON_TABLE(" CARILLON_JSON
        ", '$[*]' COLUMNS (j BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN "
        "notice_memories m FORCE INDEX (PRIMARY) ON m.job_no = k.j AND m.kind = 'failed' "
        "SET m.watched_segment = NULL, m.held_back = 0",
        {recovered.Take()}));
    return {};
  });
}

Result<RecoveryPage> MysqlNoticeStore::ScanRecoveries(const std::vector<SegmentId>& segments,
                                                      std::optional<JobNo> after, WallTime now,
                                                      size_t limit) {
  if (segments.empty()) return RecoveryPage{};
  const std::string list = SegmentList(segments);
  return InRead(db_.pool(), "recoveries", [&](Session& session) -> Result<RecoveryPage> {
    CARILLON_ASSIGN_OR_RETURN(const std::vector<Watched> watched,
                              FetchWatched(session, list, after, limit));
    RecoveryPage page;
    for (const Watched& job : watched) {
      CARILLON_ASSIGN_OR_RETURN(const std::optional<Recovery> found,
                                FindRecovery(session, job, now));
      if (found) page.recoveries.push_back(*found);
    }
    if (watched.size() == limit) page.next = watched.back().job_no;
    return page;
  });
}

Result<std::vector<Delivery>> MysqlNoticeStore::ScanDeliveries(
    const std::vector<SegmentId>& segments, const std::vector<DeliveryChannel>& channels,
    WallTime now, size_t limit) {
  if (segments.empty() || channels.empty()) return std::vector<Delivery>{};
  return InRead(db_.pool(), "deliveries", [&](Session& session) {
    return ReadDueDeliveries(session, segments, channels, now, limit);
  });
}

Status MysqlNoticeStore::RecordDelivery(const DeliveryOutcome& outcome, const Fence& fence,
                                        WallTime now) {
  CARILLON_TRY(CheckBatch(std::vector<DeliveryOutcome>{outcome}, fence, "delivery"));
  return InTransaction(db_.pool(), {.operation = "delivery"}, [&](Session& session) -> Status {
    CARILLON_TRY(LockFence(session, fence));
    return WriteOutcome(session, outcome, now);
  });
}

Result<DeliveryBacklog> MysqlNoticeStore::ReadBacklog(const std::vector<SegmentId>& segments) {
  if (segments.empty()) return DeliveryBacklog{};
  return InRead(db_.pool(), "deliveries",
                [&](Session& session) { return ReadDeliveryBacklog(session, segments); });
}

Result<std::vector<Delivery>> MysqlNoticeStore::ListDeliveries(const DeliveryFilter& filter) {
  if (filter.job_id && !IsAscii(filter.job_id->value())) return std::vector<Delivery>{};
  return InList(db_.pool(), "deliveries",
                [&](Session& session) { return ReadDeliveries(session, filter); });
}

Result<BoundedCount> MysqlNoticeStore::CountDeliveries(const DeliveryFilter& filter) {
  if (filter.job_id && !IsAscii(filter.job_id->value())) return kNoneCounted;
  return CountIn(db_.pool(), DeliveriesOf(filter));
}

Result<Delivery> MysqlNoticeStore::ResendDelivery(uint64_t id, WallTime now) {
  return InTransaction(db_.pool(), {.operation = "delivery"},
                       [&](Session& session) { return WriteResend(session, id, now); });
}

}  // namespace carillon::mysql
