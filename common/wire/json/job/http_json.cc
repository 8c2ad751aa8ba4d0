#include "common/wire/json/job/http_json.h"

#include <nlohmann/json.hpp>

#include "common/base/nearest.h"
#include "common/wire/json/job/parameter_rules_json.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"

namespace carillon {
namespace {

using json_value::Read;
using nlohmann::json;

Error WrongHttp(std::string pointer, std::string why) {
  return {ErrorCode::kInvalid, std::move(why), std::move(pointer)};
}

Status ReadHeaders(const json& value, const std::string& pointer,
                   std::map<std::string, std::string>& out) {
  if (!value.is_object()) return WrongHttp(pointer, "must be an object");
  for (const auto& [name, entry] : value.items()) {
    CARILLON_TRY(Read(entry, JsonPointer(pointer, name), out[name]));
  }
  return {};
}

Status ReadExpectedValue(const json& value, const std::string& pointer, ExpectedValue& out) {
  out.reset();
  if (value.is_null()) return {};
  return ReadParameterValue(value, pointer, out.emplace());
}

json ExpectedToJson(const ExpectedValue& value) {
  return value ? WriteParameterValue(*value) : json(nullptr);
}

Status ReadUntil(const json& value, const std::string& pointer,
                 std::map<std::string, std::vector<ExpectedValue>>& out) {
  if (!value.is_object()) return WrongHttp(pointer, "must be an object of JSON pointers");
  for (const auto& [name, entry] : value.items()) {
    const std::string place = JsonPointer(pointer, name);
    if (!entry.is_array()) return WrongHttp(place, "must be a list of values");
    std::vector<ExpectedValue>& values = out[name];
    for (size_t i = 0; i < entry.size(); ++i) {
      CARILLON_TRY(ReadExpectedValue(entry[i], JsonPointer(place, std::to_string(i)),
                                     values.emplace_back()));
    }
  }
  return {};
}

Status ReadPoll(const json& value, const std::string& pointer, std::optional<HttpPoll>& out) {
  out.reset();
  if (value.is_null()) return {};
  if (!value.is_object()) return WrongHttp(pointer, "must be an object");
  HttpPoll& poll = out.emplace();
  for (const auto& [name, entry] : value.items()) {
    const std::string at = JsonPointer(pointer, name);
    if (name == "url") {
      CARILLON_TRY(Read(entry, at, poll.url));
    } else if (name == "url_at") {
      CARILLON_TRY(Read(entry, at, poll.url_at));
    } else if (name == "interval") {
      CARILLON_TRY(Read(entry, at, poll.interval_s));
    } else if (name == "until") {
      CARILLON_TRY(ReadUntil(entry, at, poll.until));
    } else {
      return WrongHttp(at, "unknown field '" + name + "' in poll" +
                               DidYouMean(name, {"url", "url_at", "interval", "until"}));
    }
  }
  return {};
}

json PollToJson(const HttpPoll& poll) {
  json until = json::object();
  for (const auto& [pointer, values] : poll.until) {
    json& all = until[pointer] = json::array();
    for (const ExpectedValue& value : values) all.push_back(ExpectedToJson(value));
  }
  return {{"url", poll.url},
          {"url_at", poll.url_at},
          {"interval", poll.interval_s},
          {"until", std::move(until)}};
}

Status ReadExpectedJson(const json& value, const std::string& pointer,
                        std::map<std::string, ExpectedValue>& out) {
  if (!value.is_object()) return WrongHttp(pointer, "must be an object of JSON pointers");
  for (const auto& [name, entry] : value.items()) {
    CARILLON_TRY(ReadExpectedValue(entry, JsonPointer(pointer, name), out[name]));
  }
  return {};
}

Status ReadExpect(const json& value, const std::string& pointer, HttpExpect& out) {
  if (!value.is_object()) return WrongHttp(pointer, "must be an object");
  for (const auto& [name, entry] : value.items()) {
    const std::string at = JsonPointer(pointer, name);
    if (name == "status") {
      CARILLON_TRY(Read(entry, at, out.status));
    } else if (name == "contains") {
      CARILLON_TRY(Read(entry, at, out.contains));
    } else if (name == "regex") {
      CARILLON_TRY(Read(entry, at, out.regex));
    } else if (name == "json") {
      CARILLON_TRY(ReadExpectedJson(entry, at, out.json));
    } else {
      return WrongHttp(at, "unknown field '" + name + "' in expect" +
                               DidYouMean(name, {"status", "contains", "regex", "json"}));
    }
  }
  return {};
}

Status ReadHttpField(const std::string& name, const json& value, const std::string& pointer,
                     HttpDefinition& http) {
  if (name == "method") {
    std::string text;
    CARILLON_TRY(Read(value, pointer, text));
    const auto method = ParseHttpMethod(text);
    if (!method.ok()) return WrongHttp(pointer, method.error().message);
    http.method = *method;
    return {};
  }
  if (name == "url") return Read(value, pointer, http.url);
  if (name == "headers") return ReadHeaders(value, pointer, http.headers);
  if (name == "body") return Read(value, pointer, http.body);
  if (name == "expect") return ReadExpect(value, pointer, http.expect);
  if (name == "follow") return Read(value, pointer, http.follow);
  if (name == "connect_timeout") return Read(value, pointer, http.connect_timeout_s);
  if (name == "tls_verify") return Read(value, pointer, http.tls_verify);
  if (name == "client_certificate") return Read(value, pointer, http.client_certificate);
  if (name == "poll") return ReadPoll(value, pointer, http.poll);
  return WrongHttp(pointer, "unknown field '" + name + "' in http" +
                                DidYouMean(name, {"method", "url", "headers", "body", "expect",
                                                  "follow", "connect_timeout", "tls_verify",
                                                  "client_certificate", "poll"}));
}

}  // namespace

Status ReadHttp(const json& value, const std::string& pointer, std::optional<HttpDefinition>& out) {
  out.reset();
  if (value.is_null()) return {};
  if (!value.is_object()) return WrongHttp(pointer, "must be an object");
  if (!value.contains("url")) return WrongHttp(JsonPointer(pointer, "url"), "is missing");
  HttpDefinition http;
  for (const auto& [name, entry] : value.items()) {
    CARILLON_TRY(ReadHttpField(name, entry, JsonPointer(pointer, name), http));
  }
  out = std::move(http);
  return {};
}

json HttpToJson(const HttpDefinition& http) {
  json expected = json::object();
  for (const auto& [pointer, value] : http.expect.json) {
    expected[pointer] = ExpectedToJson(value);
  }
  json body{{"method", Name(http.method)},
            {"url", http.url},
            {"headers", http.headers},
            {"body", http.body},
            {"expect",
             {{"status", http.expect.status},
              {"contains", http.expect.contains},
              {"regex", http.expect.regex},
              {"json", std::move(expected)}}},
            {"follow", http.follow},
            {"connect_timeout", http.connect_timeout_s},
            {"tls_verify", http.tls_verify}};
  // Members of the previous release do not know them.
  if (!http.client_certificate.empty()) body["client_certificate"] = http.client_certificate;
  if (http.poll) body["poll"] = PollToJson(*http.poll);
  return body;
}

}  // namespace carillon
