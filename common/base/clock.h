// The only source of time. Implemented by adapters/system and by tests/support.
#pragma once

#include "common/base/time.h"

namespace carillon {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Wall() const = 0;
  virtual SteadyTime Steady() const = 0;
};

}  // namespace carillon
