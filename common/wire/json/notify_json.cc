#include "common/wire/json/notify_json.h"

#include <nlohmann/json.hpp>

#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"

namespace carillon {
namespace {

using json_value::Read;
using nlohmann::json;

Status ReadKinds(const json& value, const std::string& pointer, std::vector<NoticeKind>& out) {
  std::vector<std::string> names;
  CARILLON_TRY(Read(value, pointer, names));
  for (size_t i = 0; i < names.size(); ++i) {
    const auto kind = ParseNoticeKind(names[i]);
    if (!kind.ok()) return InvalidAt(JsonPointer(pointer, std::to_string(i)), kind.error().message);
    out.push_back(*kind);
  }
  return {};
}

}  // namespace

Status ReadNotify(const json& value, const std::string& pointer, NotifyRules& out) {
  if (!value.is_object()) return InvalidAt(pointer, "must be an object");
  out = {};
  for (const auto& [name, entry] : value.items()) {
    const std::string place = JsonPointer(pointer, name);
    if (name == "on") {
      CARILLON_TRY(ReadKinds(entry, place, out.on.emplace()));
    } else if (name == "late_after_s") {
      CARILLON_TRY(Read(entry, place, out.late_after_s.emplace()));
    } else if (name == "mail_to") {
      CARILLON_TRY(Read(entry, place, out.mail_to));
    } else {
      return InvalidAt(place, "unknown field '" + name + "' in notify");
    }
  }
  return {};
}

json NotifyToJson(const NotifyRules& rules) {
  json out = json::object();
  if (rules.on) {
    out["on"] = json::array();
    for (const NoticeKind kind : *rules.on) out["on"].push_back(Name(kind));
  }
  if (rules.late_after_s) out["late_after_s"] = *rules.late_after_s;
  if (!rules.mail_to.empty()) out["mail_to"] = rules.mail_to;
  return out;
}

}  // namespace carillon
