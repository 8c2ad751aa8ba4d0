#include "common/adapters/mysql/firing/group_batch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
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
  Duration per{};
  int64_t free = 0;
  std::optional<WallTime> next_cool = {};  // of its slots, free or taken
};

// Of a group with a time: takes the cooling slots from `free`, and sets `next_cool`. A statement of
// its own, because only constants make ranges of the index.
Status ReadCooling(Session& session, WallTime now, FreeGroup* group) {
  static const std::string from =
      " FROM group_slots c FORCE INDEX (free_since) WHERE c.group_no = ? AND ";
  static const std::string warm = " AND c.given_us > ? AND c.given_us <= ?)";
  static const std::string statement = "SELECT (SELECT COUNT(*)" + from + "c.fire_us = 0" + warm +
                                       ", (SELECT MIN(c.given_us)" + from + "c.fire_us = 0" + warm +
                                       ", (SELECT MIN(c.given_us)" + from + "c.fire_us > 0" + warm;
  const WarmRange range = WarmRangeOf(group->per, now);
  Params params;
  for (int i = 0; i < 3; ++i) {
    params.insert(params.end(), {group->group_no.value(), range.above, range.last});
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, params));
  rows.Next();
  group->free -= rows.Int(1);
  for (const uint32_t column : {2U, 3U}) {
    if (rows.IsNull(column)) continue;
    const WallTime cool = rows.Time(column) + group->per;
    group->next_cool = std::min(group->next_cool.value_or(cool), cool);
  }
  return {};
}

// Groups with queued runs that have free slots, and how many, or a time.
Result<std::vector<FreeGroup>> ReadFree(Session& session, GroupNo after, size_t limit,
                                        WallTime now) {
  static const std::string statement =
      "SELECT x.group_no, x.per_us, x.free FROM (SELECT g.group_no, g.per_us, CAST(g.slot_limit AS "
      "SIGNED) - (SELECT COUNT(*) FROM group_slots t FORCE INDEX (free_slots) WHERE t.group_no = "
      "g.group_no AND t.fire_us > 0) AS free FROM (SELECT DISTINCT w.group_no FROM run_waits w "
      "FORCE INDEX (by_group) WHERE w.group_no > ?) q STRAIGHT_JOIN concurrency_groups g FORCE "
      "INDEX (PRIMARY) ON g.group_no = q.group_no) x WHERE x.free > 0 OR x.per_us > 0 ORDER BY "
      "x.group_no LIMIT ?";
  std::vector<FreeGroup> groups;
  {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query(statement, {after.value(), static_cast<uint64_t>(limit)}));
    while (rows.Next()) {
      groups.push_back({.group_no = GroupNo(rows.Unsigned(1)),
                        .per = Duration(rows.Int(2)),
                        .free = rows.Int(3)});
    }
  }
  for (FreeGroup& group : groups) {
    if (group.per > Duration{}) CARILLON_TRY(ReadCooling(session, now, &group));
  }
  return groups;
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
  CARILLON_ASSIGN_OR_RETURN(const auto groups, ReadFree(session, after, kGroupsMax, now));
  GroupScan found;
  for (const auto& [group_no, per, free, next_cool] : groups) {
    if (next_cool) found.next_cool = std::min(found.next_cool.value_or(*next_cool), *next_cool);
    if (free <= 0 || found.groups.size() == limit) continue;
    const int64_t wanted = std::min<int64_t>(free, kBatchRowsMax);
    CARILLON_ASSIGN_OR_RETURN(const std::vector<GroupWait> waits,
                              ReadGroupWaits(session, group_no, wanted));
    QueuedGroup group{.group_no = group_no};
    for (const GroupWait& wait : waits) {
      const bool own = std::find(segments.begin(), segments.end(), wait.segment) != segments.end();
      if (own) group.segments.push_back(wait.segment);
    }
    std::sort(group.segments.begin(), group.segments.end());
    group.segments.erase(std::unique(group.segments.begin(), group.segments.end()),
                         group.segments.end());
    if (!group.segments.empty()) found.groups.push_back(std::move(group));
  }
  return found;
}

Result<AdmissionEffect> AdmitGroupBatch(Session& session, GroupNo group_no,
                                        const AdmitRules& rules) {
  CARILLON_TRY(LockFence(session, rules.fence));
  CARILLON_ASSIGN_OR_RETURN(LockedGroup group, LockGroup(session, group_no));
  AdmissionEffect effect;
  if (group.group_no == GroupNo{}) return effect;
  CARILLON_ASSIGN_OR_RETURN(const int64_t used, CountUsed(session, group, rules.now));
  const int64_t free = std::min<int64_t>(FreeInGroup(group.limit, used), kBatchRowsMax);
  if (free == 0) return effect;
  CARILLON_ASSIGN_OR_RETURN(const std::vector<GroupWait> queue,
                            ReadGroupWaits(session, group_no, free));
  const std::vector<RunKey> chosen = DecideGroupAdmission(queue, SegmentsOf(rules.fence), free);
  if (chosen.empty()) return effect;
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, chosen, rules.incarnations));
  CARILLON_ASSIGN_OR_RETURN(const auto since, ReadSince(session, group_no, chosen));
  CARILLON_TRY(LockFreeSlots(session, static_cast<int64_t>(chosen.size()), rules.now, &group));
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
    CARILLON_TRY(writer.Grant(run->second, group_no, *slot, rules.now));
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
