// Named places where a test can stop, fail or delay the code, or switch one rule off.
//
// A product binary links carillon_failpoints_off, whose Hit() and Broken() are constant false and
// whose names cannot be armed. Only test binaries link carillon_failpoints_on.
//
// Threads  Hit and Broken are thread-safe.
#pragma once

#include <string_view>

namespace carillon::failpoint {

// True when the test armed `name` to act now. What "act" means is the call site's business:
//   if (failpoint::Hit("plan.lose_commit_reply")) return Error{...};
// A test may arm a name with a callback, which runs inside Hit (to block or to count).
bool Hit(std::string_view name);

// True when the test switched the rule `name` off, to show that a checker notices.
//   if (!failpoint::Broken("claim.token")) { compare tokens }
bool Broken(std::string_view name);

}  // namespace carillon::failpoint
