// Port of the store's identity, and of the mark by which its history is recognised
// (domain/store_trust.h).
//
// Place    scheduler/guard alone. Its calls go through while the store is held: that is what they
//          are for.
#pragma once

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/domain/store_trust.h"

namespace carillon {

class IdentityStore {
 public:
  virtual ~IdentityStore() = default;

  // kBrokenStore, kCorrupt, kNotFound: what answers is no store that can be read.
  virtual Result<StoreIdentity> Identify() = 0;

  // Moves the mark forward by one while the store is exactly `seen`; durable when it returns. The
  // new mark. kConflict: the store is another one, or its mark moved.
  virtual Result<uint64_t> AdvanceMark(const StoreIdentity& seen) = 0;

  // An operator accepts the store that is exactly `seen`: in one transaction its mark moves by one
  // and every segment's epoch to `above` or higher, so that no epoch which was ever given out is
  // given again, and whoever wrote under one is fenced. The new mark. kConflict: as above.
  virtual Result<uint64_t> Accept(const StoreIdentity& seen, Epoch above) = 0;

  // Drops what is remembered of rows of the store: another history may say otherwise.
  virtual void Forget() = 0;
};

}  // namespace carillon
