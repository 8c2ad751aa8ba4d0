#include "cli/jobs/fan_out_flags.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "cli/terminal/session.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kNoWait = "true";  // of a flag without a value

std::optional<int64_t> PartsIn(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || read != end) return std::nullopt;
  return number;
}

// "8", "alive", "alive:100"; null of "none".
Result<json> ShardsOf(const std::string& text) {
  constexpr std::string_view kAlive = "alive";
  if (text == "none") return json(nullptr);
  if (text == kAlive) return json{{"total", kAlive}};
  const bool limited = text.starts_with("alive:");
  const auto number = PartsIn(limited ? text.substr(kAlive.size() + 1) : text);
  if (!number) {
    return {ErrorCode::kInvalid, "--shards must be a number, alive, alive:MAX or none"};
  }
  return limited ? json{{"total", kAlive}, {"max", *number}} : json{{"total", *number}};
}

}  // namespace

void AddFanOutFlags(CLI::App* verb, FanOutFlags& flags) {
  CLI::Option* shards =
      verb->add_option("--shards", flags.shards,
                       "Divide each run into this many parts: a number, alive (as many as "
                       "executors are alive), alive:MAX, or none");
  CLI::Option* broadcast = verb->add_flag(
      "--broadcast", flags.broadcast,
      "Run once on each matching executor; --broadcast=5m waits so long for one that is down");
  shards->check(NotEmpty)->excludes(broadcast);
}

Status ApplyFanOutFlags(const FanOutFlags& flags, json& body) {
  if (!flags.shards.empty()) {
    CARILLON_ASSIGN_OR_RETURN(body["shards"], ShardsOf(flags.shards));
    body["broadcast"] = nullptr;
  }
  if (!flags.broadcast.empty()) {
    body["shards"] = nullptr;
    body["broadcast"] = json::object();
    if (flags.broadcast == kNoWait) return {};
    const auto wait = ParseDuration(flags.broadcast);
    if (!wait.ok()) return {ErrorCode::kInvalid, "--broadcast: " + wait.error().message};
    if (wait->count() % 1'000'000 != 0) {
      return {ErrorCode::kInvalid, "--broadcast: must be whole seconds"};
    }
    body["broadcast"]["wait_s"] = wait->count() / 1'000'000;
  }
  return {};
}

}  // namespace carillon::cli
