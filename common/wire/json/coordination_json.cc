#include "common/wire/json/coordination_json.h"

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/wire/json/json_text.h"

namespace carillon {
namespace {

using nlohmann::json;

Error CorruptNode(std::string_view what) {
  return {ErrorCode::kCorrupt, "coordinator: unreadable " + std::string(what)};
}

std::string TextOf(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// 0 if the member is absent or no number in the range of an int.
int NumberOf(const json& object, const char* name) {
  const auto found = object.find(name);
  const bool is_number = found != object.end() && found->is_number_unsigned();
  const uint64_t number = is_number ? found->get<uint64_t>() : 0;
  return number <= INT32_MAX ? static_cast<int>(number) : 0;
}

// Adds the pair [segment, index of its owner in `members`]. Returns false if it is not valid.
bool AddOwner(const json& pair, const std::vector<MemberId>& members, Assignment& assignment) {
  if (!pair.is_array() || pair.size() != 2) return false;
  if (!pair[0].is_number_unsigned() || !pair[1].is_number_unsigned()) return false;
  const auto segment = pair[0].get<uint64_t>();
  const auto index = pair[1].get<uint64_t>();
  if (segment > UINT32_MAX || index >= members.size()) return false;
  const SegmentId id(static_cast<uint32_t>(segment));
  return assignment.owners.emplace(id, members[index]).second;
}

}  // namespace

std::string AnnouncedName(const Incarnation& incarnation, bool paused) {
  return incarnation.value() + (paused ? "-paused" : "-running");
}

std::string MemberText(const MemberInfo& member) {
  return JsonToText({{"id", member.id.value()},
                     {"incarnation", member.incarnation.value()},
                     {"rest_url", member.rest_url},
                     {"grpc_address", member.grpc_address},
                     {"version", member.version},
                     {"ops_url", member.ops_url},
                     {"schema", member.schema}});
}

Result<MemberInfo> ParseMember(std::string_view text) {
  const auto object = ParseJsonText(text);
  if (!object.ok() || !object->is_object()) return CorruptNode("member");
  MemberInfo member{.id = MemberId(TextOf(*object, "id")),
                    .incarnation = Incarnation(TextOf(*object, "incarnation")),
                    .rest_url = TextOf(*object, "rest_url"),
                    .grpc_address = TextOf(*object, "grpc_address"),
                    .version = TextOf(*object, "version"),
                    .ops_url = TextOf(*object, "ops_url"),
                    .schema = NumberOf(*object, "schema")};
  if (member.id.empty() || member.incarnation.empty()) return CorruptNode("member");
  return member;
}

std::string AssignmentText(const Assignment& assignment) {
  std::map<MemberId, size_t> known;
  json members = json::array();
  json owners = json::array();
  for (const auto& [segment, member] : assignment.owners) {
    const auto [found, fresh] = known.emplace(member, known.size());
    if (fresh) members.push_back(member.value());
    owners.push_back({segment.value(), found->second});
  }
  return JsonToText({{"generation", assignment.generation.value()},
                     {"members", std::move(members)},
                     {"owners", std::move(owners)}});
}

Result<Assignment> ParseAssignment(std::string_view text) {
  if (text.empty()) return Assignment{};
  const auto parsed = ParseJsonText(text);
  if (!parsed.ok() || !parsed->is_object()) return CorruptNode("assignment");
  const json& object = *parsed;
  const auto generation = object.find("generation");
  const auto members = object.find("members");
  const auto owners = object.find("owners");
  if (generation == object.end() || !generation->is_number_unsigned() || members == object.end() ||
      !members->is_array() || owners == object.end() || !owners->is_array()) {
    return CorruptNode("assignment");
  }
  Assignment assignment{.generation = Generation(generation->get<uint64_t>()), .owners = {}};
  std::vector<MemberId> ids;
  for (const json& member : *members) {
    if (!member.is_string()) return CorruptNode("assignment");
    ids.emplace_back(member.get<std::string>());
  }
  for (const json& pair : *owners) {
    if (!AddOwner(pair, ids, assignment)) return CorruptNode("assignment");
  }
  return assignment;
}

std::string SettingsText(const ClusterSettings& settings) {
  return JsonToText({{"version", settings.version}, {"settings", settings.values}});
}

Result<ClusterSettings> ParseSettings(std::string_view text) {
  if (text.empty()) return ClusterSettings{};
  const auto parsed = ParseJsonText(text);
  if (!parsed.ok() || !parsed->is_object()) return CorruptNode("settings");
  const auto version = parsed->find("version");
  const auto values = parsed->find("settings");
  if (version == parsed->end() || !version->is_number_unsigned() ||
      version->get<uint64_t>() > INT64_MAX || values == parsed->end() || !values->is_object()) {
    return CorruptNode("settings");
  }
  ClusterSettings settings{.version = version->get<int64_t>()};
  for (const auto& [name, value] : values->items()) {
    if (!value.is_string()) return CorruptNode("settings");
    settings.values[name] = value.get<std::string>();
  }
  return settings;
}

std::string TrustText(const StoreTrust& trust) {
  return JsonToText({{"store_id", trust.store_id},
                     {"server_id", trust.server_id},
                     {"mark", trust.mark},
                     {"accepted_us", ToUnixMicros(trust.accepted)}});
}

Result<std::optional<StoreTrust>> ParseTrust(std::string_view text) {
  if (text.empty()) return std::optional<StoreTrust>{};
  const auto object = ParseJsonText(text);
  if (!object.ok() || !object->is_object()) return CorruptNode("trust");
  const auto mark = object->find("mark");
  const auto accepted = object->find("accepted_us");
  if (mark == object->end() || !mark->is_number_unsigned() || accepted == object->end() ||
      !accepted->is_number_integer()) {
    return CorruptNode("trust");
  }
  StoreTrust trust{.store_id = TextOf(*object, "store_id"),
                   .server_id = TextOf(*object, "server_id"),
                   .mark = mark->get<uint64_t>(),
                   .accepted = FromUnixMicros(accepted->get<int64_t>())};
  if (trust.store_id.empty() || trust.server_id.empty()) return CorruptNode("trust");
  return std::optional<StoreTrust>(std::move(trust));
}

}  // namespace carillon
