#include "common/adapters/mysql/firing/mysql_group_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "common/adapters/mysql/client/ascii.h"
#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/client/union_all.h"
#include "common/adapters/mysql/run_rows/job_owner.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/slots/group_slots.h"

namespace carillon::mysql {
namespace {

struct GroupRow {
  GroupNo group_no = {};
  Group group = {};
};

const std::string kGroupColumns =
    "SELECT g.group_no, g.name, g.slot_limit, g.updated_us, (SELECT COUNT(*) FROM run_waits w "
    "FORCE INDEX (by_group) WHERE w.group_no = g.group_no), (SELECT COUNT(*) FROM "
    "jobs j FORCE INDEX (by_group) WHERE j.group_no = g.group_no AND j.deleted = 0) + (SELECT "
    "COUNT(*) FROM workflow_groups x FORCE INDEX (PRIMARY) WHERE x.group_no = g.group_no), "
    "g.per_us FROM concurrency_groups g";

GroupRow ReadGroup(const Rows& rows) {
  return {.group_no = GroupNo(rows.Unsigned(1)),
          .group = {.name = rows.Text(2),
                    .limit = rows.Int(3),
                    .per = Duration(rows.Int(7)),
                    .queued = std::min(rows.Int(5), kCountedMax),
                    .jobs = rows.Int(6),
                    .updated = rows.Time(4)}};
}

constexpr std::string_view kCooling =
    " FROM group_slots c FORCE INDEX (free_since) WHERE c.group_no = ? AND c.fire_us = 0 AND "
    "c.given_us > ? AND c.given_us <= ?";

// Sets `next_cool` of a group that has cooling slots, whose first one is cool at `first`.
Status ReadNextCool(Session& session, WallTime now, WallTime first, GroupRow* row) {
  static const std::string statement =
      fmt::format("SELECT c.given_us{} ORDER BY c.given_us LIMIT 1 OFFSET ?", kCooling);
  Group& group = row->group;
  const int64_t skipped =
      CoolingBeforeStart({.limit = group.limit, .taken = group.running, .cooling = group.cooling});
  if (skipped >= group.cooling) return {};
  group.next_cool = first;
  if (skipped == 0) return {};
  const WarmRange warm = WarmRangeOf(group.per, now);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(statement, {row->group_no.value(), warm.above, warm.last, skipped}));
  if (rows.Next()) group.next_cool = rows.Time(1) + group.per;
  return {};
}

// Counts the slots of at most kUnionMax groups, in one statement. Free slots that are cool are not
// read, nor cooling ones of groups without a time.
Status ReadSlotsOf(Session& session, WallTime now, std::span<GroupRow> groups) {
  static const std::string part = fmt::format(
      "(SELECT CAST(? AS UNSIGNED), (SELECT COUNT(*) FROM group_slots t FORCE INDEX (free_slots) "
      "WHERE t.group_no = ? AND t.fire_us > 0), (SELECT COUNT(*){0}), (SELECT MIN(c.given_us){0}))",
      kCooling);
  std::map<GroupNo, GroupRow*> by_number;
  Params params;
  const auto ask = [&](GroupNo group_no, WarmRange warm) {
    const uint64_t number = group_no.value();
    params.insert(params.end(), {number, number});
    for (int i = 0; i < 2; ++i) params.insert(params.end(), {number, warm.above, warm.last});
  };
  for (GroupRow& row : groups) {
    by_number[row.group_no] = &row;
    const bool timed = row.group.per > Duration{};
    ask(row.group_no, timed ? WarmRangeOf(row.group.per, now) : WarmRange{});
  }
  const size_t parts = RoundUpUnion(groups.size());
  for (size_t i = groups.size(); i < parts; ++i) ask(GroupNo{}, {});
  std::map<GroupNo, WallTime> first;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionAll(part, parts), params));
    while (rows.Next()) {
      const auto found = by_number.find(GroupNo(rows.Unsigned(1)));
      if (found == by_number.end()) continue;
      Group& group = found->second->group;
      group.running = rows.Int(2);
      group.cooling = rows.Int(3);
      if (group.cooling > 0) first[found->first] = rows.Time(4) + group.per;
    }
  }
  for (const auto& [group_no, cool] : first) {
    CARILLON_TRY(ReadNextCool(session, now, cool, by_number.at(group_no)));
  }
  return {};
}

Status ReadSlots(Session& session, WallTime now, std::vector<GroupRow>* groups) {
  std::span<GroupRow> rest(*groups);
  while (!rest.empty()) {
    const auto some = rest.first(std::min(rest.size(), kUnionMax));
    rest = rest.subspan(some.size());
    CARILLON_TRY(ReadSlotsOf(session, now, some));
  }
  return {};
}

Error NoGroup(const std::string& name) {
  return {ErrorCode::kNotFound, "no concurrency group " + name};
}

Result<GroupRow> FindGroup(Session& session, const std::string& name, WallTime now) {
  std::vector<GroupRow> found;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query(kGroupColumns + " WHERE g.name = ?", {name}));
    if (!rows.Next()) return NoGroup(name);
    found.push_back(ReadGroup(rows));
  }
  CARILLON_TRY(ReadSlots(session, now, &found));
  return std::move(found.front());
}

constexpr uint32_t kFirstRunColumn = 4;
std::string SelectGroupRuns(std::string_view since) {
  return fmt::format("SELECT {}, j.job_id, j.name, {} ", since, kRunColumns);
}

// Runs that this version cannot read are left out.
Result<std::vector<GroupRun>> ReadGroupRuns(Session& session, Incarnations& incarnations,
                                            const std::string& statement, const Params& params) {
  std::vector<GroupRun> runs;
  std::vector<uint32_t> numbers;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, params));
    while (rows.Next()) {
      StoredRun run = ReadRun(rows, kFirstRunColumn);
      if (!NoteIfUnreadable(session, run)) continue;
      numbers.push_back(run.incarnation_no);
      runs.push_back({.row = std::move(run.row),
                      .job_id = JobId(rows.Text(2)),
                      .job_name = rows.Text(3),
                      .since = rows.Time(1)});
    }
  }
  CARILLON_ASSIGN_OR_RETURN(const Incarnations::Keys keys, incarnations.Load(session, numbers));
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto key = keys.find(numbers[i]);
    if (key == keys.end()) continue;
    runs[i].row.executor = key->second.first;
    runs[i].row.incarnation = key->second.second;
  }
  return runs;
}

std::string JoinRunsAndJobs(std::string_view table) {
  return fmt::format(
      " STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = {0}.fire_us AND "
      "r.schedule_id = {0}.schedule_id AND r.shard = {0}.shard STRAIGHT_JOIN jobs j FORCE INDEX "
      "(PRIMARY) ON j.job_no = {1}",
      table, OwnerNumber("r.job_no"));
}

Result<std::vector<GroupRun>> ReadHolders(Session& session, Incarnations& incarnations,
                                          GroupNo group_no, size_t limit) {
  static const std::string statement =
      SelectGroupRuns("IF(r.state = 'PENDING', t.granted_us, r.claimed_us)") +
      "FROM group_slots t FORCE INDEX (free_slots)" + JoinRunsAndJobs("t") +
      " WHERE t.group_no = ? AND t.fire_us > 0 AND r.group_no = t.group_no ORDER BY t.fire_us, "
      "t.schedule_id, t.shard LIMIT ?";
  return ReadGroupRuns(session, incarnations, statement,
                       {group_no.value(), static_cast<uint64_t>(limit)});
}

Result<std::vector<GroupRun>> ReadQueue(Session& session, Incarnations& incarnations,
                                        GroupNo group_no, size_t limit) {
  static const std::string statement =
      SelectGroupRuns("w.queued_us") + "FROM run_waits w FORCE INDEX (by_group)" +
      JoinRunsAndJobs("w") + " WHERE w.group_no = ? AND r.state = 'PENDING' AND r.due_us = " +
      std::to_string(ToUnixMicros(kQueued)) +
      " ORDER BY w.rank_no, w.fire_us, w.schedule_id, w.shard LIMIT ?";
  return ReadGroupRuns(session, incarnations, statement,
                       {group_no.value(), static_cast<uint64_t>(limit)});
}

// Makes the rows of the slots up to `limit`. The caller has locked the group, so that nobody else
// makes rows.
Status AddSlots(Session& session, GroupNo group_no, int64_t limit) {
  std::set<int64_t> known;
  {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT t.slot_no FROM group_slots t FORCE INDEX (PRIMARY) WHERE "
                                 "t.group_no = ?",
                                 {group_no.value()}));
    while (rows.Next()) known.insert(rows.Int(1));
  }
  JsonRows missing;
  for (int64_t slot = 1; slot <= limit; ++slot) {
    if (!known.contains(slot)) missing.Begin().Add(slot);
  }
  if (missing.empty()) return {};
  CARILLON_TRY(session.Execute(
      "INSERT INTO group_slots (group_no, slot_no) SELECT ?, k.n FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]')) k",
      {group_no.value(), missing.Take()}));
  return {};
}

// Claims that begin while a change of the group waits for its lock wait behind it. If a member
// stands still in the middle of a claim, they wait for this time at most, and the change fails.
constexpr std::chrono::seconds kLockWaitMax = 1s;

// The lock waits for all claims that have read the present limit.
Result<std::optional<GroupNo>> LockByName(Session& session, const std::string& name) {
  CARILLON_TRY(session.LimitLockWaits(kLockWaitMax));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT g.group_no FROM concurrency_groups g FORCE INDEX (by_name) "
                               "WHERE g.name = ? FOR UPDATE",
                               {name}));
  // After an error the connection is closed, which also ends its limit.
  CARILLON_TRY(session.LimitLockWaits(std::nullopt));
  if (!rows.Next()) return std::optional<GroupNo>();
  return std::optional(GroupNo(rows.Unsigned(1)));
}

Status InsertGroup(Session& session, GroupNo group_no, const std::string& name,
                   const GroupChange& change, WallTime now) {
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query("SELECT COUNT(*) FROM concurrency_groups g"));
    rows.Next();
    if (rows.Unsigned(1) >= kGroupsMax) {
      return {ErrorCode::kExhausted,
              fmt::format("there are {} concurrency groups already", kGroupsMax)};
    }
  }
  CARILLON_TRY(session.Execute(
      "INSERT INTO concurrency_groups (group_no, name, slot_limit, per_us, updated_us) VALUES (?, "
      "?, ?, ?, ?)",
      {group_no.value(), name, change.limit, int64_t{change.per.value_or(Duration{}).count()},
       ToUnixMicros(now)}));
  return {};
}

Status UpdateGroup(Session& session, GroupNo group_no, const GroupChange& change, WallTime now) {
  static const std::string limit = "UPDATE concurrency_groups SET slot_limit = ?, updated_us = ?";
  static const std::string plain = limit + " WHERE group_no = ?";
  static const std::string timed = limit + ", per_us = ? WHERE group_no = ?";
  Params params{change.limit, ToUnixMicros(now)};
  if (change.per) params.emplace_back(int64_t{change.per->count()});
  params.emplace_back(group_no.value());
  CARILLON_TRY(session.Execute(change.per ? timed : plain, params));
  return {};
}

}  // namespace

Result<std::vector<Group>> MysqlGroupStore::ListGroups(WallTime now) {
  return InList(db_.pool(), "list groups", [&](Session& session) -> Result<std::vector<Group>> {
    std::vector<GroupRow> found;
    {
      CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(kGroupColumns + " ORDER BY g.name LIMIT ?",
                                                         {static_cast<uint64_t>(kGroupsMax)}));
      while (rows.Next()) found.push_back(ReadGroup(rows));
    }
    CARILLON_TRY(ReadSlots(session, now, &found));
    std::vector<Group> groups;
    for (GroupRow& row : found) groups.push_back(std::move(row.group));
    return groups;
  });
}

Result<GroupDetail> MysqlGroupStore::GetGroup(const std::string& name, size_t limit, WallTime now) {
  if (!IsAscii(name)) return NoGroup(name);
  return InList(db_.pool(), "get group", [&](Session& session) -> Result<GroupDetail> {
    CARILLON_ASSIGN_OR_RETURN(GroupRow row, FindGroup(session, name, now));
    GroupDetail detail{.group = std::move(row.group)};
    Incarnations& incarnations = db_.caches().incarnations;
    CARILLON_ASSIGN_OR_RETURN(detail.holders,
                              ReadHolders(session, incarnations, row.group_no, limit));
    CARILLON_ASSIGN_OR_RETURN(detail.queue, ReadQueue(session, incarnations, row.group_no, limit));
    return detail;
  });
}

Result<Group> MysqlGroupStore::PutGroup(const std::string& name, const GroupChange& change,
                                        WallTime now) {
  // Taken before the transaction, and left unused if the group exists.
  const auto before = InRead(db_.pool(), "get group",
                             [&](Session& session) { return FindGroup(session, name, now); });
  if (!before.ok() && before.code() != ErrorCode::kNotFound) return before.error();
  uint64_t fresh = 0;
  if (!before.ok()) {
    CARILLON_ASSIGN_OR_RETURN(fresh, db_.caches().ids.Next(db_.pool(), "group", 1));
  }
  // A duplicate key means that another caller has created the group: the transaction runs again.
  return InTransaction(
      db_.pool(), {.operation = "put group", .retry_duplicates = true, .retry_lock_waits = false},
      [&](Session& session) -> Result<Group> {
        CARILLON_ASSIGN_OR_RETURN(std::optional<GroupNo> group_no, LockByName(session, name));
        if (group_no) {
          CARILLON_TRY(UpdateGroup(session, *group_no, change, now));
        } else if (fresh != 0) {
          group_no = GroupNo(fresh);
          CARILLON_TRY(InsertGroup(session, *group_no, name, change, now));
        } else {
          return {ErrorCode::kConflict, "the group was deleted meanwhile; try again"};
        }
        CARILLON_TRY(AddSlots(session, *group_no, change.limit));
        CARILLON_ASSIGN_OR_RETURN(GroupRow row, FindGroup(session, name, now));
        return std::move(row.group);
      });
}

Status MysqlGroupStore::DeleteGroup(const std::string& name) {
  if (!IsAscii(name)) return NoGroup(name);
  const TransactionOptions options{.operation = "delete group", .retry_lock_waits = false};
  return InTransaction(db_.pool(), options, [&](Session& session) -> Status {
    CARILLON_ASSIGN_OR_RETURN(const std::optional<GroupNo> group_no, LockByName(session, name));
    if (!group_no) return NoGroup(name);
    {
      CARILLON_ASSIGN_OR_RETURN(
          Rows rows,
          session.Query("(SELECT j.job_id, 'job' FROM jobs j FORCE INDEX (by_group) WHERE "
                        "j.group_no = ? AND j.deleted = 0 LIMIT 1) UNION ALL (SELECT j.job_id, "
                        "'workflow' FROM workflow_groups w FORCE INDEX (PRIMARY) STRAIGHT_JOIN "
                        "jobs j FORCE INDEX (PRIMARY) ON j.job_no = w.job_no WHERE w.group_no = ? "
                        "LIMIT 1)",
                        {group_no->value(), group_no->value()}));
      if (rows.Next()) {
        return {ErrorCode::kConflict, fmt::format("concurrency group {} is used by {} {}", name,
                                                  rows.Text(2), rows.Text(1))};
      }
    }
    {
      // Of nodes of earlier versions of a workflow: nobody would admit them any more.
      CARILLON_ASSIGN_OR_RETURN(
          Rows rows, session.Query("SELECT 1 FROM run_waits w FORCE INDEX (by_group) WHERE "
                                   "w.group_no = ? LIMIT 1",
                                   {group_no->value()}));
      if (rows.Next()) {
        return {ErrorCode::kConflict,
                fmt::format("runs wait for a slot of concurrency group {}", name)};
      }
    }
    CARILLON_TRY(
        session.Execute("DELETE FROM group_slots WHERE group_no = ?", {group_no->value()}));
    CARILLON_TRY(
        session.Execute("DELETE FROM concurrency_groups WHERE group_no = ?", {group_no->value()}));
    return {};
  });
}

}  // namespace carillon::mysql
