// Port by which an executor announces itself and finds the members of the scheduler.
//
// Threads  Thread-safe. Calls answer from a local view, except where noted.
#pragma once

#include <functional>
#include <vector>

#include "common/ports/coordinator.h"

namespace carillon {

class MemberDirectory {
 public:
  virtual ~MemberDirectory() = default;

  // Announces this start of the executor, again after an expiry. Blocks up to the session timeout.
  // kConflict: another start with the same id is announced; a dead one disappears with its session.
  virtual Status Announce(const ExecutorId& executor, const Incarnation& incarnation) = 0;
  virtual void Withdraw() = 0;
  virtual SessionState State() = 0;
  // As last seen; unchanged while there is no contact.
  virtual std::vector<MemberInfo> Members() = 0;
  // `wake` is called (on any thread) after a change of the members or the session.
  virtual void OnChange(std::function<void()> wake) = 0;
};

}  // namespace carillon
