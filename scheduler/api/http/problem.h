// Errors in the form of RFC 9457: application/problem+json with a stable `code`.
//
// Always   A problem contains no stack traces and no driver messages. They are logged, with the
//          trace id.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "common/adapters/http/http_message.h"
#include "common/base/result.h"

namespace carillon::scheduler {

// A mistake in one field of a request.
struct FieldError {
  std::string pointer;  // RFC 6901, a pointer into the body, or "?name" for a query parameter
  std::string code;     // stable, for programs
  std::string detail;   // a sentence
};

struct Problem {
  int status = 500;
  std::string code = "internal";  // stable, for programs
  std::string detail = {};        // a sentence
  std::vector<FieldError> errors = {};
  HttpHeaders headers = {};  // Retry-After, Allow, …
  // Further fields of the body, such as the current version. RFC 9457 calls them extension members.
  nlohmann::json members = nlohmann::json::object();
  std::string log_detail = {};  // for the log only
};

// The problem for an error of the store or another port, according to the table in docs/errors.md.
Problem ToProblem(const Error& error);
Problem InvalidField(std::string pointer, std::string code, std::string detail);
Problem NotFound(std::string detail);
// The problem with status 504 for a write whose commit was not acknowledged. The write may or may
// not have happened.
Problem OutcomeUnknown(std::string detail, const Error& cause);

// The problem as a JSON object.
nlohmann::json ProblemBody(const Problem& problem, const std::string& instance,
                           std::string_view trace_id);
HttpResponse ProblemResponse(const Problem& problem, const std::string& instance,
                             const std::string& trace_id);

// A value or a Problem. An Error is converted to its Problem, so CARILLON_TRY and
// CARILLON_ASSIGN_OR_RETURN also accept a Result here.
template <typename T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : expected_(std::move(value)) {}                                  // NOLINT
  Outcome(Problem problem) : expected_(tl::make_unexpected(std::move(problem))) {}   // NOLINT
  Outcome(const Error& error) : expected_(tl::make_unexpected(ToProblem(error))) {}  // NOLINT

  bool ok() const { return expected_.has_value(); }
  T& value() & { return expected_.value(); }
  const T& value() const& { return expected_.value(); }
  T&& value() && { return std::move(expected_).value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Problem& error() const { return expected_.error(); }
  Problem& error() { return expected_.error(); }

 private:
  tl::expected<T, Problem> expected_;
};

using Reply = Outcome<HttpResponse>;

}  // namespace carillon::scheduler
