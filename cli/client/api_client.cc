#include "cli/client/api_client.h"

#include <fmt/core.h>
#include <algorithm>

#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class HttpTransport final : public Transport {
 public:
  explicit HttpTransport(const std::string& ca_file) : client_({.ca_file = ca_file}) {}
  Result<HttpResponse> Send(const HttpClientRequest& request) override {
    return client_.Send(request);
  }

 private:
  HttpClient client_;
};

bool IsSafe(const ApiRequest& request) {
  return request.method == "GET" || request.method == "HEAD" || request.idempotent ||
         request.repeatable;
}

// True for 503: the member refused the request before it did anything. So any request may be sent
// to another member.
bool DidNothing(const HttpResponse& response) { return response.status == 503; }

std::string QueryText(const Parameters& query) {
  std::string text;
  for (const auto& [name, value] : query) {
    text += (text.empty() ? "?" : "&") + Escape(name) + "=" + Escape(value);
  }
  return text;
}

std::string TextMember(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

ExitCode ExitOf(int status) {
  switch (status) {
    case 400:
    case 405:
    case 413:
    case 415:
    case 422:
    case 428: return ExitCode::kUsage;
    case 401:
    case 403: return ExitCode::kDenied;
    case 404: return ExitCode::kNotFound;
    case 409:
    case 412: return ExitCode::kConflict;
    case 408:
    case 502:
    case 503:
    case 504: return ExitCode::kUnreachable;
    default: return ExitCode::kFailure;
  }
}

ExitCode ExitOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return ExitCode::kUsage;
    case ErrorCode::kNotFound: return ExitCode::kNotFound;
    case ErrorCode::kDenied: return ExitCode::kDenied;
    case ErrorCode::kExists:
    case ErrorCode::kConflict: return ExitCode::kConflict;
    case ErrorCode::kUnavailable:
    case ErrorCode::kBrokenStore:
    case ErrorCode::kTimeout: return ExitCode::kUnreachable;
    default: return ExitCode::kFailure;
  }
}

ApiResponse ToApiResponse(HttpResponse response) {
  ApiResponse answer{.status = response.status};
  for (const auto& [name, value] : response.headers) {
    if (name == "etag") answer.etag = value;
    if (name == "set-cookie") answer.set_cookie = value;
    const bool lines = value.starts_with("application/x-ndjson");
    if (name != "content-type" || lines || value.find("json") == std::string::npos) continue;
    answer.body = json::parse(response.body, nullptr, false);
    if (answer.body.is_discarded()) answer.body = nullptr;
  }
  answer.text = std::move(response.body);
  answer.headers = std::move(response.headers);
  return answer;
}

HttpClientRequest ToHttp(const ApiRequest& request, const std::string& token,
                         const std::string& key) {
  HttpClientRequest http{.method = request.method, .headers = request.headers};
  const bool asked = std::any_of(request.headers.begin(), request.headers.end(),
                                 [](const auto& header) { return header.first == "Accept"; });
  http.headers.emplace_back("Accept", asked ? "application/problem+json"
                                            : "application/json, application/problem+json, "
                                              "text/plain");
  if (!token.empty()) http.headers.emplace_back("Authorization", "Bearer " + token);
  if (!request.if_match.empty()) http.headers.emplace_back("If-Match", request.if_match);
  if (!key.empty()) http.headers.emplace_back("Idempotency-Key", key);
  http.body = request.body ? JsonToText(*request.body) : request.raw_body;
  if (!http.body.empty()) http.headers.emplace_back("Content-Type", "application/json");
  return http;
}

}  // namespace

std::unique_ptr<Transport> MakeHttpTransport(const std::string& ca_file) {
  return std::make_unique<HttpTransport>(ca_file);
}

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    escaped += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  // The path segments "." and ".." would mean a directory, so their dots are encoded.
  return escaped == "." || escaped == ".." ? (escaped == "." ? "%2E" : "%2E%2E") : escaped;
}

Failure FailureOf(const Error& error) {
  Failure failure{.exit = ExitOf(error.code),
                  .message = error.message,
                  .code = std::string(ErrorCodeName(error.code))};
  if (!error.pointer.empty()) failure.details.push_back("at " + error.pointer);
  return failure;
}

bool RepeatsDetail(std::string_view message, std::string_view detail) {
  return detail.empty() || message.ends_with(detail.substr(1));
}

Failure FailureOf(const ApiResponse& response) {
  Failure failure{.exit = ExitOf(response.status), .etag = response.etag};
  if (!response.body.is_object()) {
    failure.message = fmt::format("the server answered {}", response.status);
    failure.code = fmt::format("http_{}", response.status);
    return failure;
  }
  failure.message = TextMember(response.body, "detail");
  if (failure.message.empty()) failure.message = TextMember(response.body, "title");
  failure.code = TextMember(response.body, "code");
  failure.trace_id = TextMember(response.body, "trace_id");
  failure.instance = TextMember(response.body, "instance");
  const auto errors = response.body.find("errors");
  if (errors == response.body.end() || !errors->is_array()) return failure;
  for (const json& error : *errors) {
    if (!error.is_object()) continue;
    const std::string detail = TextMember(error, "detail");
    const std::string pointer = TextMember(error, "pointer");
    failure.details.push_back(RepeatsDetail(failure.message, detail)
                                  ? "at " + pointer
                                  : fmt::format("{}: {}", pointer, detail));
  }
  return failure;
}

ApiClient::ApiClient(Target target, std::unique_ptr<Transport> transport, uint64_t seed)
    : target_(std::move(target)), transport_(std::move(transport)), rng_(seed) {}

std::string ApiClient::NewKey() { return fmt::format("{:016x}{:016x}", rng_.Next(), rng_.Next()); }

Outcome<ApiResponse> ApiClient::CallRaw(const ApiRequest& request) {
  const std::string key = request.idempotent ? NewKey() : "";
  HttpClientRequest http = ToHttp(request, target_.token, key);
  std::optional<HttpResponse> busy;
  std::vector<std::string> tried;
  for (size_t i = 0; i < target_.urls.size(); ++i) {
    const size_t member = (current_ + i) % target_.urls.size();
    http.url = target_.urls[member] + request.path + QueryText(request.query);
    auto response = transport_->Send(http);
    if (response.ok() && !DidNothing(*response)) {
      current_ = member;
      return ToApiResponse(std::move(response).value());
    }
    if (response.ok()) {
      busy = std::move(response).value();
      continue;
    }
    if (response.code() == ErrorCode::kInvalid || response.code() == ErrorCode::kExhausted) {
      return response.error();
    }
    tried.push_back(target_.urls[member] + ": " + response.error().message);
    const bool acted = response.code() != ErrorCode::kUnavailable;
    if (acted && !IsSafe(request)) {
      Failure failure = FailureOf(response.error());
      failure.message =
          "no answer, so the request may or may not have been carried out: " + tried.back();
      return failure;
    }
  }
  if (busy) return ToApiResponse(std::move(*busy));
  Failure failure{.exit = ExitCode::kUnreachable,
                  .message = "no server answers (address from " + target_.origin + ")",
                  .code = "unreachable",
                  .details = std::move(tried)};
  if (target_.origin == "default") {
    failure.details.emplace_back("Start a server with: carillon standalone --data-dir DIR");
  }
  return failure;
}

Outcome<ApiResponse> ApiClient::Call(const ApiRequest& request) {
  auto response = CallRaw(request);
  if (!response.ok() || response->status < 400) return response;
  return FailureOf(*response);
}

}  // namespace carillon::cli
