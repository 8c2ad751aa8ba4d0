// Port of the store's identity and of its mark, by which lost history is
// detected (domain/store_trust.h).
//
// Place    Used by scheduler/guard alone. Its calls work even while the store is held, because the
//          guard needs them to end the hold.
#pragma once

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/domain/store_trust.h"

namespace carillon {

class IdentityStore {
 public:
  virtual ~IdentityStore() = default;

  // kBrokenStore, kCorrupt, kNotFound: the server has no readable store.
  virtual Result<StoreIdentity> Identify() = 0;

  // Increments the mark if the store is exactly `seen`; durable on return. Returns the new mark.
  // kConflict: another store, or another mark.
  virtual Result<uint64_t> AdvanceMark(const StoreIdentity& seen) = 0;

  // Accepts the store for an operator, if it is exactly `seen`. One transaction increments its mark
  // and raises every segment's epoch to at least `above`. So no epoch is ever used twice, and every
  // earlier owner is fenced. Returns the new mark. kConflict: as AdvanceMark.
  virtual Result<uint64_t> Accept(const StoreIdentity& seen, Epoch above) = 0;

  // Drops all cached data of the store, because the accepted store may have another history.
  virtual void Forget() = 0;
};

}  // namespace carillon
