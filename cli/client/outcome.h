// A value, or the Failure to report to the user or script.
#pragma once

#include <string>
#include <vector>

#include "cli/client/exit_code.h"
#include "common/base/result_of.h"

namespace carillon::cli {

// An error as the user sees it, and the exit code.
struct Failure {
  ExitCode exit = ExitCode::kFailure;
  std::string message = {};
  // Stable. The `code` in the server's error answer, "http_<status>" if the answer is no JSON
  // object, an ErrorCode's name, or a name of this program's own such as "unreachable".
  std::string code = {};
  std::vector<std::string> details = {};  // "/timeout: has to be at least 1"
  std::string trace_id = {};
  std::string etag = {};      // current ETag of the object concerned, if the server sent it
  std::string instance = {};  // path of the request that failed
};
Failure FailureOf(const Error& error);

template <typename T>
using Outcome = ResultOf<T, Failure, FailureOf>;

}  // namespace carillon::cli
