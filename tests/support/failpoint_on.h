// Arms the failpoints of common/base/failpoint.h by name. Reset() disarms all.
//
// Threads  Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/failpoint.h"

namespace carillon::failpoint {

// After this, Hit(name) calls `action` and returns its result.
void Arm(const std::string& name, std::function<bool()> action);
// Hit(name) returns true the next `times` times.
void ArmTimes(const std::string& name, int times);
// After this, Broken(rule) returns true.
void Break(const std::string& rule);
void Reset();
// Counts the calls of Hit(name) since Reset, whether the failpoint was armed or not.
uint64_t Reached(const std::string& name);

}  // namespace carillon::failpoint
