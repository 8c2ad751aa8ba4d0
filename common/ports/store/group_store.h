// Concurrency groups as users see and change them (common/domain/queue/group.h). Claims take their
// slots (FiringStore::Claim); QueueStore admits the runs that wait for them.
//
// Threads  Thread-safe; calls may block for the configured statement timeout.
// Errors   kNotFound: no such group. kUnavailable: nothing was written, for example because a claim
//          holds the group for long. kTimeout: the outcome of the commit is unknown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/queue/group.h"

namespace carillon {

struct Group {
  std::string name = {};
  int64_t limit = 0;    // 0-kGroupLimitMax
  Duration per{};       // 0-kGroupPerMax; a slot is given again so long after it was last given
  int64_t running = 0;  // slots in use, also those that are reserved for admitted runs
  int64_t queued = 0;   // counted up to 100,000
  int64_t cooling = 0;  // free slots that are not given again yet
  int64_t jobs = 0;     // that name it
  WallTime updated = {};
  // When enough of the cooling slots are given again for a start, at least one; nullopt: none is
  // cooling, or more runs must end first.
  std::optional<WallTime> next_cool = {};
};

struct GroupChange {
  int64_t limit = 0;
  std::optional<Duration> per = {};  // nullopt: as it is; zero in a new group
};

// A run that holds a slot of a group, or waits for one.
struct GroupRun {
  RunRow row;
  JobId job_id = {};
  std::string job_name = {};
  WallTime since = {};  // when it got the slot, or was queued
};

struct GroupDetail {
  Group group = {};
  std::vector<GroupRun> holders = {};  // by key, at most `limit` of the call
  std::vector<GroupRun> queue = {};    // the first `limit` of the call, in their order
};

class GroupStore {
 public:
  virtual ~GroupStore() = default;

  // All groups, by name.
  virtual Result<std::vector<Group>> ListGroups(WallTime now) = 0;
  virtual Result<GroupDetail> GetGroup(const std::string& name, size_t limit, WallTime now) = 0;

  // Creates or changes the group. A claim that begins after the return obeys the new limit and
  // time. Attempts that run already keep their slots. kExhausted: there are kGroupsMax groups.
  virtual Result<Group> PutGroup(const std::string& name, const GroupChange& change,
                                 WallTime now) = 0;

  // kConflict: a job names the group.
  virtual Status DeleteGroup(const std::string& name) = 0;
};

}  // namespace carillon
