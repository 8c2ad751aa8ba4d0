#include "scheduler/assign/assignment_follower.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace carillon::scheduler {

Result<Assignment> AssignmentFollower::Follow() {
  MutexLock lock(mu_);
  auto assignment = coordinator_.ReadAssignment();
  if (!assignment.ok() || assignment->generation.value() == 0) return assignment;
  wanted_.clear();
  std::set<std::string_view> members = {self_.value()};
  for (const auto& [segment, member] : assignment->owners) {
    if (member == self_) wanted_.push_back(segment);
    members.insert(member.value());
  }
  members_ = static_cast<int>(members.size());
  assignment_known_ = true;
  DropUnwanted();
  table_.Keep(assignment->generation, coordinator_.Joins(), wanted_);
  return assignment;
}

void AssignmentFollower::DropUnwanted() {
  const auto view = table_.View();
  Fence unwanted = view->FenceFor(view->Segments());
  unwanted.insert(unwanted.end(), view->suspended().begin(), view->suspended().end());
  std::erase_if(unwanted, [this](const FencedSegment& held) REQUIRES(mu_) {
    return std::binary_search(wanted_.begin(), wanted_.end(), held.segment);
  });
  table_.Drop(unwanted, DropCause::kReassigned);
  dropped_.insert(dropped_.end(), unwanted.begin(), unwanted.end());
}

Fence AssignmentFollower::TakeDropped() {
  MutexLock lock(mu_);
  return std::exchange(dropped_, {});
}

bool AssignmentFollower::Wants(SegmentId segment) const {
  MutexLock lock(mu_);
  return std::binary_search(wanted_.begin(), wanted_.end(), segment);
}

bool AssignmentFollower::settled() const {
  MutexLock lock(mu_);
  return assignment_known_ && table_.View()->ActiveSegments() == wanted_;
}

}  // namespace carillon::scheduler
