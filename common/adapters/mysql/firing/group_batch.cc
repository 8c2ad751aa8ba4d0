#include "common/adapters/mysql/firing/group_batch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/union_all.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/slots/group_slots.h"

namespace carillon::mysql {
namespace {

std::vector<SegmentId> SegmentsOf(const Fence& fence) {
  std::vector<SegmentId> segments;
  for (const FencedSegment& held : fence) segments.push_back(held.segment);
  return segments;
}

struct FreeGroup {
  GroupNo group_no;
  int64_t free = 0;
  std::optional<WallTime> next_cool = {};  // as GroupScan
};

// Groups with queued runs, and how many slots are used of those with a time, of which all slots are
// read: nearly all of them are taken or cooling as long as somebody waits.
std::string FreeStatement() {
  static const std::string queues =
      " FROM (SELECT DISTINCT w.group_no FROM run_waits w FORCE INDEX (by_group) WHERE w.group_no "
      "> ?) q STRAIGHT_JOIN concurrency_groups g FORCE INDEX (PRIMARY) ON g.group_no = q.group_no";
  static const std::string warm = "(c.given_us > ? - g.per_us AND c.given_us <= ?)";
  static const std::string used = "c.fire_us > 0 OR " + warm;
  static const std::string waits = "c.granted_us = 0 AND " + warm;
  const auto count = [](const std::string& what) {
    return "CAST(SUM(IF(" + what + ", 1, 0)) AS SIGNED)";
  };
  const auto first = [](const std::string& what) {
    return "MIN(IF(" + what + ", c.given_us + g.per_us, NULL))";
  };
  const std::string plain =
      "SELECT g.group_no, g.slot_limit, 0 AS used, NULL AS later, 0 AS above, NULL AS next_cool, "
      "NULL AS next_far" +
      queues + " WHERE g.per_us = 0";
  const std::string timed = "SELECT g.group_no, g.slot_limit, " + count(used) + ", " + count(used) +
                            ", " + count("c.slot_no > g.slot_limit AND (" + used + ")") + ", " +
                            first(waits) + ", " +
                            first(waits + " AND (c.fire_us > 0 OR " + warm + ")") + queues +
                            " STRAIGHT_JOIN group_slots c FORCE INDEX (PRIMARY) ON c.group_no = "
                            "g.group_no WHERE g.per_us > 0 GROUP BY g.group_no, g.slot_limit";
  return "SELECT x.* FROM (" + plain + " UNION ALL " + timed + ") x ORDER BY x.group_no";
}

// Takes the taken slots from `free` of these groups. Each needs constants of its own: with the
// number of a joined group the server would read its free slots too, also those above a limit that
// was lowered.
Status TakeTaken(Session& session, std::span<FreeGroup*> groups) {
  static const std::string part =
      "(SELECT t.group_no, COUNT(*) FROM group_slots t FORCE INDEX (free_slots) WHERE t.group_no = "
      "? AND t.fire_us > 0 GROUP BY t.group_no)";
  while (!groups.empty()) {
    const auto some = groups.first(std::min(groups.size(), kUnionMax));
    groups = groups.subspan(some.size());
    std::map<GroupNo, FreeGroup*> by_number;
    const size_t parts = RoundUpUnion(some.size());
    Params params(parts, uint64_t{0});
    for (size_t i = 0; i < some.size(); ++i) {
      by_number[some[i]->group_no] = some[i];
      params[i] = some[i]->group_no.value();
    }
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionAll(part, parts), params));
    while (rows.Next()) by_number.at(GroupNo(rows.Unsigned(1)))->free -= rows.Int(2);
  }
  return {};
}

// Two statements, however many groups there are: all members look often.
Result<std::vector<FreeGroup>> ReadFree(Session& session, GroupNo after, WallTime now) {
  static const std::string statement = FreeStatement();
  const int64_t last = ToUnixMicros(now + kGroupClockAhead);
  const int64_t at = ToUnixMicros(now);
  const int64_t later = ToUnixMicros(now + kGroupAhead);
  Params params{after.value()};
  for (const int64_t time : {at, later, at, at, at, later}) {
    params.emplace_back(time);
    params.emplace_back(last);
  }
  params.emplace_back(after.value());
  std::vector<FreeGroup> groups;
  std::vector<bool> timed;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, params));
    while (rows.Next()) {
      timed.push_back(!rows.IsNull(4));
      const bool ahead = rows.Int(5) == 0 && timed.back();
      FreeGroup group{.group_no = GroupNo(rows.Unsigned(1)),
                      .free = rows.Int(2) - rows.Int(ahead ? 4 : 3)};
      const uint32_t next = ahead ? 7 : 6;
      if (!rows.IsNull(next)) group.next_cool = rows.Time(next);
      groups.push_back(group);
    }
  }
  std::vector<FreeGroup*> plain;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!timed[i]) plain.push_back(&groups[i]);
  }
  CARILLON_TRY(TakeTaken(session, plain));
  return groups;
}

// The segments of the runs of `own` that are among the first `free` of their groups.
Result<std::map<GroupNo, std::vector<SegmentId>>> ReadHeads(Session& session,
                                                            std::span<const FreeGroup> groups,
                                                            const std::vector<SegmentId>& own) {
  static const std::string part =
      "(SELECT w.group_no, w.segment FROM run_waits w FORCE INDEX (by_group) WHERE w.group_no = ? "
      "ORDER BY w.rank_no, w.fire_us, w.schedule_id, w.shard LIMIT ?)";
  Params params;
  for (const FreeGroup& group : groups) {
    params.emplace_back(group.group_no.value());
    params.emplace_back(std::min<int64_t>(group.free, kBatchRowsMax));
  }
  const size_t parts = RoundUpUnion(groups.size());
  for (size_t i = groups.size(); i < parts; ++i) {
    params.emplace_back(uint64_t{0});
    params.emplace_back(int64_t{0});
  }
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT DISTINCT q.group_no, q.segment FROM (" +
                                   UnionAll(part, parts) + ") q ORDER BY q.group_no, q.segment",
                               params));
  std::map<GroupNo, std::vector<SegmentId>> heads;
  while (rows.Next()) {
    const SegmentId segment(static_cast<uint32_t>(rows.Unsigned(2)));
    if (std::find(own.begin(), own.end(), segment) == own.end()) continue;
    heads[GroupNo(rows.Unsigned(1))].push_back(segment);
  }
  return heads;
}

// A row of run_waits whose run is not queued: see DeleteStale in queue_batch.cc. The run is locked.
Status DeleteWaits(Session& session, GroupNo group_no, const std::vector<RunKey>& stale) {
  static const std::string statement =
      "DELETE w FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH "
      "'$[1]', h INT UNSIGNED PATH '$[2]')) k STRAIGHT_JOIN run_waits w FORCE INDEX (PRIMARY) ON "
      "w.fire_us = k.f AND w.schedule_id = k.s AND w.shard = k.h WHERE w.group_no = ?";
  if (stale.empty()) return {};
  JsonRows rows;
  for (const RunKey& key : stale) rows.Begin().Add(key);
  CARILLON_TRY(session.Execute(statement, {rows.Take(), group_no.value()}));
  return {};
}

// By run: since when it is queued.
Result<std::map<RunKey, WallTime>> ReadSince(Session& session, GroupNo group_no,
                                             const std::vector<RunKey>& keys) {
  static const std::string statement =
      "SELECT w.fire_us, w.schedule_id, w.shard, w.queued_us FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH "
      "'$[2]')) k "
      "STRAIGHT_JOIN run_waits w FORCE INDEX (PRIMARY) ON w.fire_us = k.f AND w.schedule_id = k.s "
      "AND w.shard = k.h WHERE w.group_no = ?";
  JsonRows wanted;
  for (const RunKey& key : keys) wanted.Begin().Add(key);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take(), group_no.value()}));
  std::map<RunKey, WallTime> since;
  while (rows.Next()) {
    const RunKey key{.fire = rows.Time(1),
                     .schedule_id = ScheduleId(rows.Unsigned(2)),
                     .shard = static_cast<uint32_t>(rows.Unsigned(3))};
    since[key] = rows.Time(4);
  }
  return since;
}

}  // namespace

Result<GroupScan> ReadAdmissibleGroups(Session& session, const std::vector<SegmentId>& segments,
                                       GroupNo after, size_t limit, WallTime now) {
  // There are at most kGroupsMax groups, so that this is one page, of which the caller gets a part.
  CARILLON_ASSIGN_OR_RETURN(std::vector<FreeGroup> groups, ReadFree(session, after, now));
  GroupScan found;
  for (const FreeGroup& group : groups) {
    if (!group.next_cool) continue;
    found.next_cool = std::min(found.next_cool.value_or(*group.next_cool), *group.next_cool);
  }
  std::erase_if(groups, [](const FreeGroup& group) { return group.free <= 0; });
  std::span<const FreeGroup> rest(groups);
  while (!rest.empty() && found.groups.size() < limit) {
    const auto some = rest.first(std::min(rest.size(), kUnionMax));
    rest = rest.subspan(some.size());
    CARILLON_ASSIGN_OR_RETURN(auto heads, ReadHeads(session, some, segments));
    for (auto& [group_no, own] : heads) {
      if (found.groups.size() < limit) found.groups.push_back({group_no, std::move(own)});
    }
  }
  return found;
}

Result<AdmissionEffect> AdmitGroupBatch(Session& session, GroupNo group_no,
                                        const AdmitRules& rules) {
  CARILLON_TRY(LockFence(session, rules.fence));
  CARILLON_ASSIGN_OR_RETURN(LockedGroup group, LockGroup(session, group_no));
  AdmissionEffect effect;
  if (group.group_no == GroupNo{}) return effect;
  CARILLON_ASSIGN_OR_RETURN(const Duration ahead, ReadAhead(session, rules.now, &group));
  CARILLON_ASSIGN_OR_RETURN(const int64_t used, CountUsed(session, group, rules.now, ahead));
  const int64_t free = std::min<int64_t>(FreeInGroup(group.limit, used), kBatchRowsMax);
  if (free == 0) return effect;
  CARILLON_ASSIGN_OR_RETURN(const std::vector<GroupWait> queue,
                            ReadGroupWaits(session, group_no, free));
  const std::vector<RunKey> chosen = DecideGroupAdmission(queue, SegmentsOf(rules.fence), free);
  if (chosen.empty()) return effect;
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, chosen, rules.incarnations));
  CARILLON_ASSIGN_OR_RETURN(const auto since, ReadSince(session, group_no, chosen));
  CARILLON_TRY(
      LockFreeSlots(session, static_cast<int64_t>(chosen.size()), rules.now, ahead, &group));
  std::vector<RunKey> stale;
  RunWriter writer(session);
  for (const RunKey& key : chosen) {
    const auto run = runs.find(key);
    if (run != runs.end() && !run->second.readable) continue;
    const bool queued = run != runs.end() && run->second.row.state == RunState::kPending &&
                        run->second.row.due == kQueued;
    const auto wait = since.find(key);
    if (!queued) {
      stale.push_back(key);
      continue;
    }
    if (wait == since.end()) continue;
    const auto slot = group.TakeFree();
    if (!slot) break;
    const WallTime cool = CoolAt(group.per, slot->given, rules.now);
    CARILLON_TRY(writer.Grant(run->second, group_no, slot->slot, DueInGroup(cool, rules.now)));
    effect.admitted.push_back(run->second.row);
    effect.waited.push_back(rules.now - wait->second);
  }
  CARILLON_TRY(writer.Flush());
  CARILLON_TRY(DeleteWaits(session, group_no, stale));
  return effect;
}

Result<UnusedSlots> ReadUnusedSlots(Session& session, const std::vector<SegmentId>& segments,
                                    WallTime now, size_t limit, uint64_t from) {
  static const std::string part =
      " FROM group_slots g FORCE INDEX (PRIMARY) WHERE g.group_no > ? OR (g.group_no = ? AND "
      "g.slot_no > ?) ORDER BY g.group_no, g.slot_no LIMIT ";
  static const std::string statement =
      "SELECT t.group_no, t.slot_no, t.fire_us, t.schedule_id, t.shard, r.segment FROM (SELECT "
      "g.group_no, g.slot_no, g.fire_us, g.schedule_id, g.shard, g.granted_us" +
      part + std::to_string(kSlotsLookedAtPerCall) +
      ") t LEFT JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = t.fire_us AND r.schedule_id = "
      "t.schedule_id AND r.shard = t.shard WHERE t.fire_us > 0 AND (r.fire_us IS NULL OR "
      "r.group_no <> t.group_no OR "
      "r.group_slot <> t.slot_no OR r.state NOT IN ('PENDING', 'RUNNING', 'HELD') OR "
      "(t.granted_us > 0 AND t.granted_us <= ?))";
  static const std::string last = "SELECT g.group_no, g.slot_no" + part + "1 OFFSET " +
                                  std::to_string(kSlotsLookedAtPerCall - 1);
  const uint64_t group = from >> 32U;
  const uint64_t slot = from & UINT32_MAX;
  UnusedSlots unused;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(last, {group, group, slot}));
    if (rows.Next()) unused.next = rows.Unsigned(1) << 32U | rows.Unsigned(2);
  }
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(statement, {group, group, slot, ToUnixMicros(now - kGroupGrantKept)}));
  while (rows.Next()) {
    if (unused.slots.size() == limit) {
      unused.next = from;  // once these were freed
      break;
    }
    std::optional<SegmentId> segment;
    if (!rows.IsNull(6)) segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(6)));
    const bool own =
        !segment || std::find(segments.begin(), segments.end(), *segment) != segments.end();
    if (!own) continue;
    unused.slots.push_back({.group_no = GroupNo(rows.Unsigned(1)),
                            .slot = static_cast<uint32_t>(rows.Unsigned(2)),
                            .key = {.fire = rows.Time(3),
                                    .schedule_id = ScheduleId(rows.Unsigned(4)),
                                    .shard = static_cast<uint32_t>(rows.Unsigned(5))},
                            .segment = segment});
  }
  // Which slot of a group a run has means nothing to callers.
  std::sort(unused.slots.begin(), unused.slots.end(), [](const UnusedSlot& a, const UnusedSlot& b) {
    return std::tie(a.group_no, a.key) < std::tie(b.group_no, b.key);
  });
  return unused;
}

Result<size_t> ReclaimBatch(Session& session, const std::vector<UnusedSlot>& unused,
                            const AdmitRules& rules) {
  // granted_us is 0 once the run was claimed.
  static const std::string free_slots =
      "UPDATE JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h "
      "INT UNSIGNED PATH '$[2]', g INT UNSIGNED PATH '$[3]', n INT UNSIGNED PATH '$[4]')) k "
      "STRAIGHT_JOIN group_slots t FORCE INDEX (PRIMARY) ON t.group_no = k.g AND t.slot_no = k.n "
      "SET t.fire_us = 0, t.schedule_id = 0, t.shard = 0, t.granted_us = 0 WHERE t.fire_us = k.f "
      "AND t.schedule_id = k.s AND t.shard = k.h";
  static const std::string clear_runs =
      UpdateRuns("g INT UNSIGNED PATH '$[3]', n INT UNSIGNED PATH '$[4]'",
                 "r.group_no = 0, r.group_slot = 0", "r.group_no = k.g AND r.group_slot = k.n");
  CARILLON_TRY(LockFence(session, rules.fence));
  std::vector<RunKey> keys;
  for (const UnusedSlot& slot : unused) keys.push_back(slot.key);
  CARILLON_ASSIGN_OR_RETURN(const LockedRuns runs,
                            LockRuns(session, std::move(keys), rules.incarnations));
  const std::vector<SegmentId> own = SegmentsOf(rules.fence);
  JsonRows freed;
  for (const UnusedSlot& slot : unused) {
    const auto found = runs.find(slot.key);
    if (found != runs.end()) {
      const StoredRun& run = found->second;
      if (!run.readable) continue;
      if (std::find(own.begin(), own.end(), run.row.segment) == own.end()) continue;
      const bool holds = run.row.group == slot.group_no && run.group_slot == slot.slot;
      const bool reserved =
          run.row.state == RunState::kPending && run.row.due <= rules.now - kGroupGrantKept;
      if (holds && !IsFinal(run.row.state) && !reserved) continue;
    }
    freed.Begin().Add(slot.key).Add(slot.group_no.value()).Add(slot.slot);
  }
  if (freed.empty()) return size_t{0};
  const std::string rows = freed.Take();
  CARILLON_TRY(session.Execute(clear_runs, {rows}));
  CARILLON_ASSIGN_OR_RETURN(const int64_t count, session.Execute(free_slots, {rows}));
  return static_cast<size_t>(count);
}

}  // namespace carillon::mysql
