#include "common/domain/store_trust.h"

#include <algorithm>

#include <fmt/format.h>

namespace carillon {

std::string_view Name(StoreDoubt doubt) {
  switch (doubt) {
    case StoreDoubt::kNoStore: return "no_store";
    case StoreDoubt::kOtherStore: return "other_store";
    case StoreDoubt::kOtherServer: return "other_server";
    case StoreDoubt::kHistoryLost: return "history_lost";
  }
  return "unknown";
}

std::string_view Name(StoreState state) {
  switch (state) {
    case StoreState::kUnknown: return "unknown";
    case StoreState::kTrusted: return "trusted";
    case StoreState::kHeld: return "held";
  }
  return "unknown";
}

std::optional<StoreDoubt> Judge(const StoreTrust& trusted, const StoreIdentity& seen) {
  if (seen.store_id != trusted.store_id) return StoreDoubt::kOtherStore;
  // Checked before the server, because on any server lost history is the more important result.
  if (seen.mark < trusted.mark) return StoreDoubt::kHistoryLost;
  if (seen.server_id != trusted.server_id) return StoreDoubt::kOtherServer;
  return std::nullopt;
}

std::string Describe(StoreDoubt doubt, const StoreTrust& trusted, const StoreIdentity& seen) {
  switch (doubt) {
    case StoreDoubt::kNoStore: return "the server that answers has no readable Carillon store";
    case StoreDoubt::kOtherStore:
      return fmt::format("a different store answers: {}; the trusted one is {}", seen.store_id,
                         trusted.store_id);
    case StoreDoubt::kOtherServer:
      return fmt::format(
          "a different server answers for the store (its id begins with {}, the trusted one with "
          "{}); it may lack the last commits",
          seen.server_id.substr(0, 12), trusted.server_id.substr(0, 12));
    case StoreDoubt::kHistoryLost:
      return fmt::format(
          "the store has lost commits: its mark is {}, but {} was seen{}", seen.mark, trusted.mark,
          seen.server_id == trusted.server_id ? "" : ", and a different server answers");
  }
  return "unknown";
}

StoreTrust FirstTrust(const StoreIdentity& seen) {
  return {.store_id = seen.store_id, .server_id = seen.server_id, .mark = seen.mark};
}

StoreTrust After(StoreTrust trusted, const StoreIdentity& seen) {
  if (seen.mark > 0) trusted.mark = std::max(trusted.mark, seen.mark - 1);
  return trusted;
}

StoreTrust Newer(const StoreTrust& known, const StoreTrust& other) {
  if (other.accepted != known.accepted) return other.accepted > known.accepted ? other : known;
  if (other.store_id != known.store_id || other.server_id != known.server_id) return known;
  return other.mark > known.mark ? other : known;
}

}  // namespace carillon
