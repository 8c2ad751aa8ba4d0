// Decides how an attempt ends by the response to its request. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/domain/job/http_request.h"
#include "common/domain/run/run.h"

namespace carillon::executor {

// The part of a response that decides.
struct HttpAnswer {
  int status = 0;
  std::string body = {};  // its first bytes
  bool whole = true;      // false: the body has more bytes
};

// COMPLETED, or FAILED with http_status or http_body and a sentence. Only these fields and
// http_status are set.
AttemptResult JudgeAnswer(const HttpExpect& expect, const HttpAnswer& answer);

// The wait that a Retry-After header asks for, in seconds or as a date; nullopt if it is neither.
// At most kRetryAfterMax.
std::optional<Duration> RetryAfterOf(std::string_view header, WallTime now);

}  // namespace carillon::executor
