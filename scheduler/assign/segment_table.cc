#include "scheduler/assign/segment_table.h"

#include <algorithm>

#include "common/base/log.h"

namespace carillon::scheduler {

std::string_view Name(DropCause cause) {
  switch (cause) {
    case DropCause::kFenced: return "fenced";
    case DropCause::kUnknownOutcome: return "unknown_outcome";
    case DropCause::kReassigned: return "reassigned";
    case DropCause::kClockUntrusted: return "clock_untrusted";
    case DropCause::kStoreHeld: return "store_held";
  }
  return "unknown";
}

bool OwnedView::IsSuspended(SegmentId segment, Epoch epoch) const {
  return std::binary_search(suspended_.begin(), suspended_.end(), FencedSegment{segment, epoch});
}

const OwnedSegment* OwnedView::Find(SegmentId segment) const {
  const auto at = std::lower_bound(
      owned_.begin(), owned_.end(), segment,
      [](const OwnedSegment& owned, SegmentId wanted) { return owned.segment < wanted; });
  return at != owned_.end() && at->segment == segment ? &*at : nullptr;
}

bool OwnedView::Holds(SegmentId segment, Epoch epoch) const {
  const OwnedSegment* found = Find(segment);
  return found != nullptr && found->epoch == epoch;
}

std::vector<SegmentId> OwnedView::Segments() const {
  std::vector<SegmentId> segments;
  segments.reserve(owned_.size());
  for (const OwnedSegment& owned : owned_) segments.push_back(owned.segment);
  return segments;
}

std::vector<SegmentId> OwnedView::ActiveSegments() const {
  std::vector<SegmentId> segments;
  for (const OwnedSegment& owned : owned_) {
    if (owned.active) segments.push_back(owned.segment);
  }
  return segments;
}

Fence OwnedView::FenceFor(std::vector<SegmentId> segments) const {
  std::sort(segments.begin(), segments.end());
  segments.erase(std::unique(segments.begin(), segments.end()), segments.end());
  Fence fence;
  fence.reserve(segments.size());
  for (SegmentId segment : segments) {
    if (const OwnedSegment* owned = Find(segment)) fence.push_back({segment, owned->epoch});
  }
  return fence;
}

void SegmentTable::Add(const Fence& taken, Generation generation, SteadyTime sent,
                       SteadyTime returned, uint64_t joins, Duration lease_before) {
  if (taken.empty()) return;
  {
    MutexLock lock(mu_);
    for (const FencedSegment& item : taken) {
      held_[item.segment] = {.segment = {.segment = item.segment,
                                         .epoch = item.epoch,
                                         .generation = generation,
                                         .joins = joins,
                                         .taken = returned,
                                         .lease_before = lease_before},
                             .proved = sent};
    }
    PublishLocked();
  }
  if (wake_) wake_();
}

size_t SegmentTable::Drop(const Fence& fence, DropCause cause) {
  if (fence.empty()) return 0;
  size_t dropped = 0;
  {
    MutexLock lock(mu_);
    for (const FencedSegment& item : fence) {
      const auto found = held_.find(item.segment);
      if (found == held_.end() || found->second.segment.epoch != item.epoch) continue;
      if (!found->second.suspended) ++dropped;
      if (cause == DropCause::kUnknownOutcome || cause == DropCause::kStoreHeld) {
        found->second.suspended = true;
      } else {
        held_.erase(found);
      }
    }
    PublishLocked();
  }
  if (dropped == 0) return 0;
  log::Info("assign", "segments dropped count={} cause={}", dropped, Name(cause));
  if (wake_) wake_();
  return dropped;
}

void SegmentTable::Activate(const Fence& fence) {
  {
    MutexLock lock(mu_);
    for (const FencedSegment& item : fence) {
      const auto found = held_.find(item.segment);
      if (found == held_.end() || found->second.segment.epoch != item.epoch) continue;
      found->second.segment.active = true;
    }
    PublishLocked();
  }
  if (wake_) wake_();
}

void SegmentTable::Proved(const Fence& fence, SteadyTime sent) {
  MutexLock lock(mu_);
  for (const FencedSegment& item : fence) {
    const auto found = held_.find(item.segment);
    if (found == held_.end() || found->second.segment.epoch != item.epoch) continue;
    found->second.proved = std::max(found->second.proved, sent);
  }
}

void SegmentTable::Keep(Generation generation, uint64_t joins,
                        const std::vector<SegmentId>& wanted) {
  MutexLock lock(mu_);
  bool changed = false;
  for (auto& [segment, held] : held_) {
    // The caller dropped unwanted segments before. If one is left, a Take under an earlier
    // assignment has added it afterwards.
    if (!std::binary_search(wanted.begin(), wanted.end(), segment)) continue;
    if (held.segment.joins != joins) continue;
    if (held.segment.generation.value() + 1 != generation.value()) continue;
    held.segment.generation = generation;
    held.segment.kept = true;
    changed = true;
  }
  if (changed) PublishLocked();
}

void SegmentTable::ProvedBySession(Generation generation, uint64_t joins, SteadyTime sent) {
  MutexLock lock(mu_);
  for (auto& [segment, held] : held_) {
    const OwnedSegment& owned = held.segment;
    if (owned.generation != generation || (owned.kept && owned.joins != joins)) continue;
    held.proved = std::max(held.proved, sent);
  }
}

std::optional<SteadyTime> SegmentTable::OldestProof() const {
  MutexLock lock(mu_);
  std::optional<SteadyTime> oldest;
  for (const auto& [segment, held] : held_) {
    oldest = std::min(oldest.value_or(held.proved), held.proved);
  }
  return oldest;
}

bool SegmentTable::MayRenew(SegmentId segment, Epoch epoch, SteadyTime now) const {
  MutexLock lock(mu_);
  const auto found = held_.find(segment);
  return found != held_.end() && found->second.segment.epoch == epoch &&
         now - found->second.proved < proof_max_age_;
}

std::shared_ptr<const OwnedView> SegmentTable::View() const {
  MutexLock lock(mu_);
  return view_;
}

void SegmentTable::PublishLocked() {
  std::vector<OwnedSegment> owned;
  Fence suspended;
  for (const auto& [segment, held] : held_) {
    if (held.suspended) {
      suspended.push_back({segment, held.segment.epoch});
    } else {
      owned.push_back(held.segment);
    }
  }
  view_ = std::make_shared<const OwnedView>(std::move(owned), std::move(suspended));
  version_.fetch_add(1, std::memory_order_release);
}

}  // namespace carillon::scheduler
