// The slots and queue of a concurrency group (common/domain/queue/group.h), as a batch reads and
// changes them.
//
// Always   The row of a group is locked in share mode before its slots are looked at, so that the
//          limit does not change meanwhile. Free slots are taken with SKIP LOCKED: two claims never
//          wait for each other's slots, and a claim that stands still keeps no other from starting.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/queue/group.h"

namespace carillon::mysql {

struct FreeSlot {
  uint32_t slot = 0;
  WallTime given = {};  // since when it cools: the last start in it, or its claim
};

struct LockedGroup {
  GroupNo group_no = {};  // 0: there is no such group
  int64_t limit = 0;
  Duration per{};
  int64_t used = 0;                        // see CountUsed; read only for runs that have a slot
  std::map<uint32_t, Duration> warm = {};  // reserved slots, how long they are not cool; as `used`
  std::optional<int64_t> above = {};       // used slots above a lowered limit, if known
  std::vector<FreeSlot> free = {};         // locked free slots, the lowest last
  std::optional<GroupPlace> first = {};    // of the queue

  std::optional<FreeSlot> TakeFree();
  void Queue(const GroupPlace& place);
};
using GroupsByName = std::map<std::string, LockedGroup>;

// Locks the rows of the groups in share mode, in the order of their names. Names are the keys.
Status LockGroups(Session& session, GroupsByName* groups);
// The same, by number.
Result<LockedGroup> LockGroup(Session& session, GroupNo group_no);

// The time by which a slot may be reserved ahead: kGroupAhead, or zero. Reads `above`.
Result<Duration> ReadAhead(Session& session, WallTime now, LockedGroup* group);

// Locks at most `wanted` slots that may be given away within `ahead`.
Status LockFreeSlots(Session& session, int64_t wanted, WallTime now, Duration ahead,
                     LockedGroup* group);

// Reads `used` and `warm`, without locks.
Status ReadUse(Session& session, WallTime now, LockedGroup* group);

// Reads the first queued runs of the group, without locks.
Result<std::vector<GroupWait>> ReadGroupWaits(Session& session, GroupNo group_no, int64_t limit);

// Slots that are taken or still cooling `ahead` from now, also those above the limit. No locks.
Result<int64_t> CountUsed(Session& session, const LockedGroup& group, WallTime now, Duration ahead);

// The bounds of the times between which a slot was given that is not cool within `ahead`: above the
// first, and not above the second. As CoolAt.
struct WarmRange {
  int64_t above = 0;
  int64_t last = 0;
};
WarmRange WarmRangeOf(Duration per, WallTime now, Duration ahead = {});

GroupFacts GroupFactsOf(const LockedGroup& group, const StoredRun& run);

}  // namespace carillon::mysql
