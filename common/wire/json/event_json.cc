#include "common/wire/json/event_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/nearest.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"

namespace carillon {
namespace {

using nlohmann::json;

// The standard asks for 20, and some senders have longer ones.
constexpr size_t kExtensionNameBytesMax = 64;

// ---- values ------------------------------------------------------------------------------------

// The member of an object, or the entry of a list with that number; null if there is none.
const json* Below(const json& value, std::string_view segment) {
  if (value.is_object()) {
    const auto member = value.find(std::string(segment));
    return member == value.end() ? nullptr : &*member;
  }
  constexpr size_t kDigitsMax = 9;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!value.is_array() || segment.empty() || segment.size() > kDigitsMax) return nullptr;
  if (!std::all_of(segment.begin(), segment.end(), is_digit)) return nullptr;
  if (segment.size() > 1 && segment.front() == '0') return nullptr;
  const size_t position = std::stoul(std::string(segment));
  return position < value.size() ? &value[position] : nullptr;
}

std::optional<ConditionValue> ValueOf(const json& value) {
  switch (value.type()) {
    case json::value_t::boolean: return value.get<bool>();
    case json::value_t::string: return value.get<std::string>();
    case json::value_t::number_float:
      return ConditionNumber{.is_whole = false, .real = value.get<double>()};
    case json::value_t::number_integer:
    case json::value_t::number_unsigned: {
      // Beyond 63 bits it has no type of its own; as a tree, its digits stay as they are.
      const bool fits = value.type() == json::value_t::number_integer ||
                        value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
      if (!fits) return ConditionTree{JsonToText(value)};
      const auto whole = value.get<int64_t>();
      return ConditionNumber{.whole = whole, .real = static_cast<double>(whole)};
    }
    case json::value_t::object:
    case json::value_t::array: return ConditionTree{JsonToText(value)};
    default: return {};
  }
}

// Looks into the document when it is asked: a list of 64 KiB can have 32,000 values, of which a
// trigger asks for a few.
class EventValues final : public NamedValues {
 public:
  EventValues(EventOrigin origin, json data) : origin_(std::move(origin)), data_(std::move(data)) {}

  std::optional<ConditionValue> At(std::string_view name) const override {
    if (name == "id") return origin_.id;
    if (name == "source") return origin_.source;
    if (name == "type") return origin_.type;
    if (name == "subject" && !origin_.subject.empty()) return origin_.subject;
    const std::string_view root = name.substr(0, name.find('.'));
    if (root != "data") return {};
    const json* value = &data_;
    for (size_t begin = root.size(); begin < name.size();) {
      const size_t end = std::min(name.find('.', begin + 1), name.size());
      value = Below(*value, name.substr(begin + 1, end - begin - 1));
      if (value == nullptr) return {};
      begin = end;
    }
    return ValueOf(*value);
  }

 private:
  const EventOrigin origin_;
  const json data_;
};

// ---- members -----------------------------------------------------------------------------------

Status CheckTime(const json& value, const std::string& pointer) {
  WallTime time;
  return json_value::Read(value, pointer, time);
}

Status CheckSpecVersion(const json& value, const std::string& pointer) {
  if (value == "1.0") return {};
  return InvalidAt(pointer, "must be \"1.0\"");
}

bool IsExtension(std::string_view name) {
  return !name.empty() && name.size() <= kExtensionNameBytesMax &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

Status CheckOther(const std::string& name, const json& value, const std::string& pointer) {
  if (name == "data_base64") {
    return InvalidAt(pointer, "binary data is not supported; send JSON, or a text, in data");
  }
  if (!IsExtension(name)) {
    return InvalidAt(pointer,
                     "unknown field '" + name + "' in an event" +
                         DidYouMean(name, {"id", "source", "type", "subject", "data", "specversion",
                                           "time", "datacontenttype", "dataschema"}));
  }
  if (value.is_structured()) {
    return InvalidAt(pointer,
                     "must be a text, a number, true or false; lists and objects go into "
                     "data");
  }
  return {};
}

// `value` is not null. `data` is left where it is.
Status ReadMember(const std::string& name, const json& value, EventOrigin& origin) {
  const std::string pointer = JsonPointer("", name);
  std::string ignored;
  if (name == "data") return {};
  if (name == "id") return json_value::Read(value, pointer, origin.id);
  if (name == "source") return json_value::Read(value, pointer, origin.source);
  if (name == "type") return json_value::Read(value, pointer, origin.type);
  if (name == "subject") return json_value::Read(value, pointer, origin.subject);
  if (name == "specversion") return CheckSpecVersion(value, pointer);
  if (name == "time") return CheckTime(value, pointer);
  if (name == "datacontenttype" || name == "dataschema") {
    return json_value::Read(value, pointer, ignored);
  }
  return CheckOther(name, value, pointer);
}

json TakeData(json& body) {
  const auto data = body.find("data");
  return data == body.end() ? json(nullptr) : std::move(*data);
}

// ---- what an event started ---------------------------------------------------------------------

json StartToJson(const EventStart& start) {
  json out = {{"schedule_id", start.schedule_id.value()},
              {"job_id", start.job_id.value()},
              {"job_no", start.job_no.value()},
              {"segment", start.segment.value()}};
  if (start.run) out["run_id"] = EncodeRunId(*start.run);
  if (start.gap) out["gap"] = Name(*start.gap);
  if (!start.problem.empty()) out["problem"] = start.problem;
  return out;
}

Result<EventStart> StartFromJson(const json& stored) {
  EventStart start;
  start.schedule_id = ScheduleId(stored.at("schedule_id").get<uint64_t>());
  start.job_id = JobId(stored.at("job_id").get<std::string>());
  start.job_no = JobNo(stored.at("job_no").get<uint64_t>());
  start.segment = SegmentId(stored.at("segment").get<uint32_t>());
  if (stored.contains("run_id")) {
    CARILLON_ASSIGN_OR_RETURN(start.run, DecodeRunId(stored["run_id"].get<std::string>()));
  }
  if (stored.contains("gap")) {
    CARILLON_ASSIGN_OR_RETURN(start.gap, ParseGapReason(stored["gap"].get<std::string>()));
  }
  start.problem = stored.value("problem", "");
  return start;
}

}  // namespace

Result<Event> EventFromJson(json body) {
  if (!body.is_object()) return InvalidAt("", "an event must be a JSON object");
  EventOrigin origin;
  for (const auto& [name, value] : body.items()) {
    // CloudEvents lets a sender write null for an attribute that is absent.
    if (value.is_null() && name != "data_base64") continue;
    CARILLON_TRY(ReadMember(name, value, origin));
  }
  for (const char* required : {"id", "source", "type"}) {
    if (body.value(required, json()).is_null()) {
      return InvalidAt(JsonPointer("", required), "is missing");
    }
  }
  CARILLON_TRY(CheckOrigin(origin));
  json data = TakeData(body);
  if (const size_t bytes = JsonToText(data).size(); bytes > kEventDataBytesMax) {
    return InvalidAt("/data", fmt::format("has {} bytes as JSON; at most {} are allowed", bytes,
                                          kEventDataBytesMax));
  }
  return Event{.origin = origin, .values = std::make_shared<EventValues>(origin, std::move(data))};
}

Result<Event> EventFromText(std::string_view text) {
  CARILLON_ASSIGN_OR_RETURN(json document, ParseJsonText(text));
  return EventFromJson(std::move(document));
}

json StartsToJson(const std::vector<EventStart>& starts) {
  json out = json::array();
  for (const EventStart& start : starts) out.push_back(StartToJson(start));
  return out;
}

Result<std::vector<EventStart>> StartsFromText(std::string_view text) {
  const Error corrupt{ErrorCode::kCorrupt, "stored effects of an event"};
  try {
    std::vector<EventStart> starts;
    const json stored = json::parse(text.begin(), text.end());
    if (!stored.is_array()) return corrupt;
    for (const json& one : stored) {
      auto start = StartFromJson(one);
      if (!start.ok()) return corrupt;
      starts.push_back(std::move(*start));
    }
    return starts;
  } catch (const json::exception&) {
    return corrupt;
  }
}

}  // namespace carillon
