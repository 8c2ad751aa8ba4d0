#include "common/wire/json/job/isolation_json.h"

#include <array>
#include <nlohmann/json.hpp>

#include "common/base/nearest.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"

namespace carillon {
namespace {

using json_value::Read;
using nlohmann::json;

struct WholeLimit {
  std::string_view name;
  int64_t Limits::*value;
};
constexpr std::array<WholeLimit, 4> kWholeLimits{{{"memory_mb", &Limits::memory_mb},
                                                  {"pids", &Limits::pids},
                                                  {"open_files", &Limits::open_files},
                                                  {"file_size_mb", &Limits::file_size_mb}}};

Error InvalidLimit(std::string pointer, std::string why) {
  return {ErrorCode::kInvalid, std::move(why), std::move(pointer)};
}

Status ReadLimit(std::string_view name, const json& value, const std::string& pointer,
                 Limits& limits) {
  if (value.is_null()) return {};
  for (const WholeLimit& one : kWholeLimits) {
    if (one.name == name) return Read(value, pointer, limits.*one.value);
  }
  if (name == "cpu") {
    if (!value.is_number()) return InvalidLimit(pointer, "must be a number of CPUs, e.g. 0.5");
    limits.cpu = value.get<double>();
    return {};
  }
  if (name == "enforce") {
    std::string text;
    CARILLON_TRY(Read(value, pointer, text));
    const auto enforce = ParseName<Enforce>(text);
    if (!enforce.ok()) return InvalidLimit(pointer, enforce.error().message);
    limits.enforce = *enforce;
    return {};
  }
  return InvalidLimit(pointer, "unknown field '" + std::string(name) + "' in limits" +
                                   DidYouMean(name, {"memory_mb", "cpu", "pids", "open_files",
                                                     "file_size_mb", "enforce"}));
}

}  // namespace

Status ReadLimits(const json& value, const std::string& pointer, std::optional<Limits>& out) {
  out.reset();
  if (value.is_null()) return {};
  if (!value.is_object()) return InvalidLimit(pointer, "must be an object");
  Limits limits;
  for (const auto& [name, entry] : value.items()) {
    CARILLON_TRY(ReadLimit(name, entry, JsonPointer(pointer, name), limits));
  }
  if (LimitsAnything(limits)) out = limits;
  return {};
}

json LimitsToJson(const Limits& limits) {
  json shown = {{"enforce", Name(limits.enforce)}};
  for (const WholeLimit& one : kWholeLimits) {
    if (limits.*one.value != 0) shown[std::string(one.name)] = limits.*one.value;
  }
  if (limits.cpu != 0) shown["cpu"] = limits.cpu;
  return shown;
}

}  // namespace carillon
