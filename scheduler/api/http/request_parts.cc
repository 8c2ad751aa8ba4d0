#include "scheduler/api/http/request_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/adapters/http/http_target.h"
#include "common/base/lower_case.h"
#include "common/domain/job/job.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/large_json.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

// The libraries of CloudEvents send the last two.
constexpr std::array<std::string_view, 4> kJsonTypes = {
    "application/json", "application/merge-patch+json", "application/cloudevents+json",
    "application/cloudevents-batch+json"};

bool IsJsonType(std::string_view content_type) {
  const size_t semicolon = content_type.find(';');
  std::string type = LowerCase(content_type.substr(0, semicolon));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  if (std::find(kJsonTypes.begin(), kJsonTypes.end(), type) == kJsonTypes.end()) return false;
  if (semicolon == std::string_view::npos) return true;
  const std::string parameters = LowerCase(content_type.substr(semicolon + 1));
  return parameters.find("charset") == std::string::npos ||
         parameters.find("utf-8") != std::string::npos;
}

std::optional<Problem> WrongMediaType(const HttpRequest& request) {
  const std::string* type = request.Header("content-type");
  const std::string* encoding = request.Header("content-encoding");
  const bool encoded = encoding != nullptr && LowerCase(*encoding) != "identity";
  if (!encoded && (type == nullptr || IsJsonType(*type))) return std::nullopt;
  return Problem{
      .status = 415,
      .code = "unsupported_media_type",
      .detail = "The body must be application/json in UTF-8, without a Content-Encoding."};
}

bool HasNul(const std::string& text) { return text.find('\0') != std::string::npos; }

// Returns the JSON pointer of the first name or text that contains a NUL. The pointer is composed
// while the recursion returns. Composing a pointer for each value would cost more than parsing. The
// parser limits the depth of the recursion.
std::optional<std::string> FindNul(const json& value) {
  if (value.is_string()) {
    return HasNul(value.get_ref<const std::string&>()) ? std::optional<std::string>("")
                                                       : std::nullopt;
  }
  if (!value.is_structured()) return std::nullopt;
  size_t index = 0;  // counted, because std::distance is linear here
  for (auto it = value.begin(); it != value.end(); ++it, ++index) {
    const bool in_name = value.is_object() && HasNul(it.key());
    const auto below = in_name ? std::optional<std::string>("") : FindNul(*it);
    if (!below) continue;
    return JsonPointer("", value.is_object() ? it.key() : std::to_string(index)) + *below;
  }
  return std::nullopt;
}

std::string Listed(std::initializer_list<std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list.empty() ? "none" : list;
}

bool Contains(std::initializer_list<std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void SkipSpace(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

// Removes one tag from the front of `list`. False: `list` does not begin with a tag.
bool TakeTag(std::string_view& list, EntityTags& tags) {
  const bool weak = list.starts_with("W/");
  if (weak) list.remove_prefix(2);
  if (!list.starts_with('"')) return false;
  const size_t end = list.find('"', 1);
  if (end == std::string_view::npos) return false;
  (weak ? tags.weak : tags.strong).emplace_back(list.substr(0, end + 1));
  list.remove_prefix(end + 1);
  return true;
}

bool ReadTagList(std::string_view list, EntityTags& tags) {
  SkipSpace(list);
  while (!list.empty()) {
    if (!TakeTag(list, tags)) return false;
    SkipSpace(list);
    if (list.empty()) break;
    if (list.front() != ',') return false;
    list.remove_prefix(1);
    SkipSpace(list);
  }
  return true;
}

}  // namespace

Outcome<json> ReadJson(const HttpRequest& request, Body body) {
  if (request.body.empty()) {
    if (body == Body::kOptional) return json::object();
    return InvalidField("", "missing_body", "A JSON body is required.");
  }
  if (auto wrong = WrongMediaType(request)) return *wrong;
  auto document = ParseLargeJsonText(request.body);
  if (!document.ok()) {
    return InvalidField(document.error().pointer, "bad_json", document.error().message);
  }
  if (auto nul = FindNul(*document)) {
    return InvalidField(std::move(*nul), "nul", "NUL characters are not allowed.");
  }
  return std::move(document).value();
}

Outcome<json> ReadObject(const HttpRequest& request, Body body,
                         std::initializer_list<std::string_view> known) {
  CARILLON_ASSIGN_OR_RETURN(auto document, ReadJson(request, body));
  if (!document.is_object()) return InvalidField("", "wrong_type", "The body must be an object.");
  for (const auto& [name, value] : document.items()) {
    if (!Contains(known, name)) {
      return InvalidField(JsonPointer("", name), "unknown_field",
                          "Unknown field '" + name + "'. Known fields: " + Listed(known) + ".");
    }
  }
  return document;
}

Outcome<std::string> TextMember(const json& object, std::string_view name, size_t characters_max) {
  const auto it = object.find(name);
  if (it == object.end() || it->is_null()) return std::string();
  const std::string pointer = JsonPointer("", name);
  if (!it->is_string()) return InvalidField(pointer, "wrong_type", "Must be a string.");
  std::string text = it->get<std::string>();
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  });
  if (static_cast<size_t>(characters) > characters_max) {
    return InvalidField(pointer, "too_long",
                        fmt::format("Must be at most {} characters.", characters_max));
  }
  return text;
}

Outcome<CancelMode> CancelModeMember(const json& object) {
  const auto it = object.find("mode");
  if (it == object.end() || it->is_null()) return CancelMode::kGraceful;
  if (!it->is_string()) return InvalidField("/mode", "wrong_type", "Must be a string.");
  const auto mode = ParseCancelMode(it->get<std::string>());
  if (mode.ok()) return *mode;
  return InvalidField("/mode", "unknown_value", "Must be graceful or kill.");
}

Outcome<bool> FlagMember(const json& object, std::string_view name) {
  const auto it = object.find(name);
  if (it == object.end() || it->is_null()) return false;
  if (it->is_boolean()) return it->get<bool>();
  return InvalidField(JsonPointer("", name), "wrong_type", "Must be true or false.");
}

Outcome<std::optional<int64_t>> NumberMember(const json& object, std::string_view name,
                                             Bounds bounds) {
  const auto it = object.find(name);
  if (it == object.end() || it->is_null()) return std::optional<int64_t>();
  const bool fits =
      it->is_number_integer() &&
      (!it->is_number_unsigned() || it->get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)) &&
      it->get<int64_t>() >= bounds.low && it->get<int64_t>() <= bounds.high;
  if (!fits) {
    return InvalidField(
        JsonPointer("", name), "out_of_range",
        fmt::format("Must be a whole number from {} to {}.", bounds.low, bounds.high));
  }
  return std::optional(it->get<int64_t>());
}

Outcome<Query> Query::Read(const HttpRequest& request,
                           std::initializer_list<std::string_view> single,
                           std::initializer_list<std::string_view> repeated, size_t repeated_max) {
  Query query;
  for (const auto& [name, value] : request.query) {
    const size_t before = query.All(name).size();
    if (Contains(repeated, name) ? before >= repeated_max : before >= 1) {
      return InvalidField("?" + name, "repeated", "This parameter is repeated too often.");
    }
    if (!Contains(single, name) && !Contains(repeated, name)) {
      const std::string also = repeated.size() == 0 ? "" : ", " + Listed(repeated);
      return InvalidField(
          "?" + name, "unknown_parameter",
          "Unknown parameter '" + name + "'. Known parameters: " + Listed(single) + also + ".");
    }
    query.values_.emplace_back(name, value);
  }
  return query;
}

std::optional<std::string> Query::Text(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> Query::All(std::string_view name) const {
  std::vector<std::string> all;
  for (const auto& [key, value] : values_) {
    if (key == name) all.push_back(value);
  }
  return all;
}

Outcome<std::optional<WallTime>> Query::Time(std::string_view name) const {
  auto text = Text(name);
  if (!text) return std::optional<WallTime>();
  // In a query, an unescaped '+' arrives as a space. In a time, this can be the '+' of the offset.
  std::replace(text->begin(), text->end(), ' ', '+');
  auto time = ParseRfc3339(*text);
  if (!time.ok()) {
    return InvalidField("?" + std::string(name), "bad_time",
                        "Must be an RFC 3339 time, e.g. 2026-03-01T02:00:00Z.");
  }
  return std::optional(*time);
}

Outcome<std::optional<int64_t>> Query::Number(std::string_view name, Bounds bounds) const {
  const auto text = Text(name);
  if (!text) return std::optional<int64_t>();
  const auto number = ParseNumber<int64_t>(*text);
  if (!number || *number < bounds.low || *number > bounds.high) {
    return InvalidField(
        "?" + std::string(name), "out_of_range",
        fmt::format("Must be a whole number from {} to {}.", bounds.low, bounds.high));
  }
  return std::optional(*number);
}

Outcome<bool> Query::Flag(std::string_view name) const {
  const auto text = Text(name);
  if (!text || *text == "false") return false;
  if (*text == "true") return true;
  return InvalidField("?" + std::string(name), "not_a_flag", "Must be true or false.");
}

Outcome<JobId> FilterJobId(const std::string& text) {
  if (ValidateJobId(text).ok()) return JobId(text);
  return InvalidField("?job_id", "bad_value", "Must be a job_id: [a-z0-9][a-z0-9_-]{0,62}.");
}

Problem BadNamespace(const std::string& pointer) {
  return InvalidField(pointer, "bad_value", "A namespace " + std::string(kNamespaceRule) + ".");
}

Outcome<std::optional<Selector>> ReadSelector(const Query& query) {
  const auto text = query.Text("selector");
  if (!text) return std::optional<Selector>();
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    return InvalidField("?selector", "empty", "A selector must have a condition, e.g. team = etl.");
  }
  auto selector = Selector::Parse(*text);
  if (!selector.ok()) {
    return InvalidField("?selector", "bad_selector", selector.error().message);
  }
  return std::optional(std::move(selector).value());
}

Outcome<LabelFilter> ReadLabelFilter(const Query& query) {
  LabelFilter labels;
  for (const std::string& text : query.All("label")) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos || colon == 0) {
      return InvalidField("?label", "bad_value", "Must be name:value, e.g. team:etl.");
    }
    labels[text.substr(0, colon)].push_back(text.substr(colon + 1));
  }
  return labels;
}

std::string Query::Filter() const {
  auto sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  std::string filter;
  for (const auto& [name, value] : sorted) {
    if (name == "page_size" || name == "page_token") continue;
    filter += PercentEncode(name) + "=" + PercentEncode(value) + "&";
  }
  return filter;
}

bool EntityTags::MatchesStrongly(std::string_view tag) const {
  return any || std::find(strong.begin(), strong.end(), tag) != strong.end();
}

bool EntityTags::MatchesWeakly(std::string_view tag) const {
  return MatchesStrongly(tag) || std::find(weak.begin(), weak.end(), tag) != weak.end();
}

std::optional<EntityTags> ReadTags(const HttpRequest& request, std::string_view header) {
  EntityTags tags;
  for (const auto& [name, value] : request.headers) {
    if (name != header) continue;
    if (value == "*") {
      tags.any = true;
    } else if (!ReadTagList(value, tags)) {
      return std::nullopt;
    }
  }
  const bool empty = !tags.any && tags.strong.empty() && tags.weak.empty();
  return empty ? std::nullopt : std::optional(std::move(tags));
}

Outcome<EntityTags> RequireIfMatch(const HttpRequest& request) {
  if (request.Header("if-match") == nullptr) {
    return Problem{.status = 428,
                   .code = "precondition_required",
                   .detail =
                       "Send If-Match with the ETag you read, e.g. \"v17\", so that no concurrent "
                       "change is overwritten; * matches any version."};
  }
  auto tags = ReadTags(request, "if-match");
  if (tags) return *std::move(tags);
  return Problem{.status = 400,
                 .code = "bad_if_match",
                 .detail = "If-Match must be quoted ETags, e.g. \"v17\", or *."};
}

std::string VersionTag(int64_t version) { return fmt::format("\"v{}\"", version); }

}  // namespace carillon::scheduler
