// Concurrency groups as users see and change them (common/domain/queue/group.h). Claims take their
// slots (FiringStore::Claim); QueueStore admits the runs that wait for them.
//
// Threads  Thread-safe; calls may block for the configured statement timeout.
// Errors   kNotFound: no such group. kUnavailable: nothing was written, for example because a claim
//          holds the group for long. kTimeout: the outcome of the commit is unknown.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/queue/group.h"

namespace carillon {

struct Group {
  std::string name = {};
  int64_t limit = 0;    // 0-kGroupLimitMax
  int64_t running = 0;  // slots in use, also those that are reserved for admitted runs
  int64_t queued = 0;   // counted up to 100,000
  int64_t jobs = 0;     // that name it
  WallTime updated = {};
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
  virtual Result<std::vector<Group>> ListGroups() = 0;
  virtual Result<GroupDetail> GetGroup(const std::string& name, size_t limit) = 0;

  // Creates the group or changes its limit. A claim that begins after the return obeys the new
  // limit. Attempts that run already keep their slots. kExhausted: there are kGroupsMax groups.
  virtual Result<Group> PutGroup(const std::string& name, int64_t limit, WallTime now) = 0;

  // kConflict: a job names the group.
  virtual Status DeleteGroup(const std::string& name) = 0;
};

}  // namespace carillon
