// The failures after which a job is retried: its `retry_on` and `no_retry_on`. Pure.
//
// A condition is one of: exit:N, exit:N-M (1-255), signal, oom, timeout, spawn, of requests
// http:503, http:500-599, http:5xx and http:error, which is a request without a response, and of
// handlers error:CODE. A signal is also the exit code by which a shell reports one (exit_code.h). A
// lost executor is none of them; on_lost decides about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/run/run.h"

namespace carillon {

inline constexpr size_t kRetryConditionsMax = 32;        // of each list
inline constexpr size_t kRetryConditionsBytesMax = 490;  // likewise, with a comma after each

// The name of a handler's failure: [A-Za-z0-9_.-]{1,48}.
inline constexpr size_t kErrorCodeMax = 48;
bool IsErrorCode(std::string_view text);

struct RetryCondition {
  enum class Kind { kExit, kSignal, kTimeout, kSpawn, kHttp, kHttpError, kOom, kError };
  Kind kind = Kind::kExit;
  int first = 0;  // kExit: the range of exit codes; kHttp: of statuses
  int last = 0;
  std::string code = {};  // kError

  bool Matches(const AttemptResult& result) const;
  bool operator==(const RetryCondition&) const = default;
};
Result<RetryCondition> ParseRetryCondition(std::string_view text);

struct RetryConditions {
  std::vector<RetryCondition> retry_on = {};     // none = every failure
  std::vector<RetryCondition> no_retry_on = {};  // goes before retry_on

  bool Allow(const AttemptResult& result) const;
  // True for a failure that some condition can name.
  static bool Names(const AttemptResult& result);
  bool operator==(const RetryConditions&) const = default;
};

// True if a list has a condition that releases before 0.2 do not know: oom or error:CODE.
bool HasNewCondition(const std::vector<std::string>& texts);
// True if it has error:CODE, for which the executor must report codes.
bool NamesErrorCode(const std::vector<std::string>& texts);

// The mistakes of a list of texts, each with a pointer such as "/retry_on/0"; `field` is the
// list's name.
std::vector<Error> FindConditionMistakes(std::string_view field,
                                         const std::vector<std::string>& texts);
// Of a valid definition. A text that cannot be parsed is left out.
std::vector<RetryCondition> ReadRetryConditions(const std::vector<std::string>& texts);

}  // namespace carillon
