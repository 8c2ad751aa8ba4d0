#include "common/wire/json/job/share_json.h"

#include <nlohmann/json.hpp>

#include "common/wire/json/json_text.h"

namespace carillon {
namespace {

using nlohmann::json;

Error WrongAt(std::string pointer, std::string why) {
  return {ErrorCode::kInvalid, std::move(why), std::move(pointer)};
}

Result<Share> ReadShare(const json& body, const std::string& pointer) {
  if (!body.is_object()) return WrongAt(pointer, "must be an object");
  Share share;
  for (const auto& [name, value] : body.items()) {
    const std::string place = JsonPointer(pointer, name);
    if (name != "namespace" && name != "selector") {
      return WrongAt(place, "unknown field '" + name + "' in a share");
    }
    if (!value.is_string()) return WrongAt(place, "must be a string");
    (name == "namespace" ? share.name_space : share.selector) = value.get<std::string>();
  }
  // An empty text, e.g. from an unset variable, must not share a whole namespace.
  if (body.contains("selector") && share.selector.empty()) {
    return WrongAt(pointer + "/selector", "is empty; omit it to share jobs with any labels");
  }
  return share;
}

Result<std::vector<Share>> ReadShares(const json& body) {
  if (!body.is_array()) return WrongAt("/shares", "must be a list");
  std::vector<Share> shares;
  for (size_t i = 0; i < body.size(); ++i) {
    CARILLON_ASSIGN_OR_RETURN(shares.emplace_back(),
                              ReadShare(body[i], "/shares/" + std::to_string(i)));
  }
  return shares;
}

}  // namespace

json SharesToJson(const std::vector<Share>& shares) {
  json out = json::array();
  for (const Share& share : shares) {
    json& item = out.emplace_back(json{{"namespace", share.name_space}});
    if (!share.selector.empty()) item["selector"] = share.selector;
  }
  return out;
}

Result<std::vector<Share>> SharesFromJson(const json& shares) {
  CARILLON_ASSIGN_OR_RETURN(std::vector<Share> read, ReadShares(shares));
  CARILLON_TRY(ValidateShares(read));
  return read;
}

std::string SharesToText(const std::vector<Share>& shares) {
  return JsonToText(SharesToJson(shares));
}

Result<std::vector<Share>> SharesFromText(std::string_view text) {
  auto read = ReadShares(json::parse(text.begin(), text.end(), nullptr, false));
  if (read.ok()) return read;
  return Error{ErrorCode::kCorrupt, "stored shares: " + read.error().message, read.error().pointer};
}

}  // namespace carillon
