// Port through which an executor finds the members of the scheduler and announces itself.
//
// Threads  Thread-safe. Calls answer from a local view, except where said.
#pragma once

#include <functional>
#include <vector>

#include "common/ports/coordinator.h"

namespace carillon {

class MemberDirectory {
 public:
  virtual ~MemberDirectory() = default;

  // Shows this start of the executor, anew after an expiry. Blocks up to the session timeout.
  // kConflict: another start of the same id is shown; one that died goes after its session timeout.
  virtual Status Announce(const ExecutorId& executor, const Incarnation& incarnation) = 0;
  virtual void Withdraw() = 0;
  virtual SessionState State() = 0;
  // As last seen: without contact they stay.
  virtual std::vector<MemberInfo> Members() = 0;
  // Called (from any thread) when members or session changed.
  virtual void OnChange(std::function<void()> wake) = 0;
};

}  // namespace carillon
