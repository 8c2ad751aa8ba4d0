// Named places where a test can stop, fail or delay the code, or disable a rule.
//
// A product binary links carillon_failpoints_off, where Hit() and Broken() are constant false and
// names cannot be armed. Only test binaries link carillon_failpoints_on.
//
// Threads  Hit and Broken are thread-safe.
#pragma once

#include <string_view>

namespace carillon::failpoint {

// True if a test armed `name` and wants it to act in this call. The call site defines the action:
//   if (failpoint::Hit("plan.lose_commit_reply")) return Error{...};
// A test may arm a name with a callback that runs inside Hit, to block or to count.
bool Hit(std::string_view name);

// True if a test disabled the rule `name`, to prove that a checker notices the missing rule.
//   if (!failpoint::Broken("claim.token")) { compare tokens }
bool Broken(std::string_view name);

}  // namespace carillon::failpoint
