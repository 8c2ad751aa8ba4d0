#include "common/wire/json/job/fan_out_json.h"

#include <nlohmann/json.hpp>

#include "common/base/nearest.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"

namespace carillon {
namespace {

using json_value::Read;
using nlohmann::json;

constexpr std::string_view kAlive = "alive";

Error InvalidFanOut(std::string pointer, std::string why) {
  return {ErrorCode::kInvalid, std::move(why), std::move(pointer)};
}

Status ReadTotal(const json& value, const std::string& pointer, Shards& shards) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    shards.alive = text == kAlive;
    if (IsTotalTemplate(text)) shards.total_from = text;
    if (shards.alive || !shards.total_from.empty()) return {};
    return InvalidFanOut(pointer,
                         "must be a whole number, \"alive\", or a placeholder such as "
                         "\"{{params.n}}\"");
  }
  return Read(value, pointer, shards.total);
}

}  // namespace

Status ReadShards(const json& value, const std::string& pointer, std::optional<Shards>& out) {
  out.reset();
  if (value.is_null()) return {};
  if (!value.is_object()) {
    return InvalidFanOut(pointer, "must be an object, such as {\"total\": 8}");
  }
  if (!value.contains("total")) return InvalidFanOut(JsonPointer(pointer, "total"), "is missing");
  Shards shards;
  for (const auto& [name, entry] : value.items()) {
    const std::string at = JsonPointer(pointer, name);
    if (name == "total") {
      CARILLON_TRY(ReadTotal(entry, at, shards));
    } else if (name == "max") {
      CARILLON_TRY(Read(entry, at, shards.max));
    } else {
      return InvalidFanOut(
          at, "unknown field '" + name + "' in shards" + DidYouMean(name, {"total", "max"}));
    }
  }
  if (!shards.alive && shards.total_from.empty() && value.contains("max")) {
    return InvalidFanOut(JsonPointer(pointer, "max"), "has no effect with a fixed total; omit it");
  }
  out = shards;
  return {};
}

Status ReadBroadcast(const json& value, const std::string& pointer, std::optional<Broadcast>& out) {
  out.reset();
  if (value.is_null()) return {};
  if (!value.is_object()) {
    return InvalidFanOut(pointer, "must be an object, such as {\"wait_s\": 60}");
  }
  Broadcast broadcast;
  for (const auto& [name, entry] : value.items()) {
    const std::string at = JsonPointer(pointer, name);
    if (name != "wait_s") {
      return InvalidFanOut(
          at, "unknown field '" + name + "' in broadcast" + DidYouMean(name, {"wait_s"}));
    }
    if (entry.is_string()) {
      return InvalidFanOut(at, "must be a whole number of seconds, e.g. 7200 for two hours");
    }
    CARILLON_TRY(Read(entry, at, broadcast.wait_s));
  }
  out = broadcast;
  return {};
}

json ShardsToJson(const Shards& shards) {
  if (shards.alive) return {{"total", kAlive}, {"max", shards.max}};
  if (!shards.total_from.empty()) return {{"total", shards.total_from}, {"max", shards.max}};
  return {{"total", shards.total}};
}

json BroadcastToJson(const Broadcast& broadcast) { return {{"wait_s", broadcast.wait_s}}; }

}  // namespace carillon
