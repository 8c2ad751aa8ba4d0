// Decides whether the store that answers is the trusted one, with all of its history.
//
// The store carries a mark: a number that the leader moves forward every few seconds. What was seen
// of it bounds what was committed: a store that shows a lower mark than was seen before has lost
// transactions, whether it was rolled back, restored from a dump, or is a replica that lagged.
//
// Place    docs/adr/0009. scheduler/guard acts on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace carillon {

// What a store says of itself.
struct StoreIdentity {
  std::string store_id;   // made once, with the schema
  std::string server_id;  // changes when another server answers
  uint32_t segment_count = 0;
  uint64_t mark = 0;

  bool operator==(const StoreIdentity&) const = default;
};

// What the members trust: kept by the coordinator, and in the memory of each member.
struct StoreTrust {
  std::string store_id;
  std::string server_id;
  uint64_t mark = 0;               // every trusted store shows this one or a higher one
  WallTime accepted = WallTime{};  // by an operator; grows with each time; the epoch = never

  bool operator==(const StoreTrust&) const = default;
};

enum class StoreDoubt {
  kNoStore,      // there is no store of Carillon, or it cannot be read
  kOtherStore,   // made by another first start
  kOtherServer,  // the same store on another server: it may lack the last commits
  kHistoryLost,  // the mark went back
};
// Stable, lower case: "history_lost".
std::string_view Name(StoreDoubt doubt);

// nullopt: sound.
std::optional<StoreDoubt> Judge(const StoreTrust& trusted, const StoreIdentity& seen);
// A sentence for a person.
std::string Describe(StoreDoubt doubt, const StoreTrust& trusted, const StoreIdentity& seen);

// The trust in a store nobody knew before.
StoreTrust FirstTrust(const StoreIdentity& seen);
// What is trusted after a sound store showed `seen`. What is visible may not be durable yet, and a
// crash of the server may take it back; the mark before it is a few seconds older and is durable.
StoreTrust After(StoreTrust trusted, const StoreIdentity& seen);
// What a member that trusts `known` trusts when it reads the record `other`: the later acceptance;
// of one acceptance the higher mark. A record of another store without an acceptance was written by
// somebody who knew less (the coordinator was emptied): it does not count.
StoreTrust Newer(const StoreTrust& known, const StoreTrust& other);

// Where a member stands with its store.
enum class StoreState {
  kUnknown,  // the record was not read yet: nothing is begun
  kTrusted,
  kHeld,  // until the trusted store answers again, or an operator accepts this one
};
std::string_view Name(StoreState state);

struct StoreStanding {
  StoreState state = StoreState::kUnknown;
  WallTime since = WallTime{};             // of the state, by this member's clock
  std::optional<StoreTrust> trusted = {};  // nullopt: nothing yet
  std::optional<StoreIdentity> seen = {};  // what answered last; nullopt: nothing readable
  std::optional<StoreDoubt> doubt = {};    // while held
  std::string reason = {};                 // likewise, a sentence
};

}  // namespace carillon
