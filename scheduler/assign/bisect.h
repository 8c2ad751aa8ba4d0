// Bisects a batch that the store refused, so that one bad item does not keep out the others.
#pragma once

#include <span>

#include "common/base/result.h"

namespace carillon::scheduler {

// True if no repetition of the write would be accepted: the fault is in the item.
constexpr bool ItemIsBad(ErrorCode code) {
  return code == ErrorCode::kInvalid || code == ErrorCode::kExhausted ||
         code == ErrorCode::kCorrupt;
}

// True if a single item of a batch may have caused the error: it is bad, or its rows have changed
// since they were read. False if the writer is fenced (kFenced), or the store does not answer
// (kUnavailable, kTimeout) or is broken as a whole (kBrokenStore).
constexpr bool AboutOneItem(ErrorCode code) {
  return ItemIsBad(code) || code == ErrorCode::kConflict || code == ErrorCode::kExists;
}

// True if the write ended the ownership of some segments (fenced_writer.h). Writes to the others
// may still succeed.
constexpr bool EndsOwnership(ErrorCode code) {
  return code == ErrorCode::kFenced || code == ErrorCode::kTimeout;
}

// Calls `write(items)`, which returns a Status. If its error may be about one item, writes each
// half in the same way. `refuse(item, error)` takes an item that was refused alone. Any other error
// is returned at once, and the items after these are not written: a store that is away would let
// each further write wait. A caller whose items are of several segments, and who cannot read them
// again soon, handles an error that EndsOwnership in `write`.
template <typename Item, typename Write, typename Refuse>
Status Bisect(std::span<Item> items, const Write& write, const Refuse& refuse) {
  const Status written = write(items);
  if (written.ok() || !AboutOneItem(written.code())) return written;
  if (items.size() == 1) {
    refuse(items.front(), written.error());
    return {};
  }
  CARILLON_TRY(Bisect(items.first(items.size() / 2), write, refuse));
  return Bisect(items.subspan(items.size() / 2), write, refuse);
}

}  // namespace carillon::scheduler
