#include "scheduler/api/request_parts.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/adapters/http/http_target.h"
#include "common/wire/json_text.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kRepeatedMax = 50;  // times one query parameter may appear

bool IsJsonType(std::string_view content_type) {
  const size_t semicolon = content_type.find(';');
  std::string type = LowerCase(content_type.substr(0, semicolon));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  if (type != "application/json" && type != "application/merge-patch+json") return false;
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
  return Problem{.status = 415,
                 .code = "unsupported_media_type",
                 .detail = "The body has to be application/json in UTF-8, not encoded."};
}

// The pointer of the first name or text that holds a NUL. Depth is bounded by the parser.
std::optional<std::string> FindNul(const json& value, const std::string& pointer) {
  if (value.is_string()) {
    const bool found = value.get_ref<const std::string&>().find('\0') != std::string::npos;
    return found ? std::optional(pointer) : std::nullopt;
  }
  if (!value.is_structured()) return std::nullopt;
  for (auto it = value.begin(); it != value.end(); ++it) {
    const std::string name =
        value.is_object() ? it.key() : std::to_string(std::distance(value.begin(), it));
    const std::string at = JsonPointer(pointer, name);
    if (name.find('\0') != std::string::npos) return at;
    if (auto found = FindNul(*it, at)) return found;
  }
  return std::nullopt;
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

// Calls `take` with each tag of the list, without weakness mark; stops when it returns true.
template <typename Take>
bool AnyTag(std::string_view list, Take take) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view tag = list.substr(0, comma);
    while (!tag.empty() && tag.front() == ' ') tag.remove_prefix(1);
    while (!tag.empty() && tag.back() == ' ') tag.remove_suffix(1);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (take(tag)) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

Outcome<json> ReadJson(const HttpRequest& request, Body body) {
  if (request.body.empty()) {
    if (body == Body::kOptional) return json::object();
    return InvalidField("", "missing_body", "A JSON body is needed.");
  }
  if (auto wrong = WrongMediaType(request)) return *wrong;
  auto document = ParseJsonText(request.body);
  if (!document.ok()) {
    return InvalidField(document.error().pointer, "bad_json", document.error().message);
  }
  if (auto nul = FindNul(*document, "")) {
    return InvalidField(std::move(*nul), "nul", "A NUL character is not allowed here.");
  }
  return std::move(document).value();
}

Outcome<json> ReadObject(const HttpRequest& request, Body body,
                         std::initializer_list<std::string_view> known) {
  CARILLON_ASSIGN_OR_RETURN(auto document, ReadJson(request, body));
  if (!document.is_object()) return InvalidField("", "wrong_type", "The body has to be an object.");
  for (const auto& [name, value] : document.items()) {
    if (!Contains(known, name)) {
      return InvalidField(JsonPointer("", name), "unknown_field", "There is no such field.");
    }
  }
  return document;
}

Outcome<std::string> TextMember(const json& object, std::string_view name, size_t characters_max) {
  const auto it = object.find(name);
  if (it == object.end() || it->is_null()) return std::string();
  const std::string pointer = JsonPointer("", name);
  if (!it->is_string()) return InvalidField(pointer, "wrong_type", "This has to be a text.");
  std::string text = it->get<std::string>();
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  });
  if (static_cast<size_t>(characters) > characters_max) {
    return InvalidField(pointer, "too_long",
                        fmt::format("This may have at most {} characters.", characters_max));
  }
  return text;
}

Outcome<bool> FlagMember(const json& object, std::string_view name) {
  const auto it = object.find(name);
  if (it == object.end() || it->is_null()) return false;
  if (it->is_boolean()) return it->get<bool>();
  return InvalidField(JsonPointer("", name), "wrong_type", "This has to be true or false.");
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
        fmt::format("This has to be a whole number from {} to {}.", bounds.low, bounds.high));
  }
  return std::optional(it->get<int64_t>());
}

Outcome<Query> Query::Read(const HttpRequest& request,
                           std::initializer_list<std::string_view> single,
                           std::initializer_list<std::string_view> repeated) {
  Query query;
  for (const auto& [name, value] : request.query) {
    const size_t before = query.All(name).size();
    if (Contains(repeated, name) ? before >= kRepeatedMax : before >= 1) {
      return InvalidField("?" + name, "repeated", "This parameter appears too often.");
    }
    if (!Contains(single, name) && !Contains(repeated, name)) {
      return InvalidField("?" + name, "unknown_parameter", "There is no such parameter.");
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
  // An offset's '+' that was not escaped came as a space.
  std::replace(text->begin(), text->end(), ' ', '+');
  auto time = ParseRfc3339(*text);
  if (!time.ok()) {
    return InvalidField("?" + std::string(name), "bad_time",
                        "This has to be an RFC 3339 time, e.g. 2026-03-01T02:00:00Z.");
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
        fmt::format("This has to be a whole number from {} to {}.", bounds.low, bounds.high));
  }
  return std::optional(*number);
}

std::string Query::Filter() const {
  std::string filter;
  for (const auto& [name, value] : values_) {
    if (name == "page_size" || name == "page_token") continue;
    filter += PercentEncode(name) + "=" + PercentEncode(value) + "&";
  }
  return filter;
}

Outcome<Precondition> RequireIfMatch(const HttpRequest& request) {
  const std::string* header = request.Header("if-match");
  if (header == nullptr) {
    return Problem{.status = 428,
                   .code = "precondition_required",
                   .detail =
                       "Send If-Match with the ETag that was read (\"v17\"), so that nobody's "
                       "change is overwritten unseen."};
  }
  if (*header == "*") return Precondition{};
  std::optional<int64_t> version;
  AnyTag(*header, [&](std::string_view tag) {
    if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') {
      tag = tag.substr(1, tag.size() - 2);
    }
    if (tag.starts_with('v')) version = ParseNumber<int64_t>(tag.substr(1));
    return version.has_value();
  });
  if (!version) {
    return Problem{.status = 400,
                   .code = "bad_if_match",
                   .detail = "If-Match has to be an ETag like \"v17\", or *."};
  }
  return Precondition{.version = version};
}

std::string VersionTag(int64_t version) { return fmt::format("\"v{}\"", version); }

bool NamesTag(std::string_view list, std::string_view tag) {
  return AnyTag(list,
                [&](std::string_view candidate) { return candidate == "*" || candidate == tag; });
}

}  // namespace carillon::scheduler
