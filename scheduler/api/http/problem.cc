#include "scheduler/api/http/problem.h"

#include <fmt/core.h>

#include "common/wire/json/json_text.h"

namespace carillon::scheduler {
namespace {

constexpr const char* kRetrySoon = "1";  // seconds

Problem Hidden(int status, std::string code, std::string detail, const Error& error) {
  Problem problem{.status = status, .code = std::move(code), .detail = std::move(detail)};
  problem.log_detail = error.message;
  if (status == 503) problem.headers.emplace_back("Retry-After", kRetrySoon);
  return problem;
}

// Adds the field's name to a message that lacks it ("must be a whole number"). So the detail is
// clear without the list of errors.
std::string Sentence(const Error& error) {
  const std::string field = error.pointer.substr(error.pointer.rfind('/') + 1);
  const bool named = error.message.find(field) != std::string::npos;
  return named ? error.message : error.pointer + " " + error.message;
}

// Turns "Must be a string." about "/mode" into "mode must be a string."
std::string AboutField(std::string_view pointer, std::string_view detail) {
  constexpr std::string_view kMust = "Must ";
  if (pointer.size() < 2 || !detail.starts_with(kMust)) return std::string(detail);
  return fmt::format("{} must {}", pointer.substr(1), detail.substr(kMust.size()));
}

Problem Shown(int status, std::string code, const Error& error) {
  Problem problem{.status = status, .code = std::move(code), .detail = Sentence(error)};
  if (!error.pointer.empty()) {
    problem.errors.push_back({error.pointer, problem.code, error.message});
  }
  return problem;
}

}  // namespace

Problem ToProblem(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalid: return Shown(400, "invalid", error);
    case ErrorCode::kNotFound: return Shown(404, "not_found", error);
    case ErrorCode::kDenied: return Shown(403, "denied", error);
    case ErrorCode::kExists: return Shown(409, "exists", error);
    case ErrorCode::kConflict: return Shown(409, "conflict", error);
    case ErrorCode::kFenced:
      return Hidden(503, "unavailable", "This member is handing over its segments. Retry shortly.",
                    error);
    case ErrorCode::kUnavailable:
      return Hidden(503, "unavailable",
                    "A required component is unavailable. Retry shortly; /readyz?verbose on the "
                    "ops port shows which one.",
                    error);
    case ErrorCode::kBrokenStore:
      return Hidden(503, "unavailable",
                    "The database lacks a table, column or privilege. Search the server log for "
                    "this trace_id.",
                    error);
    case ErrorCode::kTimeout:
      return Hidden(504, "timeout", "A required component did not respond in time. Retry.", error);
    case ErrorCode::kExhausted:
      return Hidden(503, "exhausted", "A server limit has been reached. Retry shortly.", error);
    case ErrorCode::kCorrupt:
      return Hidden(500, "corrupt",
                    "The stored data cannot be read. Search the server log for this trace_id.",
                    error);
  }
  return {};
}

Problem InvalidField(std::string pointer, std::string code, std::string detail) {
  Problem problem{.status = 400, .code = "invalid", .detail = AboutField(pointer, detail)};
  problem.errors.push_back({std::move(pointer), std::move(code), std::move(detail)});
  return problem;
}

Problem UpgradeUnfinished(std::string_view field) {
  const std::string detail = fmt::format(
      "This value of {} can be used once the upgrade is finished: carillon system upgrade finish.",
      field);
  return {.status = 409,
          .code = "upgrade_unfinished",
          .detail = detail,
          .errors = {{fmt::format("/{}", field), "upgrade_unfinished", detail}}};
}

Problem NotFound(std::string detail) {
  return {.status = 404, .code = "not_found", .detail = std::move(detail)};
}

Problem OutcomeUnknown(std::string detail, const Error& cause) {
  return {.status = 504,
          .code = "outcome_unknown",
          .detail = std::move(detail),
          .log_detail = "outcome unknown: " + cause.message};
}

nlohmann::json ProblemBody(const Problem& problem, const std::string& instance,
                           std::string_view trace_id) {
  nlohmann::json body = problem.members;
  body["type"] = "urn:carillon:problem:" + problem.code;
  body["title"] = ReasonPhrase(problem.status);
  body["status"] = problem.status;
  body["detail"] = problem.detail;
  body["instance"] = instance;
  body["code"] = problem.code;
  body["trace_id"] = trace_id;
  body["errors"] = nlohmann::json::array();
  for (const FieldError& error : problem.errors) {
    body["errors"].push_back(
        {{"pointer", error.pointer}, {"code", error.code}, {"detail", error.detail}});
  }
  return body;
}

HttpResponse ProblemResponse(const Problem& problem, const std::string& instance,
                             const std::string& trace_id) {
  HttpResponse response{.status = problem.status, .headers = problem.headers};
  response.headers.emplace_back("Content-Type", "application/problem+json");
  response.body = JsonToText(ProblemBody(problem, instance, trace_id));
  return response;
}

}  // namespace carillon::scheduler
