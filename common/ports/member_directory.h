// Port by which an executor announces itself and finds the members of the scheduler.
//
// Threads  Thread-safe. Queries return the state that this client last received, without waiting.
#pragma once

#include <functional>
#include <vector>

#include "common/ports/coordinator.h"

namespace carillon {

class MemberDirectory {
 public:
  virtual ~MemberDirectory() = default;

  // Announces this incarnation of the executor. Call it again after the session has expired. Blocks
  // up to the session timeout. kConflict: another incarnation with this id is announced. The
  // announcement of a dead process disappears when its session expires.
  virtual Status Announce(const ExecutorId& executor, const Incarnation& incarnation) = 0;
  virtual void Withdraw() = 0;
  virtual SessionState State() = 0;
  // The members as last seen; unchanged while there is no contact.
  virtual std::vector<MemberInfo> Members() = 0;
  // `wake` is called (on any thread) after a change of the members or the session.
  virtual void OnChange(std::function<void()> wake) = 0;
};

}  // namespace carillon
