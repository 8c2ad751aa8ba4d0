// Decides whether the store that answers is the trusted one, with its complete history.
//
// The store carries a mark: a number that the leader increments every few seconds. An observed mark
// proves that everything committed before it was there. So a store with a lower mark than observed
// earlier has lost transactions: it was rolled back, restored from a dump, or is a lagging replica.
//
// Place    docs/adr/0009. scheduler/guard acts on the decision.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace carillon {

// The identity of a store, as the store itself states it.
struct StoreIdentity {
  std::string store_id;   // made once, with the schema
  std::string server_id;  // different on every server
  uint32_t segment_count = 0;
  uint64_t mark = 0;

  bool operator==(const StoreIdentity&) const = default;
};

// The store that the members trust; kept in the coordinator and in the memory of each member.
struct StoreTrust {
  std::string store_id;
  std::string server_id;
  uint64_t mark = 0;  // every trusted store has at least this mark
  // When an operator last accepted a store, always later than the time before; zero = never.
  WallTime accepted = WallTime{};

  bool operator==(const StoreTrust&) const = default;
};

enum class StoreDoubt {
  kNoStore,      // no Carillon store, or an unreadable one
  kOtherStore,   // initialised separately
  kOtherServer,  // the same store on another server; may lack the last commits
  kHistoryLost,  // the mark decreased
};
// Stable lower-case name: "history_lost".
std::string_view Name(StoreDoubt doubt);

// nullopt: the store is sound.
std::optional<StoreDoubt> Judge(const StoreTrust& trusted, const StoreIdentity& seen);
// A sentence for users.
std::string Describe(StoreDoubt doubt, const StoreTrust& trusted, const StoreIdentity& seen);

// Returns what to trust from now on, given the first store that this cluster sees.
StoreTrust FirstTrust(const StoreIdentity& seen);
// Returns what to trust after a sound store showed `seen`: the mark before the one seen. That one
// may not be durable yet, so a crash of the server may revert it; the one before it is a few
// seconds older and durable.
StoreTrust After(StoreTrust trusted, const StoreIdentity& seen);
// Returns what a member that trusts `known` trusts after it has read the record `other`: the one
// with the later acceptance, and for the same acceptance the one with the higher mark. A record of
// another store without an acceptance is ignored: its author knew less, because the coordinator had
// been emptied.
StoreTrust Newer(const StoreTrust& known, const StoreTrust& other);

// A member's relation to its store.
enum class StoreState {
  kUnknown,  // the record has not been read yet: nothing is started
  kTrusted,
  kHeld,  // until the trusted store answers again, or an operator accepts this one
};
std::string_view Name(StoreState state);

struct StoreStanding {
  StoreState state = StoreState::kUnknown;
  WallTime since = WallTime{};             // start of the state, by this member's clock
  std::optional<StoreTrust> trusted = {};  // nullopt: no store yet
  std::optional<StoreIdentity> seen = {};  // the last answer; nullopt: nothing readable
  std::optional<StoreDoubt> doubt = {};    // set while kHeld
  std::string reason = {};                 // set while kHeld; a sentence
};

}  // namespace carillon
