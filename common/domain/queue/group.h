// Concurrency groups: a limit of running attempts over all jobs that name the group. Pure.
//
// Place    Step 7 of docs/life-of-a-run.md, after the slot of the job (overlap.h), and the
//          admission of runs that are queued for a group.
//
// A slot of a group belongs to the attempt: the claim takes it, or the admission reserves it, and
// it is free again when the run leaves RUNNING for anything but HELD. A run whose claim finds no
// free slot is queued for the group (PENDING with `due` kQueued) and keeps the slot of its job
// meanwhile. Two runs cannot wait for each other: who holds a slot of a group waits for nothing.
//
// Example  Group db, limit 1; the jobs a and b name it. Run A of a is claimed and holds the slot.
//          Run B of b becomes due and is queued for the group. A fails and waits for its retry: the
//          slot is free, and B is admitted. The retry of A is queued behind B.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "common/domain/run/run.h"

namespace carillon {

inline constexpr int64_t kGroupLimitMax = 10'000;
inline constexpr size_t kGroupsMax = 1'000;
inline constexpr Duration kGroupPerMax = 24h;
// A slot that was given later than this from now on is cool: the database's clock was set back.
inline constexpr Duration kGroupClockAhead = 60s;
// An admitted run whose claim does not come within this time gives the slot back, because perhaps
// no executor can take it. It stays due, and its claim asks for a slot again.
inline constexpr Duration kGroupGrantKept = 30s;
// An admission also reserves slots that are cool only within this time, so that a group needs no
// look at the very moment.
inline constexpr Duration kGroupAhead = 1s;
// An admitted run is due so long before its slot is cool, so that an executor has it by then. Its
// claim waits for the rest.
inline constexpr Duration kGroupLead = 100ms;

// A slot is cool if it may be given again: `per` has passed since its last process or claim, at
// `given` (slot_start.h). So at most as many start within any `per` as the group has slots.
bool IsCool(Duration per, WallTime given, WallTime now);
// When it may be given again: `now` if it is cool.
WallTime CoolAt(Duration per, WallTime given, WallTime now);
// When a run is due that gets a slot which is cool at `cool`.
WallTime DueInGroup(WallTime cool, WallTime now);

// The order in which runs get slots of a group.
struct GroupPlace {
  int64_t rank = 0;  // the higher priority goes first, and runs of backfills last
  RunKey key = {};

  auto operator<=>(const GroupPlace&) const = default;
};
GroupPlace PlaceInGroup(const RunRow& row);

// ---- a run that is claimed ---------------------------------------------------------------------

struct GroupFacts {
  bool named = false;          // the job names a group
  bool has_slot = false;       // the admission has reserved one for the run
  Duration warm{};             // it is cool only after this time; zero = it is cool
  bool too_many = false;       // more slots are used than the limit, which was lowered, allows
  bool free = false;           // one may be taken
  bool queued_before = false;  // a run that goes before this one is queued for the group
};
enum class GroupVerdict {
  kStart,
  // The run is queued for the group, and gives back a reserved slot: after the limit was lowered,
  // no attempt starts until enough of the others have ended.
  kQueue,
  kTooEarly,  // its slot is cool within kGroupLead: the claim is decided then
};
GroupVerdict DecideStartInGroup(const GroupFacts& facts);

// The slots that may be given away. `used`: slots that are taken or cooling, also those above a
// lowered limit.
int64_t FreeInGroup(int64_t limit, int64_t used);
// Of the `cooling` slots, besides `taken` ones: how many must become cool before the one whose time
// allows the next start. Not below `cooling`: runs must end first.
struct SlotUseOfGroup {
  int64_t limit = 0;
  int64_t taken = 0;
  int64_t cooling = 0;
};
int64_t CoolingBeforeStart(const SlotUseOfGroup& use);

// ---- the queue of a group ----------------------------------------------------------------------

struct GroupWait {
  GroupPlace place = {};
  SegmentId segment = {};
};
// The runs of `own` that get slots, in order. `queue`: the first runs that are queued for the
// group, at least `free` of them if there are so many. A run gets a slot only if fewer runs go
// before it than slots are free. So the order holds although each owner admits only the runs of
// its segments.
std::vector<RunKey> DecideGroupAdmission(const std::vector<GroupWait>& queue,
                                         const std::vector<SegmentId>& own, int64_t free);

}  // namespace carillon
