#include "cli/jobs/flags/waits_flags.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cli/terminal/session.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kNoWaits = "none";

Error WrongWait(const std::string& entry, const std::string& why) {
  return {ErrorCode::kInvalid, "--waits-for " + entry + ": " + why};
}

// Adds one setting of the entry, such as "day=-1". The server checks its value.
Status AddSetting(const std::string& entry, const std::string& setting, json& wait) {
  const size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
  if (value.empty()) return WrongWait(entry, "'" + setting + "' is not 'name=value'");
  const bool of_window = name == "day" || name == "back" || name == "ahead";
  const std::string field = name == "back" || name == "ahead" ? name + "_s" : name;
  if (!of_window && name != "in" && name != "on" && name != "which") {
    return WrongWait(entry,
                     "has no setting '" + name + "' (use in, on, day, back, ahead or which)");
  }
  json& into = of_window ? wait["window"] : wait;
  if (into.contains(field)) return WrongWait(entry, "has " + name + " twice");
  if (name == "day") {
    const auto day = WholeNumberIn(value);
    if (!day) return WrongWait(entry, "day must be a whole number, e.g. -1 for the day before");
    into[field] = *day;
  } else if (of_window) {
    CARILLON_ASSIGN_OR_RETURN(into[field], WholeSecondsOf("--waits-for: " + name, value));
  } else {
    into[field] = value;
  }
  return {};
}

// "load-orders,in=nightly,back=2h,ahead=1h,which=all".
Result<json> WaitOf(const std::string& entry) {
  size_t at = entry.find(',');
  const std::string job = entry.substr(0, at);
  if (job.empty() || job.find('=') != std::string::npos) {
    return WrongWait(entry, "must begin with the ID of a job");
  }
  json wait = {{"job", job}};
  while (at != std::string::npos) {
    const size_t begin = at + 1;
    at = entry.find(',', begin);
    CARILLON_TRY(AddSetting(entry, entry.substr(begin, at - begin), wait));
  }
  if (!wait.contains("window")) wait["window"] = {{"day", 0}};
  return wait;
}

}  // namespace

void AddWaitsFlags(CLI::App* verb, WaitsFlags& flags) {
  verb->add_option("--waits-for", flags.waits_for,
                   "Wait for the newest run of this job of the same day, by its ID; with ,day=-1 "
                   "for that of the day before, with ,back=2h,ahead=1h for one of that time, with "
                   ",which=all for each of them, ,on=done whatever its result, ,in=WORKFLOW as its "
                   "node; repeatable; none = no job")
      ->allow_extra_args(false)
      ->check(NotEmpty);
  verb->add_option("--wait-limit", flags.limit,
                   "How long --waits-for waits, e.g. 6h; the run has then failed")
      ->check(NotEmpty);
}

Status ApplyWaitsFlags(const WaitsFlags& flags, FlagsBody form, json& body) {
  json waits = json::array();
  for (const std::string& entry : flags.waits_for) {
    if (entry != kNoWaits) {
      CARILLON_ASSIGN_OR_RETURN(json wait, WaitOf(entry));
      waits.push_back(std::move(wait));
    } else if (flags.waits_for.size() > 1 || !flags.limit.empty()) {
      return WrongWait(entry, "excludes other jobs and --wait-limit");
    } else {
      ReplaceField(body, form, "waits_for", nullptr);
      ReplaceField(body, form, "wait_limit_s", nullptr);
    }
  }
  if (!waits.empty()) body["waits_for"] = std::move(waits);
  if (!flags.limit.empty()) {
    CARILLON_ASSIGN_OR_RETURN(body["wait_limit_s"], WholeSecondsOf("--wait-limit", flags.limit));
  }
  return {};
}

}  // namespace carillon::cli
