#include "cli/operations/pause_commands.h"

#include <nlohmann/json.hpp>

#include "cli/runs/run_wait.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr Duration kPauseCheckEvery = 200ms;

struct PauseArguments {
  std::string reason;
  bool wait = false;
  std::string longest;
};

// Waits until every member has applied the change. While the coordinator is unavailable, the list
// of members is empty, and the wait continues.
Outcome<ExitCode> AwaitMembers(Session& session, bool paused,
                               const std::optional<Duration>& longest) {
  const Clock& clock = session.host().clock;
  const SteadyTime started = clock.Steady();
  SteadyTime heard = started;
  std::string behind = "all members; their list is unavailable";
  for (;;) {
    const auto status = session.Call({.path = "/api/system/status"});
    if (status.ok()) {
      heard = clock.Steady();
      const json members = status->body.value("members", json::array());
      if (!members.empty()) behind = MembersBehind(members, paused, Unknown::kIsBehind);
      if (!members.empty() && behind.empty()) return ExitCode::kDone;
    } else if (status.error().exit != ExitCode::kUnreachable ||
               clock.Steady() - heard >= kPatience) {
      return status.error();
    }
    if (longest && clock.Steady() - started >= *longest) {
      session.Say("Not yet confirmed by: " + behind);
      return ExitCode::kWaitTimedOut;
    }
    session.host().wait(kPauseCheckEvery);
  }
}

// Sends the change. With --wait also waits for the members. The response is printed even if the
// wait fails, because the change was made.
Outcome<ExitCode> Send(Session& session, const ApiRequest& request, bool paused,
                       const PauseArguments& arguments) {
  std::optional<Duration> longest;
  if (!arguments.longest.empty()) {
    CARILLON_ASSIGN_OR_RETURN(longest, ParseDuration(arguments.longest));
  }
  if (paused) {
    CARILLON_ASSIGN_OR_RETURN(
        const bool go,
        session.Confirm("Pause the whole cluster? No run starts until it is resumed; "
                        "active runs continue."));
    if (!go) return ExitCode::kFailure;
  }
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse changed, session.Call(request));
  auto waited =
      arguments.wait ? AwaitMembers(session, paused, longest) : Outcome<ExitCode>(ExitCode::kDone);
  session.Print().Object(changed.body, {});
  return waited;
}

void AddWait(CLI::App* verb, PauseArguments& arguments) {
  verb->add_flag("--wait", arguments.wait, "Wait until every member has confirmed the change");
  verb->add_option("--wait-timeout,--timeout", arguments.longest, "Maximum time to wait, e.g. 30s");
}

}  // namespace

std::string MembersBehind(const json& members, bool paused, Unknown unknown) {
  std::string behind;
  for (const json& member : members) {
    const json told = member.value("paused", json(nullptr));
    const bool fine = told.is_boolean() ? told == json(paused) : unknown == Unknown::kIsFine;
    if (fine) continue;
    if (!behind.empty()) behind += ", ";
    behind += member.value("id", "");
  }
  return behind;
}

void AddPauseCommands(CLI::App& system, Session& session) {
  const auto a = std::make_shared<PauseArguments>();  // shared with the callbacks
  CLI::App* pause = system.add_subcommand("pause", "Pause the cluster: start no runs");
  pause->add_option("--reason", a->reason, "Reason, shown to all users")->required();
  AddWait(pause, *a);
  session.On(pause, [&session, a] {
    return Send(
        session,
        {.method = "POST", .path = "/api/system/pause", .body = json{{"reason", a->reason}}}, true,
        *a);
  });
  CLI::App* resume = system.add_subcommand("resume", "Resume a paused cluster");
  AddWait(resume, *a);
  session.On(resume, [&session, a] {
    return Send(session, {.method = "POST", .path = "/api/system/resume", .body = json::object()},
                false, *a);
  });
}

}  // namespace carillon::cli
