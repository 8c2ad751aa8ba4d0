#include "tests/twins/memory_group_store.h"

#include <algorithm>

#include "common/domain/nodes/node_groups.h"

namespace carillon::memory {

Group MemoryGroupStore::ToGroup(const std::string& name, const GroupEntry& entry,
                                WallTime now) const {
  Group group{.name = name,
              .limit = entry.limit,
              .per = entry.per,
              .running = static_cast<int64_t>(entry.holders.size()),
              .queued = static_cast<int64_t>(entry.queue.size()),
              .cooling = static_cast<int64_t>(entry.Cooling(now, Duration{}).size()),
              .updated = entry.updated,
              .next_cool = entry.NextStart(now)};
  for (const auto& [job_no, job] : tables_.jobs()) {
    if (job.deleted) continue;
    if (job.definition.concurrency_group == name) ++group.jobs;
    if (GroupsOfNodes(job.definition).contains(name)) ++group.jobs;
  }
  return group;
}

GroupRun MemoryGroupStore::ToRun(const RunKey& key, WallTime since) {
  const RunRow& row = tables_.FindRun(key)->row;
  const JobEntry& job = tables_.OwnerOf(row.job_no);
  return {.row = row, .job_id = job.id, .job_name = job.definition.name, .since = since};
}

Result<std::vector<Group>> MemoryGroupStore::ListGroups(WallTime now) {
  MutexLock lock(tables_.mu);
  std::vector<Group> groups;
  for (const auto& [name, entry] : tables_.groups) groups.push_back(ToGroup(name, entry, now));
  return groups;
}

Result<GroupDetail> MemoryGroupStore::GetGroup(const std::string& name, size_t limit,
                                               WallTime now) {
  MutexLock lock(tables_.mu);
  const auto found = tables_.groups.find(name);
  if (found == tables_.groups.end()) return {ErrorCode::kNotFound, "no concurrency group " + name};
  GroupDetail detail{.group = ToGroup(name, found->second, now)};
  for (const auto& [key, slot] : found->second.holders) {
    if (detail.holders.size() == limit) break;
    const RunRow& row = tables_.FindRun(key)->row;
    detail.holders.push_back(ToRun(key, row.state == RunState::kPending ? row.due : row.claimed));
  }
  for (const auto& [place, entry] : found->second.queue) {
    if (detail.queue.size() == limit) break;
    detail.queue.push_back(ToRun(place.key, entry.since));
  }
  return detail;
}

Result<Group> MemoryGroupStore::PutGroup(const std::string& name, const GroupChange& change,
                                         WallTime now) {
  MutexLock lock(tables_.mu);
  if (!tables_.groups.contains(name)) {
    const uint64_t reserved = tables_.group_numbers.Reserve(1);
    if (tables_.groups.size() >= kGroupsMax) {
      return {ErrorCode::kExhausted, "there are too many concurrency groups"};
    }
    tables_.groups[name] = {.group_no = GroupNo(tables_.group_numbers.Take(reserved, 0)),
                            .limit = change.limit};
  }
  GroupEntry& entry = tables_.groups.at(name);
  entry.limit_before = entry.limit;
  entry.limit = change.limit;
  entry.per = change.per.value_or(entry.per);
  // Slots above a lowered limit stay, as they are when it is raised again.
  const auto slots = std::max(entry.given.size(), static_cast<size_t>(change.limit));
  entry.given.resize(slots, FromUnixMicros(0));
  entry.updated = now;
  return ToGroup(name, entry, now);
}

Status MemoryGroupStore::DeleteGroup(const std::string& name) {
  MutexLock lock(tables_.mu);
  const auto found = tables_.groups.find(name);
  if (found == tables_.groups.end()) return {ErrorCode::kNotFound, "no concurrency group " + name};
  for (const auto& [job_no, job] : tables_.jobs()) {
    if (job.deleted || !GroupsOf(job.definition).contains(name)) continue;
    return {ErrorCode::kConflict,
            "concurrency group " + name + " is used by job " + job.id.value()};
  }
  if (!found->second.queue.empty()) {
    return {ErrorCode::kConflict, "runs wait for a slot of concurrency group " + name};
  }
  tables_.groups.erase(found);
  return {};
}

}  // namespace carillon::memory
