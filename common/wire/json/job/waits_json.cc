#include "common/wire/json/job/waits_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/nearest.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"

namespace carillon {
namespace {

using json_value::Read;
using nlohmann::json;

Error InvalidWait(std::string pointer, std::string why) {
  return {ErrorCode::kInvalid, std::move(why), std::move(pointer)};
}

Status ReadWaitJob(const json& value, const std::string& pointer, JobId& out) {
  std::string id;
  CARILLON_TRY(Read(value, pointer, id));
  out = JobId(std::move(id));
  return {};
}

template <typename Enum>
Status ReadWaitName(const json& value, const std::string& pointer, Enum& out) {
  std::string text;
  CARILLON_TRY(Read(value, pointer, text));
  const auto parsed = ParseName<Enum>(text);
  if (!parsed.ok()) return InvalidWait(pointer, parsed.error().message);
  out = *parsed;
  return {};
}

Status ReadWaitSeconds(const json& value, const std::string& pointer, int64_t& out) {
  if (value.is_string()) {
    return InvalidWait(pointer, "must be a whole number of seconds, e.g. 7200 for two hours");
  }
  return Read(value, pointer, out);
}

Status ReadWindow(const json& value, const std::string& pointer, WaitWindow& out) {
  if (!value.is_object()) {
    return InvalidWait(pointer,
                       "must be an object, such as {\"day\": 0}, or {\"back_s\": 7200} for the two "
                       "hours before the fire");
  }
  for (const auto& [name, entry] : value.items()) {
    const std::string at = JsonPointer(pointer, name);
    if (name == "day") {
      CARILLON_TRY(Read(entry, at, out.day.emplace()));
    } else if (name == "back_s") {
      CARILLON_TRY(ReadWaitSeconds(entry, at, out.back_s));
    } else if (name == "ahead_s") {
      CARILLON_TRY(ReadWaitSeconds(entry, at, out.ahead_s));
    } else {
      return InvalidWait(at, "unknown field '" + name + "' in a window" +
                                 DidYouMean(name, {"day", "back_s", "ahead_s"}));
    }
  }
  return {};
}

Status ReadWait(const json& value, const std::string& pointer, UpstreamWait& out) {
  if (!value.is_object()) {
    return InvalidWait(pointer,
                       "must be an object, such as {\"job\": \"load\", \"window\": {\"day\": 0}}");
  }
  for (const auto& [name, entry] : value.items()) {
    const std::string at = JsonPointer(pointer, name);
    if (name == "job") {
      CARILLON_TRY(ReadWaitJob(entry, at, out.job));
    } else if (name == "in") {
      CARILLON_TRY(ReadWaitJob(entry, at, out.in));
    } else if (name == "on") {
      CARILLON_TRY(ReadWaitName(entry, at, out.on));
    } else if (name == "window") {
      CARILLON_TRY(ReadWindow(entry, at, out.window));
    } else if (name == "which") {
      CARILLON_TRY(ReadWaitName(entry, at, out.which));
    } else {
      return InvalidWait(at, "unknown field '" + name + "' in an entry of waits_for" +
                                 DidYouMean(name, {"job", "in", "on", "window", "which"}));
    }
  }
  for (const char* required : {"job", "window"}) {
    if (!value.contains(required)) return InvalidWait(JsonPointer(pointer, required), "is missing");
  }
  return {};
}

}  // namespace

Status ReadWaits(const json& value, const std::string& pointer, std::vector<UpstreamWait>& out) {
  if (!value.is_array()) return InvalidWait(pointer, "must be a list");
  std::vector<UpstreamWait> waits;
  for (size_t i = 0; i < value.size(); ++i) {
    CARILLON_TRY(ReadWait(value[i], JsonPointer(pointer, std::to_string(i)), waits.emplace_back()));
  }
  out = std::move(waits);
  return {};
}

json WaitsToJson(const std::vector<UpstreamWait>& waits) {
  json list = json::array();
  for (const UpstreamWait& wait : waits) {
    json window = json::object();
    if (wait.window.day) {
      window["day"] = *wait.window.day;
    } else {
      window["back_s"] = wait.window.back_s;
      window["ahead_s"] = wait.window.ahead_s;
    }
    json one = {{"job", wait.job.value()},
                {"on", Name(wait.on)},
                {"window", std::move(window)},
                {"which", Name(wait.which)}};
    if (!wait.in.empty()) one["in"] = wait.in.value();
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace carillon
