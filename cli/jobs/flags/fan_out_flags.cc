#include "cli/jobs/flags/fan_out_flags.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/terminal/session.h"
#include "common/domain/job/fan_out.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kNoWait = "true";  // of a flag without a value

// "8"; "alive" and "{{params.n}}", which ":100" may follow; null of "none".
Result<json> ShardsOf(const std::string& text) {
  if (text == "none") return json(nullptr);
  if (const auto number = WholeNumberIn(text)) return json{{"total", *number}};
  // A colon of the template itself stands before its last brace.
  const size_t colon = text.find(':', text.rfind('}') == std::string::npos ? 0 : text.rfind('}'));
  const std::string total = text.substr(0, colon);
  const bool limited = colon != std::string::npos;
  const auto most = limited ? WholeNumberIn(text.substr(colon + 1)) : std::nullopt;
  if ((total != "alive" && !IsTotalTemplate(total)) || limited != most.has_value()) {
    return {ErrorCode::kInvalid,
            "--shards must be a number, alive, '{{params.NAME}}', one of these two with :MAX, or "
            "none"};
  }
  return limited ? json{{"total", total}, {"max", *most}} : json{{"total", total}};
}

}  // namespace

void AddFanOutFlags(CLI::App* verb, FanOutFlags& flags) {
  CLI::Option* shards =
      verb->add_option("--shards", flags.shards,
                       "Divide each run into this many parts: a number, alive (as many as "
                       "executors are alive), a placeholder such as '{{params.n}}', either of "
                       "these with :MAX, or none");
  CLI::Option* broadcast = verb->add_flag(
      "--broadcast", flags.broadcast,
      "Run once on each matching executor; --broadcast=5m waits so long for one that is down");
  shards->check(NotEmpty)->excludes(broadcast);
}

Status ApplyFanOutFlags(const FanOutFlags& flags, FlagsBody form, json& body) {
  if (flags.empty()) return {};
  json fields = {{"shards", nullptr}, {"broadcast", nullptr}};
  if (!flags.shards.empty()) {
    CARILLON_ASSIGN_OR_RETURN(fields["shards"], ShardsOf(flags.shards));
  } else {
    fields["broadcast"] = json::object();
    if (flags.broadcast != kNoWait) {
      CARILLON_ASSIGN_OR_RETURN(fields["broadcast"]["wait_s"],
                                WholeSecondsOf("--broadcast", flags.broadcast));
    }
  }
  for (const auto& [field, value] : fields.items()) ReplaceField(body, form, field, value);
  return {};
}

}  // namespace carillon::cli
