// The columns of a job that hold its retry rules as lists.
//
// Threads  Stateless.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job/retry.h"

namespace carillon::mysql {

// "60,300,600"; what follows a text that is no number is left out.
std::vector<int64_t> SplitNumbers(const std::string& text);

// Intervals in seconds: "60,300,600".
std::string JoinIntervals(const std::vector<int64_t>& intervals_s);
std::vector<Duration> SplitIntervals(const std::string& text);

// "exit:75,signal;timeout" for retry_on and no_retry_on.
std::string JoinConditions(const JobDefinition& job);
// False if this version does not know one of the conditions.
bool SplitConditions(std::string_view text, RetryConditions* conditions);

}  // namespace carillon::mysql
