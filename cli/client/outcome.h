// A value, or the Failure to report to the user or script.
//
// Always   An Error converts to a Failure, so CARILLON_TRY and CARILLON_ASSIGN_OR_RETURN work
//          with both.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "cli/client/exit_code.h"
#include "common/base/result.h"

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
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : expected_(std::move(value)) {}                                  // NOLINT
  Outcome(Failure failure) : expected_(tl::make_unexpected(std::move(failure))) {}   // NOLINT
  Outcome(const Error& error) : expected_(tl::make_unexpected(FailureOf(error))) {}  // NOLINT

  bool ok() const { return expected_.has_value(); }
  T& value() & { return expected_.value(); }
  const T& value() const& { return expected_.value(); }
  T&& value() && { return std::move(expected_).value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Failure& error() const { return expected_.error(); }

 private:
  tl::expected<T, Failure> expected_;
};

}  // namespace carillon::cli
