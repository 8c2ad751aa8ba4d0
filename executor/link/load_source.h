// Measures how busy this host is, for the heartbeat.
//
// Threads  Used by one loop.
// Errors   A value that cannot be read is 0: the load is a hint, never needed for correctness.
#pragma once

#include "common/ports/store/executor_store.h"

namespace carillon::executor {

class LoadSource {
 public:
  virtual ~LoadSource() = default;
  // Averages since the previous call.
  virtual ExecutorLoad Sample() = 0;
};

}  // namespace carillon::executor
