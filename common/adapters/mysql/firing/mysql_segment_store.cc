#include "common/adapters/mysql/firing/mysql_segment_store.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/base/log.h"

namespace carillon::mysql {
namespace {

constexpr int kTakeTriesMax = 3;  // each try ends the old owner's connections again

const std::string kSegmentColumns =
    "s.segment, s.owner, s.incarnation, s.epoch, s.assign_gen, s.connections = '', s.lease_us, "
    "s.lease_before_us, s.taken_us";
const std::string kNowColumn = ", " + std::string(kDatabaseNow);
const std::string kNumbersJoinSegments =
    "JSON_TABLE(" CARILLON_JSON
    ", '$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]')) k "
    "STRAIGHT_JOIN segments s FORCE INDEX (PRIMARY) ON s.segment = k.n";

std::string NumbersOf(const std::vector<SegmentId>& segments) {
  JsonRows rows;
  for (const SegmentId segment : segments) rows.Begin().Add(segment.value());
  return rows.Take();
}

SegmentRecord ReadSegment(const Rows& rows) {
  return {.segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(1))),
          .owner = MemberId(rows.Text(2)),
          .incarnation = Incarnation(rows.Text(3)),
          .epoch = Epoch(rows.Unsigned(4)),
          .assign_gen = Generation(rows.Unsigned(5)),
          .released = rows.Int(6) != 0,
          .lease = Duration(rows.Int(7)),
          .lease_before = Duration(rows.Int(8)),
          .taken = rows.Time(9)};
}

std::vector<SegmentRecord> ReadSegments(Rows rows) {
  std::vector<SegmentRecord> records;
  while (rows.Next()) records.push_back(ReadSegment(rows));
  return records;
}

bool MayTake(const SegmentRecord& record, const TakeRequest& request) {
  if (record.assign_gen < request.generation) return true;
  return record.assign_gen == request.generation && record.owner == request.member &&
         record.incarnation == request.incarnation;
}

// Ends the connections of old owners. An old owner may be frozen between its fence and its commit
// while it holds the rows that we want to change. By the time that our lock is granted, its
// transaction has been either rolled back or committed; both are safe.
Status EndOldOwners(Pool& pool, Session& session, const TakeRequest& request,
                    const std::string& ours) {
  std::vector<std::string> others;
  {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT DISTINCT s.connections FROM " + kNumbersJoinSegments +
                                     " WHERE s.assign_gen <= ?",
                                 {NumbersOf(request.segments), request.generation.value()}));
    while (rows.Next()) others.push_back(rows.Text(1));
  }
  for (const std::string& connections : others) {
    if (connections.empty() || connections == ours) continue;
    log::Info("mysql", "take: ending the connections of the owner before ({})", connections);
    CARILLON_TRY(pool.EndConnectionsOf(session, connections));
  }
  return pool.EndStrays(session);
}

Result<TakenSegments> TakeLocked(Session& session, const TakeRequest& request,
                                 const std::string& ours) {
  TakenSegments taken;
  JsonRows changes;
  int64_t now_us = 0;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query("SELECT " + kSegmentColumns + kNowColumn + " FROM " +
                                                kNumbersJoinSegments + ForUpdateOf("s"),
                                            {NumbersOf(request.segments)}));
    size_t found = 0;
    for (; rows.Next(); ++found) {
      const SegmentRecord record = ReadSegment(rows);
      if (!MayTake(record, request)) continue;
      now_us = rows.Int(10);
      const Duration lease = LeaseInForce(record, FromUnixMicros(now_us));
      taken.fence.push_back({record.segment, Epoch(record.epoch.value() + 1)});
      taken.lease_before = std::max(taken.lease_before, lease);
      changes.Begin().Add(record.segment.value()).Add(lease.count());
    }
    if (found != request.segments.size()) {
      return {ErrorCode::kInvalid, "take: a segment that does not exist"};
    }
  }
  if (taken.fence.empty()) return taken;
  CARILLON_ASSIGN_OR_RETURN(
      const int64_t written,
      session.Execute("UPDATE JSON_TABLE(" CARILLON_JSON
                      ", '$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]', "
                      "b BIGINT PATH '$[1]')) k STRAIGHT_JOIN segments s FORCE INDEX (PRIMARY) "
                      "ON s.segment = k.n SET s.owner = ?, s.incarnation = ?, "
                      "s.epoch = s.epoch + 1, s.assign_gen = ?, s.connections = ?, "
                      "s.lease_us = ?, s.lease_before_us = k.b, s.taken_us = ?",
                      {changes.Take(), request.member.value(), request.incarnation.value(),
                       request.generation.value(), ours, request.lease.count(), now_us}));
  if (written != static_cast<int64_t>(taken.fence.size())) {
    return {ErrorCode::kConflict, "take: a segment moved under its lock"};
  }
  return taken;
}

}  // namespace

Result<WallTime> MysqlSegmentStore::Now() { return db_.Now(); }

Result<TakenSegments> MysqlSegmentStore::Take(const TakeRequest& request) {
  CARILLON_ASSIGN_OR_RETURN(const std::string ours, db_.pool().Connections());
  for (int tries = 1;; ++tries) {
    CARILLON_TRY(RunRead(db_.pool(), "take", [&](Session& session) {
      return EndOldOwners(db_.pool(), session, request, ours);
    }));
    Result<TakenSegments> taken = InTransaction(db_.pool(), {.operation = "take"},
                                                [&](Session& session) -> Result<TakenSegments> {
                                                  return TakeLocked(session, request, ours);
                                                });
    // kUnavailable: nothing was written, because another connection of the old owner took the lock
    // first. The loop ends that connection too.
    if (taken.ok() || taken.code() != ErrorCode::kUnavailable || tries == kTakeTriesMax) {
      return taken;
    }
  }
}

// Transactions in progress under these epochs hold their locks until they end; a later Take waits
// for them.
Status MysqlSegmentStore::Release(const Fence& fence) {
  Fence sorted = fence;  // sorted, because this is the order of locks
  std::sort(sorted.begin(), sorted.end(),
            [](const FencedSegment& a, const FencedSegment& b) { return a.segment < b.segment; });
  JsonRows rows;
  for (const FencedSegment& fenced : sorted) {
    rows.Begin().Add(fenced.segment.value()).Add(fenced.epoch.value());
  }
  const std::string text = rows.Take();
  return InTransaction(db_.pool(), {.operation = "release"}, [&](Session& session) -> Status {
    const auto written = session.Execute(
        "UPDATE JSON_TABLE(" CARILLON_JSON
        ", '$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]', "
        "e BIGINT UNSIGNED PATH '$[1]')) k STRAIGHT_JOIN segments s FORCE INDEX (PRIMARY) "
        "ON s.segment = k.n SET s.connections = '' WHERE s.epoch = k.e",
        {text});
    return written.ok() ? Status() : Status(written.error());
  });
}

Result<std::vector<SegmentRecord>> MysqlSegmentStore::ReadEpochs(
    const std::vector<SegmentId>& segments) {
  return InRead(db_.quick(), "read epochs",
                [&](Session& session) -> Result<std::vector<SegmentRecord>> {
                  CARILLON_ASSIGN_OR_RETURN(
                      Rows rows, session.Query("SELECT " + kSegmentColumns + " FROM " +
                                                   kNumbersJoinSegments + ForShareOf("s"),
                                               {NumbersOf(segments)}));
                  return ReadSegments(std::move(rows));
                });
}

Result<std::vector<SegmentRecord>> MysqlSegmentStore::ListSegments() {
  return InRead(
      db_.pool(), "list segments", [](Session& session) -> Result<std::vector<SegmentRecord>> {
        CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT " + kSegmentColumns +
                                                           " FROM segments s ORDER BY s.segment"));
        return ReadSegments(std::move(rows));
      });
}

}  // namespace carillon::mysql
