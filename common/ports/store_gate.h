// Port that a store calls before it uses a connection, so that nothing is read or written on a
// server whose identity was not checked.
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

  // Returns kUnavailable, with the reason, while the store is held.
  virtual Status Check() const = 0;

  // Identifies the current verdict; never zero. A connection admitted under another stamp must be
  // checked again.
  virtual uint64_t Stamp() const = 0;

  // The mark that every answer of a sound store has from now on at least. Ask for it before the
  // identity is read: another thread may learn of a higher mark while the answer is on its way.
  virtual uint64_t Mark() const = 0;

  // Judges the identity seen on a connection that is new, or was admitted under another stamp.
  // `mark` is that of Mark, from before the identity was read.
  // kUnavailable: the connection must not be used. If `seen` is an error, it is returned. But an
  // error that says that the server has no store is judged like a wrong identity.
  virtual Status Admit(const Result<StoreIdentity>& seen, uint64_t mark) = 0;
};

}  // namespace carillon
