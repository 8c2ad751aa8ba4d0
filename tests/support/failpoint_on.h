// Arms the names of common/base/failpoint.h. Everything is disarmed by Reset().
//
// Threads  Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/failpoint.h"

namespace carillon::failpoint {

// From now on Hit(name) calls `action` and returns what it returns.
void Arm(const std::string& name, std::function<bool()> action);
// Hit(name) returns true the next `times` times.
void ArmTimes(const std::string& name, int times);
void Break(const std::string& rule);
void Reset();
// How often Hit(name) was reached since Reset, armed or not.
uint64_t Reached(const std::string& name);

}  // namespace carillon::failpoint
