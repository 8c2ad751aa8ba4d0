// Decides whether the store that answers is the trusted one, with its complete history.
//
// The store contains a mark: a number that the leader increments every few seconds. A member that
// has read a mark knows that the store then had all transactions committed before that mark. So a
// store whose mark is now lower has lost transactions: it was rolled back, restored from a dump, or
// is a lagging replica.
//
// Place    docs/adr/0009. scheduler/guard acts on the decision.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "common/base/time.h"

namespace carillon {

// The identity of a store, as the store itself states it.
struct StoreIdentity {
  std::string store_id;   // made once, with the schema
  std::string server_id;  // different on every server
  uint32_t segment_count = 0;
  uint64_t mark = 0;
  // Name and version of the server's software: "MySQL 9.7.4". Not part of the identity, because a
  // server may be updated.
  std::string software = {};

  bool operator==(const StoreIdentity& other) const {
    return std::tie(store_id, server_id, segment_count, mark) ==
           std::tie(other.store_id, other.server_id, other.segment_count, other.mark);
  }
};

// The store that the members trust; kept in the coordinator and in the memory of each member.
struct StoreTrust {
  std::string store_id;
  std::string server_id;
  uint64_t mark = 0;  // every trusted store has at least this mark
  // The time of the last acceptance by an operator; increases with each acceptance. Zero = never.
  WallTime accepted = WallTime{};

  bool operator==(const StoreTrust&) const = default;
};

enum class StoreDoubt {
  kNoStore,      // no Carillon store, or an unreadable one
  kOtherStore,   // another store, initialised separately
  kOtherServer,  // the same store on another server; may lack the last commits
  kHistoryLost,  // the mark decreased
};
// Stable lower-case name: "history_lost".
std::string_view Name(StoreDoubt doubt);

// Compares the store `seen` with the trusted one. nullopt: the store is sound, i.e. it is the
// trusted one with its complete history.
std::optional<StoreDoubt> Judge(const StoreTrust& trusted, const StoreIdentity& seen);
// A sentence for users.
std::string Describe(StoreDoubt doubt, const StoreTrust& trusted, const StoreIdentity& seen);

// Returns the record to write for the first store that this cluster sees.
StoreTrust FirstTrust(const StoreIdentity& seen);
// Returns the new record after a sound store showed `seen`. The record requires only the mark
// before the seen one. The seen mark may not be durable yet, so a crash of the server may revert
// it. The mark before it is a few seconds older and durable.
StoreTrust After(StoreTrust trusted, const StoreIdentity& seen);
// Returns the record to trust for a member that trusts `known` and has read `other` from the
// coordinator. The record with the later acceptance wins. If the acceptances are equal:
// - both records name the same store and server: the record with the higher mark wins;
// - otherwise `known` is kept. The coordinator had lost its data, and a member that did not know
//   the trusted store has written `other`.
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
