// Errors in the form of RFC 9457: application/problem+json with a stable `code`.
//
// Always   A problem contains no stack traces and no driver messages. They are logged, with the
//          trace id.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/adapters/http/http_message.h"
#include "common/base/result_of.h"

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
// 409: members of the previous release would misread a value of this field.
Problem UpgradeUnfinished(std::string_view field);
// The problem with status 504 for a write whose commit was not acknowledged. The write may or may
// not have happened.
Problem OutcomeUnknown(std::string detail, const Error& cause);

// The problem as a JSON object.
nlohmann::json ProblemBody(const Problem& problem, const std::string& instance,
                           std::string_view trace_id);
HttpResponse ProblemResponse(const Problem& problem, const std::string& instance,
                             const std::string& trace_id);

// A value or a Problem.
template <typename T>
using Outcome = ResultOf<T, Problem, ToProblem>;

using Reply = Outcome<HttpResponse>;

}  // namespace carillon::scheduler
