// The fields in which two stores may differ, and why. All others must be equal. The numbers that a
// store assigns to rows are in store_ids.h.
#pragma once

#include <string_view>
#include <type_traits>

#include "common/ports/store/stores.h"

namespace carillon::test {

template <typename T>
constexpr bool MayDiffer(std::string_view name) {
  // Each store has its own id, and stands on its own server.
  if (std::is_same_v<T, StoreIdentity>) {
    return name == "store_id" || name == "server_id" || name == "software";
  }
  // Take reads the clock of the store. That of a database is not the simulator's.
  if (std::is_same_v<T, SegmentRecord>) return name == "taken" || name == "lease_before";
  if (std::is_same_v<T, TakenSegments>) return name == "lease_before";
  // Memory does not number the slots of a group.
  if (std::is_same_v<T, UnusedSlot>) return name == "slot";
  // A sentence for people; the codes are compared.
  if (std::is_same_v<T, Error>) return name == "message";
  return false;
}

}  // namespace carillon::test
