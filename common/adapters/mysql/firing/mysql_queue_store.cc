#include "common/adapters/mysql/firing/mysql_queue_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "common/adapters/mysql/client/ascii.h"
#include "common/adapters/mysql/client/segment_merge.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/firing/group_batch.h"
#include "common/adapters/mysql/firing/queue_batch.h"
#include "common/adapters/mysql/run_rows/run_rows.h"

namespace carillon::mysql {
namespace {

// Joins job_runs r, by its primary key, to a table whose rows name runs.
std::string JoinRuns(std::string_view table) {
  return fmt::format(
      " STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = {0}.fire_us AND "
      "r.schedule_id = {0}.schedule_id AND r.shard = {0}.shard",
      table);
}

// Excludes rows of run_waits that a member of a version without queues has left.
std::string IsQueued() {
  return fmt::format("r.state = 'PENDING' AND r.due_us = {}", ToUnixMicros(kQueued));
}

// Each branch reads only the index of its segment; at worst each queued run once.
Result<std::vector<QueuedJob>> ReadAdmissible(Session& session,
                                              const std::vector<SegmentId>& segments, JobNo after,
                                              size_t limit) {
  static const std::string rest = fmt::format(
      ") q STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = q.job_no WHERE "
      "j.deleted = 0 AND (j.overlap_policy IN ('{}', '{}', '{}') OR (SELECT COUNT(*) FROM "
      "run_slots t FORCE INDEX (PRIMARY) WHERE t.job_no = q.job_no) < j.max_running) "
      "ORDER BY q.job_no LIMIT ?",
      Name(OverlapPolicy::kAllow), Name(OverlapPolicy::kCancelPrevious),
      Name(OverlapPolicy::kTerminatePrevious));
  Params params;
  for (const SegmentId segment : segments) {
    params.emplace_back(static_cast<uint64_t>(segment.value()));
    params.emplace_back(after.value());
  }
  params.emplace_back(static_cast<uint64_t>(limit));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT q.job_no, q.segment FROM (" +
                        UnionOf("SELECT DISTINCT w.segment, w.job_no FROM run_waits w FORCE INDEX "
                                "(by_place) WHERE w.segment = ? AND w.group_no = 0 AND w.job_no > "
                                "?",
                                segments.size()) +
                        rest,
                    params));
  std::vector<QueuedJob> jobs;
  while (rows.Next()) {
    jobs.push_back({JobNo(rows.Unsigned(1)), SegmentId(static_cast<uint32_t>(rows.Unsigned(2)))});
  }
  return jobs;
}

// A branch for each segment: only for a constant segment is the time of expiry a range of the
// index.
Result<std::vector<SkipItem>> ReadExpired(Session& session, const std::vector<SegmentId>& segments,
                                          WallTime now, size_t limit) {
  static const std::string branch =
      "SELECT r.fire_us, r.schedule_id, r.shard, r.segment, r.job_no, r.attempt, r.def_version "
      "FROM run_waits w FORCE INDEX (by_expiry)" +
      JoinRuns("w") + " WHERE w.segment = ? AND w.expires_us <= ? AND " + IsQueued() +
      " ORDER BY w.expires_us LIMIT ?";
  Params params;
  for (const SegmentId segment : segments) {
    params.emplace_back(static_cast<uint64_t>(segment.value()));
    params.emplace_back(ToUnixMicros(std::min(now, kNever - 1us)));
    params.emplace_back(static_cast<uint64_t>(limit));
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionOf(branch, segments.size()), params));
  std::vector<SkipItem> items;
  while (items.size() < limit && rows.Next()) {
    items.push_back({.key = {.fire = rows.Time(1),
                             .schedule_id = ScheduleId(rows.Unsigned(2)),
                             .shard = static_cast<uint32_t>(rows.Unsigned(3))},
                     .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(4))),
                     .job_no = JobNo(rows.Unsigned(5)),
                     .attempt = static_cast<int>(rows.Int(6)),
                     .def_version = rows.Int(7),
                     .reason = reason::kQueueTimeout,
                     .due = kQueued});
  }
  return items;
}

// Reads runs as users see them; those that this version cannot read are left out.
Result<std::vector<RunRow>> ReadRows(Session& session, Incarnations& incarnations,
                                     const std::string& from, const Params& params) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT " + kRunColumns + from, params));
  CARILLON_ASSIGN_OR_RETURN(std::vector<StoredRun> runs,
                            ReadRuns(session, std::move(rows), incarnations));
  std::vector<RunRow> read;
  for (StoredRun& run : runs) {
    if (run.readable) read.push_back(std::move(run.row));
  }
  return read;
}

Result<JobQueue> ReadJobQueue(Session& session, Incarnations& incarnations, const JobId& id,
                              size_t limit) {
  static const std::string holders =
      " FROM run_slots t FORCE INDEX (PRIMARY)" + JoinRuns("t") +
      " WHERE t.job_no = ? ORDER BY r.fire_us, r.schedule_id, r.shard";
  static const std::string queued =
      " FROM run_waits w FORCE INDEX (by_place)" + JoinRuns("w") +
      " WHERE w.segment = ? AND w.group_no = 0 AND w.job_no = ? AND " + IsQueued() +
      " ORDER BY w.fire_us, w.schedule_id, w.shard LIMIT ?";
  uint64_t job_no = 0;
  uint64_t segment = 0;
  bool takes_slots = false;
  {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT j.job_no, j.segment, j.overlap_policy FROM jobs j WHERE "
                                 "j.job_id = ? AND j.deleted = 0",
                                 {id.value()}));
    if (!rows.Next()) return {ErrorCode::kNotFound, "no job " + id.value()};
    job_no = rows.Unsigned(1);
    segment = rows.Unsigned(2);
    takes_slots = rows.Text(3) != Name(OverlapPolicy::kAllow);
  }
  JobQueue queue;
  // Runs that took slots before overlap was allowed keep the rows, which have no effect.
  if (takes_slots) {
    CARILLON_ASSIGN_OR_RETURN(queue.holders, ReadRows(session, incarnations, holders, {job_no}));
  }
  CARILLON_ASSIGN_OR_RETURN(
      queue.queued,
      ReadRows(session, incarnations, queued, {segment, job_no, static_cast<uint64_t>(limit)}));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT COUNT(*) FROM run_waits w FORCE INDEX (by_place) WHERE "
                               "w.segment = ? AND w.group_no = 0 AND w.job_no = ?",
                               {segment, job_no}));
  rows.Next();
  // Runs may have left the queue between the statements.
  queue.length = std::max(rows.Int(1), static_cast<int64_t>(queue.queued.size()));
  return queue;
}

// The condition that a row of run_waits w goes before a run in the queue of its job, and its
// values.
const std::string kEarlierKey =
    "w.fire_us < ? OR (w.fire_us = ? AND (w.schedule_id < ? OR (w.schedule_id = ? AND w.shard < "
    "?)))";

Params EarlierKey(const RunKey& key) {
  const int64_t fire = ToUnixMicros(key.fire);
  const uint64_t schedule = key.schedule_id.value();
  return {fire, fire, schedule, schedule, static_cast<uint64_t>(key.shard)};
}

Result<std::optional<QueuePlace>> ReadPlace(Session& session, const RunKey& key) {
  static const std::string own =
      "SELECT w.segment, w.job_no, w.queued_us, w.group_no, w.rank_no, COALESCE((SELECT g.name "
      "FROM concurrency_groups g WHERE g.group_no = w.group_no), '') FROM run_waits w FORCE INDEX "
      "(PRIMARY)" +
      JoinRuns("w") + " WHERE w.fire_us = ? AND w.schedule_id = ? AND w.shard = ? AND " +
      IsQueued();
  static const std::string in_job =
      "SELECT COUNT(*), COUNT(IF(" + kEarlierKey +
      ", 1, NULL)) FROM run_waits w FORCE INDEX (by_place) WHERE w.segment = ? AND w.group_no = 0 "
      "AND w.job_no = ?";
  static const std::string in_group =
      "SELECT COUNT(*), COUNT(IF(w.rank_no < ? OR (w.rank_no = ? AND (" + kEarlierKey +
      ")), 1, NULL)) FROM run_waits w FORCE INDEX (by_group) WHERE w.group_no = ?";
  QueuePlace place;
  Params params;
  uint64_t group = 0;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query(own, {ToUnixMicros(key.fire), key.schedule_id.value(),
                                                  static_cast<uint64_t>(key.shard)}));
    if (!rows.Next()) return std::optional<QueuePlace>();
    place.since = rows.Time(3);
    group = rows.Unsigned(4);
    const Params earlier = EarlierKey(key);
    if (group != 0) params = {rows.Int(5), rows.Int(5)};
    params.insert(params.end(), earlier.begin(), earlier.end());
    if (group != 0) {
      params.emplace_back(group);
      place.group = rows.Text(6);
    } else {
      params.emplace_back(rows.Unsigned(1));
      params.emplace_back(rows.Unsigned(2));
    }
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(group != 0 ? in_group : in_job, params));
  rows.Next();
  place.position = rows.Int(2) + 1;
  // The run itself may have left the queue between the statements.
  place.length = std::max(rows.Int(1), place.position);
  return std::optional(std::move(place));
}

}  // namespace

Result<std::vector<QueuedJob>> MysqlQueueStore::ScanQueues(const std::vector<SegmentId>& segments,
                                                           JobNo after, size_t limit) {
  if (segments.empty() || limit == 0) return std::vector<QueuedJob>{};
  return InRead(db_.pool(), "scan queues",
                [&](Session& session) { return ReadAdmissible(session, segments, after, limit); });
}

Result<AdmissionEffect> MysqlQueueStore::Admit(const QueuedJob& job, const Fence& fence,
                                               WallTime now) {
  CARILLON_TRY(CheckBatch(std::vector<QueuedJob>{job}, fence, "admit"));
  const AdmitRules rules{db_.caches().incarnations, fence, now};
  // A duplicate key means that a claim took the slot between our read and our insert: the
  // transaction runs again.
  return InTransaction(db_.pool(), {.operation = "admit", .retry_duplicates = true},
                       [&](Session& session) { return AdmitBatch(session, job, rules); });
}

Result<GroupScan> MysqlQueueStore::ScanGroups(const std::vector<SegmentId>& segments, GroupNo after,
                                              size_t limit, WallTime now) {
  if (segments.empty() || limit == 0) return GroupScan{};
  return InRead(db_.pool(), "scan groups", [&](Session& session) {
    return ReadAdmissibleGroups(session, segments, after, limit, now);
  });
}

Result<AdmissionEffect> MysqlQueueStore::AdmitGroup(const QueuedGroup& group, const Fence& fence,
                                                    WallTime now) {
  const AdmitRules rules{db_.caches().incarnations, fence, now};
  return InTransaction(db_.pool(), {.operation = "admit to group"}, [&](Session& session) {
    return AdmitGroupBatch(session, group.group_no, rules);
  });
}

Result<std::vector<UnusedSlot>> MysqlQueueStore::ScanUnusedSlots(
    const std::vector<SegmentId>& segments, WallTime now, size_t limit) {
  if (segments.empty() || limit == 0) return std::vector<UnusedSlot>{};
  const uint64_t from = db_.caches().slots_from.load();
  CARILLON_ASSIGN_OR_RETURN(UnusedSlots found,
                            InRead(db_.pool(), "scan unused slots", [&](Session& session) {
                              return ReadUnusedSlots(session, segments, now, limit, from);
                            }));
  db_.caches().slots_from = found.next;
  return std::move(found.slots);
}

Result<size_t> MysqlQueueStore::ReclaimSlots(const std::vector<UnusedSlot>& slots,
                                             const Fence& fence, WallTime now) {
  if (slots.empty()) return size_t{0};
  const AdmitRules rules{db_.caches().incarnations, fence, now};
  return InTransaction(db_.pool(), {.operation = "reclaim slots"},
                       [&](Session& session) { return ReclaimBatch(session, slots, rules); });
}

Result<std::vector<SkipItem>> MysqlQueueStore::ScanExpired(const std::vector<SegmentId>& segments,
                                                           WallTime now, size_t limit) {
  if (segments.empty() || limit == 0) return std::vector<SkipItem>{};
  return InRead(db_.pool(), "scan expired",
                [&](Session& session) { return ReadExpired(session, segments, now, limit); });
}

Result<int64_t> MysqlQueueStore::CountQueued() {
  return InRead(db_.pool(), "count queued", [](Session& session) -> Result<int64_t> {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query("SELECT COUNT(*) FROM (SELECT 1 FROM run_waits LIMIT ?) x", {kCountedMax}));
    rows.Next();
    return rows.Int(1);
  });
}

Result<JobQueue> MysqlQueueStore::ReadQueue(const JobId& id, size_t limit) {
  if (!IsAscii(id.value())) return {ErrorCode::kNotFound, "no job " + id.value()};
  return InList(db_.pool(), "read queue", [&](Session& session) {
    return ReadJobQueue(session, db_.caches().incarnations, id, limit);
  });
}

Result<std::optional<QueuePlace>> MysqlQueueStore::PlaceOf(const RunKey& key) {
  return InRead(db_.pool(), "place in queue",
                [&](Session& session) { return ReadPlace(session, key); });
}

}  // namespace carillon::mysql
