// Port that a store asks before it uses a connection, so that nothing is done on a server whose
// identity was not checked.
//
// Threads  Thread-safe; called by every thread that uses the store. Never blocks.
#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "common/domain/store_trust.h"

namespace carillon {

class StoreGate {
 public:
  virtual ~StoreGate() = default;

  // kUnavailable, with the reason, while the store is held.
  virtual Status Check() const = 0;

  // What a connection was admitted under; it is looked at again when this has moved. Never zero.
  virtual uint64_t Stamp() const = 0;

  // Judges what a connection shows that is new, or was admitted under another stamp: kUnavailable:
  // it is not to be used. An error of the question itself comes back as it is, unless it says that
  // there is no store.
  virtual Status Admit(const Result<StoreIdentity>& seen) = 0;
};

}  // namespace carillon
