#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr Duration kBetweenLooks = 200ms;
constexpr int64_t kTimeoutDefaultS = 30;

struct WaitFlags {
  bool wait = false;
  int64_t timeout_s = kTimeoutDefaultS;
};

void AddWaitFlags(CLI::App* verb, WaitFlags& flags) {
  CLI::Option* wait = verb->add_flag("--wait", flags.wait, "Until every member obeys");
  verb->add_option("--timeout", flags.timeout_s, "Seconds that --wait waits at most (30)")
      ->check(CLI::Range(int64_t{1}, int64_t{86'400}))
      ->needs(wait);
}

// Asked at its own address: what a member obeys only it knows.
bool Obeys(Session& session, Target target, const std::string& url, bool paused) {
  target.urls = {url};
  auto transport = session.host().transport(target.ca_file);
  ApiClient member(std::move(target), std::move(transport), session.host().seed);
  const auto status = member.Call({.path = "/api/system/status"});
  if (!status.ok() || !status->body.contains("paused")) return false;
  return status->body["paused"].is_object() == paused;
}

// Those that do not yet; members come and go, so each look asks who there is.
Outcome<std::vector<std::string>> Others(Session& session, bool paused) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse status, session.Call({.path = "/api/system/status"}));
  CARILLON_ASSIGN_OR_RETURN(const ApiClient* client, session.Client());
  std::vector<std::string> others;
  for (const json& member : status.body.value("members", json::array())) {
    const std::string url = member.value("address", std::string());
    if (url.empty() || !Obeys(session, client->target(), url, paused)) {
      others.push_back(member.value("id", url));
    }
  }
  return others;
}

Outcome<ExitCode> AwaitAll(Session& session, bool paused, const WaitFlags& flags) {
  const Clock& clock = session.host().clock;
  const SteadyTime deadline = clock.Steady() + std::chrono::seconds(flags.timeout_s);
  while (true) {
    CARILLON_ASSIGN_OR_RETURN(const std::vector<std::string> others, Others(session, paused));
    if (others.empty()) {
      session.Say("every member obeys");
      return ExitCode::kDone;
    }
    if (clock.Steady() >= deadline) {
      std::string names;
      for (const std::string& name : others) names += (names.empty() ? "" : ", ") + name;
      session.Say("not known to obey: " + names);
      return ExitCode::kWaitTimedOut;
    }
    session.host().wait(kBetweenLooks);
  }
}

Outcome<ExitCode> Finish(Session& session, const ApiResponse& answer, bool paused,
                         const WaitFlags& flags) {
  session.Print().Object(answer.body, {});
  return flags.wait ? AwaitAll(session, paused, flags) : ExitCode::kDone;
}

Outcome<ExitCode> Pause(Session& session, const std::string& reason, const WaitFlags& flags) {
  CARILLON_ASSIGN_OR_RETURN(
      const bool go, session.Confirm("Pause the whole cluster? Nothing starts until it is resumed; "
                                     "what runs goes on."));
  if (!go) return ExitCode::kFailure;
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse paused,
      session.Call(
          {.method = "POST", .path = "/api/system/pause", .body = json{{"reason", reason}}}));
  return Finish(session, paused, true, flags);
}

Outcome<ExitCode> Resume(Session& session, const WaitFlags& flags) {
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse resumed,
      session.Call({.method = "POST", .path = "/api/system/resume", .body = json::object()}));
  return Finish(session, resumed, false, flags);
}

}  // namespace

void AddPauseCommands(CLI::App& system, Session& session) {
  struct Arguments {
    std::string reason;
    WaitFlags pause;
    WaitFlags resume;
  };
  const auto a = std::make_shared<Arguments>();  // shared with the callbacks
  CLI::App* pause = system.add_subcommand("pause", "Start nothing any more, on any executor");
  pause->add_option("--reason", a->reason, "Why: everybody is shown it")->required();
  AddWaitFlags(pause, a->pause);
  session.On(pause, [&session, a] { return Pause(session, a->reason, a->pause); });
  CLI::App* resume = system.add_subcommand("resume", "Take the pause back");
  AddWaitFlags(resume, a->resume);
  session.On(resume, [&session, a] { return Resume(session, a->resume); });
}

}  // namespace carillon::cli
