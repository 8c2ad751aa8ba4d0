#include "scheduler/assign/segment_owner.h"

#include <algorithm>
#include <set>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kSampleEvery = 1s;
constexpr Duration kFirstSamplesEvery = 20ms;  // at first, to find a short round trip soon
constexpr size_t kFirstSamples = 5;
constexpr Duration kAssignmentLookEvery = 100ms;  // between reads of the assignment
constexpr Duration kLogDuplicateEvery = 10s;      // between log lines about a second process
constexpr Duration kReleaseLookEvery = 10ms;      // while a former owner is about to release

}  // namespace

SegmentOwner::SegmentOwner(const Ports& ports, Options options)
    : ports_(ports),
      options_(std::move(options)),
      rng_(options_.seed),
      backoff_({.first = 20ms, .longest = 1s}) {}

SteadyTime SegmentOwner::Step(SteadyTime now) {
  if (now >= next_sample_ || ports_.cluster.needs_sample()) MeasureClock(now);
  JudgeClock();
  if (now >= next_take_) FollowAssignment(now);
  if (now >= next_proof_) RenewProof(now);
  const Duration look_again = waits_ ? kReleaseLookEvery : kAssignmentLookEvery;
  return std::min({next_sample_, std::max(next_take_, now + look_again), next_proof_});
}

void SegmentOwner::MeasureClock(SteadyTime now) {
  next_sample_ = now + (samples_taken_ < kFirstSamples ? kFirstSamplesEvery : kSampleEvery);
  const SteadyTime sent = ports_.clock.Steady();
  const auto answer = ports_.segments.Now();
  if (!answer.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(answer.code())).Add();
    return;
  }
  ++samples_taken_;
  last_answer_us_ = ports_.clock.Steady().time_since_epoch().count();
  ports_.cluster.AddSample(sent, ports_.clock.Steady(), *answer);
}

// If the difference exceeds the limit, one of the two clocks is wrong, and it is unknown which. A
// member on a host whose clock is off must not own segments. Its wall times (start, end, logs)
// would contradict those in the store.
void SegmentOwner::JudgeClock() {
  const auto offset = ports_.cluster.Offset();
  if (!offset || ports_.cluster.needs_sample()) return;
  ports_.metrics.gauge("carillon_clock_offset_seconds")
      .Set(std::chrono::duration<double>(*offset).count());
  const bool trusted = std::chrono::abs(*offset) <= options_.clock_offset_max;
  if (clock_trusted_.exchange(trusted) == trusted && trusted) return;
  if (trusted) {
    log::Info("assign", "clock within the limit of the database's offset_us={}", offset->count());
    return;
  }
  const auto view = ports_.table.View();
  if (view->all().empty()) return;
  log::Error("assign",
             "clock differs from the database's by {} us: segments released; correct this "
             "host's clock",
             offset->count());
  Fence everything = view->FenceFor(view->Segments());
  everything.insert(everything.end(), view->suspended().begin(), view->suspended().end());
  GiveUp(everything, DropCause::kClockUntrusted);
}

void SegmentOwner::GiveUp(const Fence& fence, DropCause cause) {
  ports_.table.Drop(fence, cause);
  Release(fence);
}

// Call it after the table has dropped these epochs. So nothing new begins under them.
void SegmentOwner::Release(const Fence& fence) {
  if (fence.empty()) return;
  const Status released = ports_.segments.Release(fence);
  // If the release failed, the next owner waits for `release_wait` and then takes the
  // segments by force.
  if (!released.ok()) log::Warn("assign", "release: {}", released.error().message);
}

void SegmentOwner::Leave() {
  const auto view = ports_.table.View();
  Fence everything = view->FenceFor(view->Segments());
  everything.insert(everything.end(), view->suspended().begin(), view->suspended().end());
  const Fence dropped = ports_.assignment.TakeDropped();
  everything.insert(everything.end(), dropped.begin(), dropped.end());
  GiveUp(everything, DropCause::kReassigned);
}

void SegmentOwner::FollowAssignment(SteadyTime now) {
  const auto assignment = ports_.assignment.Follow();
  Release(ports_.assignment.TakeDropped());
  if (!assignment.ok() || assignment->generation.value() == 0) return;
  if (!clock_trusted() || !ports_.store_trusted()) return;
  const std::vector<SegmentId> missing = Missing(*assignment, now);
  if (!missing.empty()) TakeMissing(*assignment, missing);
}

// Returns the segments to take now. They are assigned to this member, and it does not hold them, or
// its session could not prove them while the store is unavailable. The session cannot prove a
// segment if the member missed a generation, or has joined again after it took the segment.
//
// Segments that a live former owner has not released yet are left out for `release_wait`. So
// the owner can finish its work on them. A forced Take would end its connections and disturb
// its other segments.
std::vector<SegmentId> SegmentOwner::Missing(const Assignment& assignment, SteadyTime now) {
  const auto view = ports_.table.View();
  const uint64_t joins = ports_.coordinator.Joins();
  waits_ = false;
  std::vector<SegmentId> missing;
  for (const auto& [segment, member] : assignment.owners) {
    if (member != options_.self) continue;
    const OwnedSegment* owned = view->Find(segment);
    const bool provable = owned != nullptr && owned->generation >= assignment.generation &&
                          !(owned->kept && owned->joins != joins);
    if (!provable) missing.push_back(segment);
  }
  if (missing.empty()) return missing;
  // While another process with this member's id is alive, nothing is taken. The session of that
  // process may still prove the segments that it keeps.
  const std::vector<MemberInfo> members = ports_.coordinator.Members();
  if (IsTwice(members, now)) return {};
  if (waiting_for_ != assignment.generation) {
    waiting_for_ = assignment.generation;
    release_deadline_ = now + options_.release_wait;
  }
  if (now >= release_deadline_) return missing;
  const auto records = ports_.segments.ListSegments();
  if (!records.ok()) return missing;
  std::set<Incarnation> alive;
  for (const MemberInfo& info : members) alive.insert(info.incarnation);
  std::set<SegmentId> held;
  for (const SegmentRecord& record : *records) {
    const bool other = record.incarnation != options_.incarnation;
    if (other && !record.released && alive.contains(record.incarnation)) {
      held.insert(record.segment);
    }
  }
  const size_t wanted = missing.size();
  std::erase_if(missing, [&held](const SegmentId& segment) { return held.contains(segment); });
  waits_ = missing.size() < wanted;
  return missing;
}

// The error is logged only after kLogDuplicateEvery. After a crash, the old process remains a
// member until its session ends.
bool SegmentOwner::IsTwice(const std::vector<MemberInfo>& members, SteadyTime now) {
  const auto other = std::find_if(members.begin(), members.end(), [this](const MemberInfo& info) {
    return info.id == options_.self && info.incarnation != options_.incarnation;
  });
  if (other == members.end()) {
    twice_since_.reset();
    return false;
  }
  if (!twice_since_) twice_since_ = now;
  if (now - *twice_since_ >= kLogDuplicateEvery) {
    twice_since_ = now;
    log::Error("assign",
               "another process with scheduler.id {} is a member, at {}: this one takes no "
               "segments; give each its own scheduler.id",
               options_.self.value(), other->rest_url);
  }
  return true;
}

void SegmentOwner::TakeMissing(const Assignment& assignment,
                               const std::vector<SegmentId>& missing) {
  const uint64_t joins = ports_.coordinator.Joins();
  const SteadyTime sent = ports_.clock.Steady();
  const auto taken = ports_.segments.Take({.member = options_.self,
                                           .incarnation = options_.incarnation,
                                           .generation = assignment.generation,
                                           .segments = missing,
                                           .lease = options_.lease});
  const SteadyTime returned = ports_.clock.Steady();
  if (!taken.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(taken.code())).Add();
    log::Warn("assign", "take: {}", taken.error().message);
    next_take_ = returned + backoff_.Next(rng_);
    return;
  }
  if (!taken->fence.empty()) {
    log::Info("assign", "segments taken count={} generation={}", taken->fence.size(),
              assignment.generation.value());
    ports_.table.Add(taken->fence, assignment.generation, sent, returned, joins,
                     taken->lease_before);
    CountOwned();
  }
  // Segments that the store refused to give can be taken only under a newer assignment.
  if (taken->fence.size() < missing.size()) {
    next_take_ = returned + backoff_.Next(rng_);
  } else {
    backoff_.Reset();
  }
}

void SegmentOwner::CountOwned() {
  ports_.metrics.gauge("carillon_owned_segments")
      .Set(static_cast<double>(ports_.table.View()->all().size()));
}

void SegmentOwner::RenewProof(SteadyTime now) {
  next_proof_ = now + options_.proof_every;
  const auto view = ports_.table.View();
  CountOwned();
  const Status checked = ports_.fences.Check(view->FenceFor(view->Segments()));
  if (!checked.ok()) log::Debug("assign", "cannot read epochs: {}", checked.error().message);
}

}  // namespace carillon::scheduler
