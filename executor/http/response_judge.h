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

// True while the work of `poll` goes on: without `until`, while the status is 202. kInvalid, with a
// sentence: the answer has a 2xx status other than 202 and is no JSON in which `until` could look.
Result<bool> IsPending(const HttpPoll& poll, const HttpAnswer& answer);
// The text, or the whole number as text, at `pointer` in the JSON of a body.
std::optional<std::string> TextAt(const std::string& pointer, const HttpAnswer& answer);

// The wait that a Retry-After header asks for, in seconds or as a date; nullopt if it is neither.
// At most kRetryAfterMax.
std::optional<Duration> RetryAfterOf(std::string_view header, WallTime now);

}  // namespace carillon::executor
