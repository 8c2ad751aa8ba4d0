#include "common/wire/json/job/container_json.h"

#include <nlohmann/json.hpp>

#include "common/base/nearest.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"

namespace carillon {
namespace {

using json_value::Read;
using nlohmann::json;

Error BadContainer(std::string pointer, std::string why) {
  return {ErrorCode::kInvalid, std::move(why), std::move(pointer)};
}

template <typename Enum>
Status ReadChoice(const json& value, const std::string& pointer, Enum& out) {
  std::string text;
  CARILLON_TRY(Read(value, pointer, text));
  const auto parsed = ParseName<Enum>(text);
  if (!parsed.ok()) return BadContainer(pointer, parsed.error().message);
  out = *parsed;
  return {};
}

Status ReadContainerField(std::string_view name, const json& value, const std::string& pointer,
                          ContainerDefinition& container) {
  if (name == "image") return Read(value, pointer, container.image);
  if (name == "command") return Read(value, pointer, container.command);
  if (name == "args") return Read(value, pointer, container.args);
  if (name == "network") return ReadChoice(value, pointer, container.network);
  if (name == "read_only") return Read(value, pointer, container.read_only);
  if (name == "user") return Read(value, pointer, container.user);
  if (name == "pull") return ReadChoice(value, pointer, container.pull);
  return BadContainer(pointer, "unknown field '" + std::string(name) + "' in a container" +
                                   DidYouMean(name, {"image", "command", "args", "network",
                                                     "read_only", "user", "pull"}));
}

}  // namespace

Status ReadContainer(const json& value, const std::string& pointer,
                     std::optional<ContainerDefinition>& out) {
  out.reset();
  if (value.is_null()) return {};
  if (!value.is_object()) return BadContainer(pointer, "must be an object");
  if (!value.contains("image")) return BadContainer(JsonPointer(pointer, "image"), "is missing");
  ContainerDefinition container;
  for (const auto& [name, entry] : value.items()) {
    CARILLON_TRY(ReadContainerField(name, entry, JsonPointer(pointer, name), container));
  }
  out = std::move(container);
  return {};
}

json ContainerToJson(const ContainerDefinition& container) {
  return {{"image", container.image},         {"command", container.command},
          {"args", container.args},           {"network", Name(container.network)},
          {"read_only", container.read_only}, {"user", container.user},
          {"pull", Name(container.pull)}};
}

}  // namespace carillon
