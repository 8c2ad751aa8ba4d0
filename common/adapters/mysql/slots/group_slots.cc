#include "common/adapters/mysql/slots/group_slots.h"

#include <algorithm>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/base/failpoint.h"

namespace carillon::mysql {

std::optional<FreeSlot> LockedGroup::TakeFree() {
  if (free.empty()) return std::nullopt;
  const FreeSlot slot = free.back();
  free.pop_back();
  return slot;
}

void LockedGroup::Queue(const GroupPlace& place) {
  if (!first || place < *first) first = place;
}

Status LockGroups(Session& session, GroupsByName* groups) {
  static const std::string read =
      "SELECT g.group_no, g.slot_limit, g.name, g.per_us FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n VARCHAR(255) "
      "CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]')) k STRAIGHT_JOIN concurrency_groups g "
      "FORCE INDEX (by_name) ON g.name = k.n";
  static const std::string lock = read + ForShareOf("g");
  if (groups->empty()) return {};
  JsonRows wanted;
  for (const auto& [name, unused] : *groups) wanted.Begin().Add(name);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(failpoint::Broken("group.limit_lock") ? read : lock, {wanted.Take()}));
  while (rows.Next()) {
    LockedGroup& group = groups->at(rows.Text(3));
    group.group_no = GroupNo(rows.Unsigned(1));
    group.limit = rows.Int(2);
    group.per = Duration(rows.Int(4));
  }
  return {};
}

Result<LockedGroup> LockGroup(Session& session, GroupNo group_no) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT g.slot_limit, g.per_us FROM concurrency_groups g WHERE "
                               "g.group_no = ? LOCK IN SHARE MODE",
                               {group_no.value()}));
  LockedGroup group;
  if (!rows.Next()) return group;
  group.group_no = group_no;
  group.limit = rows.Int(1);
  group.per = Duration(rows.Int(2));
  return group;
}

WarmRange WarmRangeOf(Duration per, WallTime now, Duration ahead) {
  return {.above = ToUnixMicros(now + ahead - per), .last = ToUnixMicros(now + kGroupClockAhead)};
}

namespace {

bool IsTimed(const LockedGroup& group) { return group.per > Duration{}; }

// While slots above a lowered limit are taken or cooling, as many of the highest free ones are not
// given away.
Result<int64_t> CountAbove(Session& session, const LockedGroup& group, WarmRange warm) {
  static const std::string taken =
      "SELECT COUNT(*) FROM group_slots t FORCE INDEX (PRIMARY) WHERE t.group_no = ? AND t.slot_no "
      "> ? AND ";
  static const std::string used = taken + "(t.fire_us > 0 OR (t.given_us > ? AND t.given_us <= ?))";
  static const std::string plain = taken + "t.fire_us > 0";
  Params params{group.group_no.value(), group.limit};
  if (IsTimed(group)) params.insert(params.end(), {warm.above, warm.last});
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(IsTimed(group) ? used : plain, params));
  rows.Next();
  return rows.Int(1);
}

// Returns the highest slot that may be given away; 0 = none.
Result<int64_t> HighestUsable(Session& session, const LockedGroup& group, WarmRange warm) {
  static const std::string free =
      "SELECT t.slot_no FROM group_slots t FORCE INDEX (free_slots) WHERE t.group_no = ? AND "
      "t.fire_us = 0 AND ";
  static const std::string highest = "t.slot_no <= ? ORDER BY t.slot_no DESC LIMIT 1 OFFSET ?";
  static const std::string cool = free + "(t.given_us <= ? OR t.given_us > ?) AND " + highest;
  static const std::string plain = free + highest;
  int64_t above = group.above.value_or(0);
  if (!group.above) {
    CARILLON_ASSIGN_OR_RETURN(above, CountAbove(session, group, warm));
  }
  if (above == 0) return group.limit;
  Params params{group.group_no.value()};
  if (IsTimed(group)) params.insert(params.end(), {warm.above, warm.last});
  params.insert(params.end(), {group.limit, above});
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(IsTimed(group) ? cool : plain, params));
  return rows.Next() ? rows.Int(1) : int64_t{0};
}

}  // namespace

Result<Duration> ReadAhead(Session& session, WallTime now, LockedGroup* group) {
  if (!IsTimed(*group)) return Duration{};
  CARILLON_ASSIGN_OR_RETURN(group->above,
                            CountAbove(session, *group, WarmRangeOf(group->per, now)));
  return *group->above == 0 ? kGroupAhead : Duration{};
}

Status LockFreeSlots(Session& session, int64_t wanted, WallTime now, Duration ahead,
                     LockedGroup* group) {
  // No ORDER BY: the server would lock all free slots to sort them. The indexes have them in order.
  static const std::string plain =
      "SELECT t.slot_no, t.given_us FROM group_slots t FORCE INDEX (free_slots) WHERE t.group_no = "
      "? AND "
      "t.fire_us = 0 AND t.slot_no <= ? LIMIT ? FOR UPDATE SKIP LOCKED";
  // Two ranges of the index, of which the second is nearly always empty.
  static const std::string cool =
      "SELECT t.slot_no, t.given_us FROM group_slots t FORCE INDEX (free_since) WHERE t.group_no = "
      "? AND t.fire_us = 0 AND (t.given_us <= ? OR t.given_us > ?) AND t.slot_no <= ? LIMIT ? FOR "
      "UPDATE SKIP LOCKED";
  group->free.clear();
  if (wanted <= 0 || group->group_no == GroupNo{}) return {};
  const WarmRange warm = WarmRangeOf(group->per, now, ahead);
  CARILLON_ASSIGN_OR_RETURN(const int64_t highest, HighestUsable(session, *group, warm));
  if (highest <= 0) return {};
  Params params{group->group_no.value()};
  if (IsTimed(*group)) params.insert(params.end(), {warm.above, warm.last});
  params.insert(params.end(), {highest, wanted});
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(IsTimed(*group) ? cool : plain, params));
  while (rows.Next()) {
    group->free.push_back({.slot = static_cast<uint32_t>(rows.Unsigned(1)), .given = rows.Time(2)});
  }
  std::reverse(group->free.begin(), group->free.end());
  return {};
}

Result<std::vector<GroupWait>> ReadGroupWaits(Session& session, GroupNo group_no, int64_t limit) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT w.rank_no, w.fire_us, w.schedule_id, w.shard, w.segment FROM run_waits "
                    "w FORCE INDEX (by_group) WHERE w.group_no = ? ORDER BY w.rank_no, w.fire_us, "
                    "w.schedule_id, w.shard LIMIT ?",
                    {group_no.value(), limit}));
  std::vector<GroupWait> waits;
  while (rows.Next()) {
    waits.push_back({.place = {.rank = rows.Int(1),
                               .key = {.fire = rows.Time(2),
                                       .schedule_id = ScheduleId(rows.Unsigned(3)),
                                       .shard = static_cast<uint32_t>(rows.Unsigned(4))}},
                     .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(5)))});
  }
  return waits;
}

Result<int64_t> CountUsed(Session& session, const LockedGroup& group, WallTime now,
                          Duration ahead) {
  static const std::string plain =
      "SELECT COUNT(*) FROM group_slots t FORCE INDEX (free_slots) WHERE t.group_no = ? AND "
      "t.fire_us > 0";
  static const std::string timed =
      "SELECT COUNT(*) FROM group_slots t FORCE INDEX (free_since) WHERE t.group_no = ? AND "
      "(t.fire_us > 0 OR (t.fire_us = 0 AND t.given_us > ? AND t.given_us <= ?))";
  const WarmRange warm = WarmRangeOf(group.per, now, ahead);
  Params params{group.group_no.value()};
  if (IsTimed(group)) params.insert(params.end(), {warm.above, warm.last});
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(IsTimed(group) ? timed : plain, params));
  rows.Next();
  return rows.Int(1);
}

Status ReadUse(Session& session, WallTime now, LockedGroup* group) {
  CARILLON_ASSIGN_OR_RETURN(group->used, CountUsed(session, *group, now, Duration{}));
  group->warm.clear();
  if (!IsTimed(*group)) return {};
  const WarmRange warm = WarmRangeOf(group->per, now);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(
          "SELECT t.slot_no, t.given_us FROM group_slots t FORCE INDEX (free_since) "
          "WHERE t.group_no = ? AND t.fire_us > 0 AND t.granted_us > 0 AND t.given_us > ? "
          "AND t.given_us <= ?",
          {group->group_no.value(), warm.above, warm.last}));
  while (rows.Next()) {
    group->warm[static_cast<uint32_t>(rows.Unsigned(1))] = rows.Time(2) + group->per - now;
  }
  return {};
}

GroupFacts GroupFactsOf(const LockedGroup& group, const StoredRun& run) {
  const bool has_slot = run.group_slot != 0 && run.row.group == group.group_no;
  const auto warm = has_slot ? group.warm.find(run.group_slot) : group.warm.end();
  return {.named = true,
          .has_slot = has_slot,
          .warm = warm == group.warm.end() ? Duration{} : warm->second,
          .too_many = group.used > group.limit,
          .free = !group.free.empty(),
          .queued_before = group.first && *group.first < PlaceInGroup(run.row)};
}

}  // namespace carillon::mysql
