#include "executor/journal/segment_orders.h"

#include <unistd.h>

#include <utility>

#include <fmt/format.h>

namespace carillon::executor {
namespace {

// The oldest segment is copied once the disk holds more bytes than this many per live byte
// plus two segments.
constexpr size_t kDiskPerLiveMax = 3;

const char* NameOf(DeviceOrder::Kind kind) {
  switch (kind) {
    case DeviceOrder::Kind::kWrite: return "write";
    case DeviceOrder::Kind::kSync: return "fdatasync";
    case DeviceOrder::Kind::kSeal: return "seal";
    case DeviceOrder::Kind::kCreate: return "preallocate";
    case DeviceOrder::Kind::kActivate: return "rename";
    case DeviceOrder::Kind::kDelete: return "delete";
    case DeviceOrder::Kind::kRead: return "read";
    case DeviceOrder::Kind::kLog: return "log";
    case DeviceOrder::Kind::kSpace: return "statvfs";
  }
  return "order";
}

}  // namespace

Status SegmentOrders::Step() {
  for (;;) {
    if (active_) {
      if (!parts_.device.Done()) return {};
      CARILLON_TRY(Finish());
    }
    const std::optional<Next> next = NextOrder();
    if (!next) return {};
    Begin(*next);
  }
}

bool SegmentOrders::CreateSpare() {
  if (active_) return false;
  Begin({Kind::kCreate, false});
  if (!parts_.device.Done()) return false;
  static_cast<void>(Finish().ok());  // SegmentRoom keeps the error
  return true;
}

void SegmentOrders::AwaitDevice() {
  if (active_) parts_.device.Wait();
}

Status SegmentOrders::DeleteDead() {
  while (HasDeadSegment()) {
    Begin({Kind::kDelete, false});
    parts_.device.Wait();
    CARILLON_TRY(Finish());
  }
  return {};
}

std::optional<SegmentOrders::Next> SegmentOrders::NextOrder() const {
  const std::optional<Kind> use = NextForUse();
  const std::optional<Kind> upkeep = NextForUpkeep();
  if (use && !(upkeep && for_use_)) return Next{*use, true};
  if (upkeep) return Next{*upkeep, false};
  return std::nullopt;
}

std::optional<DeviceOrder::Kind> SegmentOrders::NextForUse() const {
  const auto& [device, index, changes, room, reads, errands] = parts_;
  if (room.broken() || FailedIsRewritten()) return Kind::kSeal;
  // A write is short, and who waits for it, such as a start, need not wait for a sync.
  const bool sync_is_due = changes.sync_is_due();
  if (sync_is_due && (sync_was_passed_ || !NextFits())) return Kind::kSync;
  if (!changes.has_pending()) return std::nullopt;
  if (room.active()) {
    if (NextFits()) return Kind::kWrite;
    return changes.has_unsynced() ? Kind::kSync : Kind::kSeal;
  }
  if (room.has_spare()) return Kind::kActivate;
  return HasDeadSegment() ? Kind::kDelete : Kind::kCreate;
}

// True if there is a change to be written, and the active segment has room for it.
bool SegmentOrders::NextFits() const {
  const auto& [device, index, changes, room, reads, errands] = parts_;
  return changes.has_pending() && room.active() &&
         index.newest().used + changes.next_bytes() <= index.newest().allocated;
}

std::optional<DeviceOrder::Kind> SegmentOrders::NextForUpkeep() const {
  if (HasDeadSegment()) return Kind::kDelete;
  if (parts_.reads.has_request()) return Kind::kRead;
  if (!parts_.errands.log.empty()) return Kind::kLog;
  if (!parts_.errands.space_path.empty()) return Kind::kSpace;
  const bool to_move = NextToMove().has_value();
  if (parts_.room.WantsSpare(to_move)) {
    return parts_.room.refused() ? std::nullopt : std::optional<Kind>(Kind::kCreate);
  }
  return to_move ? std::optional<Kind>(Kind::kRead) : std::nullopt;
}

bool SegmentOrders::FailedIsRewritten() const {
  return failed_ && parts_.changes.written() >= failed_->written_to;
}

bool SegmentOrders::HasDeadSegment() const {
  const SegmentIndex& index = parts_.index;
  if (index.segments() == 0) return false;
  const bool in_use = parts_.room.active() && index.segments() == 1;
  return !in_use && index.oldest().live == 0 &&
         index.oldest().emptied_by <= parts_.changes.synced();
}

std::optional<RecordId> SegmentOrders::NextToMove() const {
  const SegmentIndex& index = parts_.index;
  if (parts_.changes.moving() || index.segments() < 3) return std::nullopt;
  if (index.disk_bytes() <= kDiskPerLiveMax * index.live_bytes() + 2 * segment_bytes_) {
    return std::nullopt;
  }
  const SegmentIndex::Segment& oldest = index.oldest();
  if (oldest.number == parts_.reads.unmovable_segment()) return std::nullopt;
  for (const RecordId id : oldest.ids) {
    if (index.FindIn(oldest, id) != nullptr) return id;
  }
  return std::nullopt;
}

void SegmentOrders::Begin(Next next) {
  const auto& [device, index, changes, room, reads, errands] = parts_;
  order_.kind = next.kind;
  order_.error = 0;
  order_.opened = -1;
  order_.renamed = false;
  order_.done = 0;
  switch (next.kind) {
    case Kind::kWrite:
      sync_was_passed_ = changes.sync_is_due();
      order_.fd = room.fd();
      order_.offset = index.newest().used;
      order_.bytes.clear();
      changes.BeginWrite(index.newest(), &order_.bytes);
      break;
    case Kind::kSync:
      sync_was_passed_ = false;
      order_.fd = room.fd();
      break;
    case Kind::kSeal: BeginSeal(); break;
    case Kind::kCreate:
      order_.path = fmt::format("{}/spare-{}", directory_, next_spare_++);
      order_.offset = segment_bytes_;
      break;
    case Kind::kActivate:
      order_.path = room.next_spare();
      order_.target = SegmentPath(directory_, index.next_number());
      order_.directory = directory_;
      break;
    case Kind::kDelete:
      order_.path = SegmentPath(directory_, index.oldest().number);
      index.DropOldest();
      break;
    case Kind::kRead: reads.Begin(order_, reads.has_request() ? std::nullopt : NextToMove()); break;
    case Kind::kSpace: order_.path = std::exchange(errands.space_path, {}); break;
    case Kind::kLog:
      order_.fd = STDERR_FILENO;
      order_.bytes = std::exchange(errands.log, {});
      break;
  }
  ++submitted_;
  active_ = true;
  for_use_ = next.for_use;
  device.Submit(&order_);
}

void SegmentOrders::BeginSeal() {
  if (FailedIsRewritten()) {
    order_.offset = failed_->synced;
    order_.fd = failed_->file.Release();
    failed_.reset();
    return;
  }
  order_.offset = parts_.index.newest().used;
  order_.fd = parts_.room.TakeActive().Release();
}

Status SegmentOrders::Finish() {
  active_ = false;
  const bool failed = order_.error != 0;
  switch (order_.kind) {
    case Kind::kWrite: failed ? TakeBackUnsynced() : FinishWrite(); break;
    case Kind::kSync: failed ? TakeBackUnsynced() : FinishSync(); break;
    case Kind::kCreate: FinishCreate(); break;
    case Kind::kActivate: FinishActivate(); break;
    case Kind::kRead: FinishRead(); break;
    case Kind::kSpace:
      parts_.errands.space = DeviceSpace{order_.error, order_.free_bytes, order_.free_inodes};
      break;
    case Kind::kSeal:
    case Kind::kDelete:
    case Kind::kLog: break;
  }
  if (!failed || !for_use_) return {};
  return DeviceError(fmt::format("journal {}: {}", directory_, NameOf(order_.kind)), order_.error);
}

void SegmentOrders::FinishWrite() {
  parts_.index.Grow(order_.bytes.size());
  parts_.changes.FinishWrite(order_.bytes.size(), parts_.index);
}

void SegmentOrders::FinishSync() {
  parts_.index.MarkSynced();
  parts_.changes.FinishSync();
}

void SegmentOrders::FinishCreate() {
  if (order_.error == 0) return parts_.room.Created(order_.path);
  parts_.room.Created(DeviceError("journal: preallocate " + order_.path, order_.error));
}

void SegmentOrders::FinishActivate() {
  // The file remains a spare, under its new name, until every step of the order has worked.
  if (order_.renamed) parts_.room.next_spare() = order_.target;
  if (order_.error != 0) return;
  parts_.room.Activate(FileDescriptor(order_.opened));
  parts_.index.Begin(parts_.index.next_number(), segment_bytes_);
}

void SegmentOrders::FinishRead() {
  auto moved = parts_.reads.Finish(order_);
  if (!moved) return;
  for (RecordReads::Moved& record : *moved) {
    parts_.changes.Add({.id = record.id,
                        .kind = RecordKind::kMove,
                        .on_disk = true,
                        .payload = std::move(record.payload)});
  }
  parts_.changes.WantSync(parts_.changes.last());
}

// After a failure the state of unsynced changes is unknown; all of them are written again, to
// another segment.
void SegmentOrders::TakeBackUnsynced() {
  GiveUpActive();
  parts_.changes.TakeBack(parts_.index);
}

// Keeps the failed segment until its changes are written to another one: changes reported as
// written have been acted on, so the next process must find them. If an earlier failed segment is
// still kept, it holds all of these changes already.
void SegmentOrders::GiveUpActive() {
  const auto& [device, index, changes, room, reads, errands] = parts_;
  if (!changes.has_unsynced() || failed_) {
    room.Break();
  } else {
    failed_ = Failed{room.TakeActive(), index.newest().synced, changes.last_unsynced()};
  }
  index.CutUnsynced();
  room.Lose();
}

}  // namespace carillon::executor
