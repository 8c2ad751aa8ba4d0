#include "common/adapters/mysql/slots/group_slots.h"

#include <algorithm>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/base/failpoint.h"

namespace carillon::mysql {

std::optional<uint32_t> LockedGroup::TakeFree() {
  if (free.empty()) return std::nullopt;
  const uint32_t slot = free.back();
  free.pop_back();
  return slot;
}

void LockedGroup::Queue(const GroupPlace& place) {
  if (!first || place < *first) first = place;
}

Status LockGroups(Session& session, GroupsByName* groups) {
  static const std::string read =
      "SELECT g.group_no, g.slot_limit, g.name FROM JSON_TABLE(" CARILLON_JSON
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
  }
  return {};
}

Result<LockedGroup> LockGroup(Session& session, GroupNo group_no) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT g.slot_limit FROM concurrency_groups g WHERE g.group_no = ? "
                               "LOCK IN SHARE MODE",
                               {group_no.value()}));
  LockedGroup group;
  if (!rows.Next()) return group;
  group.group_no = group_no;
  group.limit = rows.Int(1);
  return group;
}

namespace {

// While attempts hold slots above a lowered limit, as many of the highest free slots are kept back.
// Returns the highest slot that may be given away; 0 = none.
Result<int64_t> HighestUsable(Session& session, const LockedGroup& group) {
  int64_t above = 0;
  {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT COUNT(*) FROM group_slots t FORCE INDEX (PRIMARY) WHERE "
                                 "t.group_no = ? AND t.slot_no > ? AND t.fire_us > 0",
                                 {group.group_no.value(), group.limit}));
    rows.Next();
    above = rows.Int(1);
  }
  if (above == 0) return group.limit;
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT t.slot_no FROM group_slots t FORCE INDEX (free_slots) WHERE "
                               "t.group_no = ? AND t.fire_us = 0 AND t.slot_no <= ? ORDER BY "
                               "t.slot_no DESC LIMIT 1 OFFSET ?",
                               {group.group_no.value(), group.limit, above}));
  return rows.Next() ? rows.Int(1) : int64_t{0};
}

}  // namespace

Status LockFreeSlots(Session& session, int64_t wanted, LockedGroup* group) {
  // No ORDER BY: the server would lock all free slots to sort them. The index has them in order.
  static const std::string statement =
      "SELECT t.slot_no FROM group_slots t FORCE INDEX (free_slots) WHERE t.group_no = ? AND "
      "t.fire_us = 0 AND t.slot_no <= ? LIMIT ? FOR UPDATE SKIP LOCKED";
  group->free.clear();
  if (wanted <= 0 || group->group_no == GroupNo{}) return {};
  CARILLON_ASSIGN_OR_RETURN(const int64_t highest, HighestUsable(session, *group));
  if (highest <= 0) return {};
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Query(statement, {group->group_no.value(), highest, wanted}));
  while (rows.Next()) group->free.push_back(static_cast<uint32_t>(rows.Unsigned(1)));
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

Result<int64_t> CountTaken(Session& session, GroupNo group_no) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT COUNT(*) FROM group_slots t FORCE INDEX (free_slots) WHERE "
                               "t.group_no = ? AND t.fire_us > 0",
                               {group_no.value()}));
  rows.Next();
  return rows.Int(1);
}

GroupFacts GroupFactsOf(const LockedGroup& group, const StoredRun& run) {
  return {.named = true,
          .has_slot = run.group_slot != 0 && run.row.group == group.group_no,
          .too_many = group.taken > group.limit,
          .free = !group.free.empty(),
          .queued_before = group.first && *group.first < PlaceInGroup(run.row)};
}

}  // namespace carillon::mysql
