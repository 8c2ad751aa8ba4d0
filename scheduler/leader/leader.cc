#include "scheduler/leader/leader.h"

#include <algorithm>

#include "common/base/log.h"
#include "scheduler/assign/rendezvous.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kLookEvery = 500ms;
constexpr Duration kUnfitLookEvery = 50ms;      // short, as the clock is measured soon after start
constexpr uint64_t kGenerationsPerStep = 1000;  // maximum per Step, if the coordinator is behind

}  // namespace

LeaderLoop::LeaderLoop(Ports ports, Options options)
    : ports_(std::move(ports)),
      options_(std::move(options)),
      self_(options_.self),
      rng_(options_.seed),
      backoff_({.first = 50ms, .longest = 2s}) {}

SteadyTime LeaderLoop::Step(SteadyTime now) {
  if (now < next_try_) return next_try_;
  next_try_ = now + kLookEvery;
  if (!ports_.fit()) {
    Leave();
    next_try_ = now + kUnfitLookEvery;
    return next_try_;
  }
  if (!EnsureJoined(now)) return next_try_;
  const bool leads = ports_.coordinator.IsLeader();
  if (is_leader_.exchange(leads) != leads) {
    log::Info("leader", "{} the leader member={}", leads ? "became" : "is no longer",
              options_.self.id.value());
  }
  ports_.metrics.gauge("carillon_is_leader").Set(leads ? 1 : 0);
  if (leads && ports_.store_trusted()) Lead(now);
  return next_try_;
}

bool LeaderLoop::EnsureJoined(SteadyTime now) {
  if (joined_ && ports_.coordinator.State() != SessionState::kExpired) return true;
  is_leader_ = false;
  ports_.metrics.gauge("carillon_is_leader").Set(0);
  const Status joined = ports_.coordinator.Join(self_);
  if (!joined.ok()) {
    log::Warn("leader", "join: {}", joined.error().message);
    next_try_ = now + backoff_.Next(rng_);
    return false;
  }
  backoff_.Reset();
  joined_ = true;
  return true;
}

void LeaderLoop::Leave() {
  if (joined_) ports_.coordinator.Leave();
  joined_ = false;
  is_leader_ = false;
}

void LeaderLoop::Lead(SteadyTime now) {
  const auto current = ports_.coordinator.ReadAssignment();
  const auto records = ports_.segments.ListSegments();
  if (!current.ok() || !records.ok()) {
    next_try_ = now + backoff_.Next(rng_);
    return;
  }
  const std::vector<MemberInfo> members = ports_.coordinator.Members();
  std::vector<MemberId> ids;
  ids.reserve(members.size());
  for (const MemberInfo& member : members) ids.push_back(member.id);
  const auto owners = AssignSegments(static_cast<uint32_t>(records->size()), ids);
  if (owners.empty()) return;
  if (owners == current->owners && !NeedsNewGeneration(*current, *records, members)) {
    backoff_.Reset();
    return;
  }
  uint64_t wanted = current->generation.value() + 1;
  for (const SegmentRecord& record : *records) {
    wanted = std::max(wanted, record.assign_gen.value() + 1);
  }
  const Status written =
      WriteUpTo({current->generation, owners}, current->generation, Generation(wanted));
  if (!written.ok()) {
    log::Warn("leader", "assignment not written: {}", written.error().message);
    next_try_ = now + backoff_.Next(rng_);
    return;
  }
  log::Info("leader", "assignment written generation={} members={}", wanted, ids.size());
}

// The coordinator requires each generation to be one higher than its latest generation. The
// coordinator may have lost its data, or may be new as in standalone. Then this function writes one
// generation after the other, until the latest is higher than all generations in the store.
Status LeaderLoop::WriteUpTo(Assignment assignment, Generation stored, Generation wanted) {
  const uint64_t last = std::min(wanted.value(), stored.value() + kGenerationsPerStep);
  for (uint64_t generation = stored.value() + 1; generation <= last; ++generation) {
    assignment.generation = Generation(generation);
    CARILLON_TRY(ports_.coordinator.WriteAssignment(assignment));
  }
  if (last < wanted.value())
    return {ErrorCode::kExhausted, "the remaining generations follow at the next step"};
  return {};
}

bool LeaderLoop::NeedsNewGeneration(const Assignment& current,
                                    const std::vector<SegmentRecord>& records,
                                    const std::vector<MemberInfo>& members) const {
  std::map<MemberId, Incarnation> alive;
  for (const MemberInfo& member : members) alive[member.id] = member.incarnation;
  return std::any_of(records.begin(), records.end(), [&](const SegmentRecord& record) {
    if (record.assign_gen < current.generation) return false;  // can be taken under this one
    const auto assigned = current.owners.find(record.segment);
    if (assigned == current.owners.end()) return true;
    return record.assign_gen > current.generation || record.owner != assigned->second ||
           record.incarnation != alive[assigned->second];
  });
}

}  // namespace carillon::scheduler
