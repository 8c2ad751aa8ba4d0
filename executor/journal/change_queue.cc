#include "executor/journal/change_queue.h"

#include <algorithm>
#include <iterator>

namespace carillon::executor {
namespace {

constexpr size_t kChunkBytesMax = 4u << 20;

template <typename Changes>
auto FindPut(Changes& changes, RecordId id) {
  return std::find_if(changes.begin(), changes.end(), [id](const ChangeQueue::Change& change) {
    return change.id == id && change.kind != RecordKind::kRemove;
  });
}

}  // namespace

void ChangeQueue::Add(Change change) {
  change.position = ++last_;
  queued_bytes_ += kRecordHeaderBytes + change.payload.size();
  if (change.kind == RecordKind::kPut) unindexed_bytes_ += change.payload.size();
  if (change.kind == RecordKind::kMove) ++moving_;
  pending_.push_back(std::move(change));
}

const std::string* ChangeQueue::FindPayload(RecordId id) const {
  const auto writing = FindPut(writing_, id);
  if (writing != writing_.end()) return &writing->payload;
  const auto pending = FindPut(pending_, id);
  return pending != pending_.end() ? &pending->payload : nullptr;
}

void ChangeQueue::Withdraw(RecordId id) {
  if (FindPut(writing_, id) != writing_.end()) {  // its put is being written now
    return Add({.id = id, .kind = RecordKind::kRemove});
  }
  const auto pending = FindPut(pending_, id);
  if (pending == pending_.end()) return;
  if (pending->kind == RecordKind::kPut) unindexed_bytes_ -= pending->payload.size();
  if (pending->kind == RecordKind::kMove) --moving_;
  queued_bytes_ -= pending->payload.size();
  if (pending->on_disk) {
    pending->kind = RecordKind::kRemove;
    pending->payload.clear();
  } else {
    queued_bytes_ -= kRecordHeaderBytes;
    pending_.erase(pending);
  }
}

ChangeQueue::Position ChangeQueue::written() const {
  if (!writing_.empty()) return writing_.front().position - 1;
  return pending_.empty() ? last_ : pending_.front().position - 1;
}

ChangeQueue::Position ChangeQueue::synced() const {
  return unsynced_.empty() ? written() : unsynced_.front().position - 1;
}

void ChangeQueue::WantSync(Position position) {
  if (position <= synced()) return;
  if (wanted_ <= synced() || position < wanted_) wanted_ = position;
}

bool ChangeQueue::sync_is_due() const {
  return wanted_ > synced() && wanted_ <= written() && !unsynced_.empty();
}

void ChangeQueue::BeginWrite(const SegmentIndex::Segment& segment, std::string* bytes) {
  while (!pending_.empty() && bytes->size() < kChunkBytesMax) {
    Change& change = pending_.front();
    const RecordPlace place = {segment.number, segment.used + bytes->size(), change.payload.size()};
    if (place.end() > segment.allocated) break;
    change.place = place;
    AppendRecord(bytes, {change.id, change.kind, change.payload});
    writing_.push_back(std::move(change));
    pending_.pop_front();
  }
}

void ChangeQueue::FinishWrite(size_t bytes, SegmentIndex& index) {
  queued_bytes_ -= bytes;
  for (Change& change : writing_) {
    if (change.kind != RecordKind::kPut) index.Forget(change.id, change.position);
    if (change.kind != RecordKind::kRemove) index.Put(change.id, change.place);
    if (change.kind == RecordKind::kPut) unindexed_bytes_ -= change.payload.size();
    unsynced_.push_back(std::move(change));
  }
  writing_.clear();
}

void ChangeQueue::FinishSync() {
  for (const Change& change : unsynced_) moving_ -= change.kind == RecordKind::kMove ? 1 : 0;
  unsynced_.clear();
}

void ChangeQueue::TakeBack(SegmentIndex& index) {
  for (const Change& change : unsynced_) {
    queued_bytes_ += kRecordHeaderBytes + change.payload.size();
    if (change.kind == RecordKind::kRemove) continue;
    index.Forget(change.id, change.position);
    if (change.kind == RecordKind::kPut) unindexed_bytes_ += change.payload.size();
  }
  std::move(writing_.begin(), writing_.end(), std::back_inserter(unsynced_));
  writing_.clear();
  for (Change& change : unsynced_) change.on_disk = true;
  pending_.insert(pending_.begin(), std::make_move_iterator(unsynced_.begin()),
                  std::make_move_iterator(unsynced_.end()));
  unsynced_.clear();
}

}  // namespace carillon::executor
