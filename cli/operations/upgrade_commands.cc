#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "cli/operations/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr Duration kAskEvery = 1s;
constexpr Duration kFinishLongest = 90s;  // the members are watched for 30 s
constexpr Duration kBackupAgeMax = 24h;

bool IsForPeople(const Printer& print) {
  return print.form() == Form::kTable || print.form() == Form::kName;
}

std::string SayHowFar(const json& upgrade) {
  const json schema = upgrade.value("schema", json());
  if (!schema.is_number()) return "The store has not answered yet.";
  if (upgrade.value("finished", false))
    return "The upgrade to schema " + schema.dump() + " is finished.";
  std::string said = "The upgrade from schema " + upgrade.value("finished_schema", json()).dump() +
                     " to " + schema.dump() + " is not finished.";
  std::string off;
  for (const json& one : upgrade.value("off_until_finish", json::array())) {
    off += (off.empty() ? " Off until then: " : ", ") + one.value("field", "");
  }
  if (!off.empty()) said += off + ".";
  if (upgrade.value("finishing", false)) said += " The members are being checked.";
  const json problem = upgrade.value("problem", json());
  if (problem.is_string()) said += " The last try failed: " + problem.get<std::string>() + ".";
  return said;
}

void PrintUpgrade(Session& session, const json& upgrade) {
  static const View view{
      {{"MEMBER", "id"}, {"VERSION", "version"}, {"SCHEMA", "schema"}, {"UPGRADED", "upgraded"}},
      "id"};
  Printer print = session.Print();
  if (!IsForPeople(print)) return print.Object(upgrade, {});
  print.List({{"items", upgrade.value("members", json::array())}}, view);
  session.Say(SayHowFar(upgrade));
}

Outcome<ExitCode> ShowUpgrade(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse upgrade,
                            session.Call({.path = "/api/system/upgrade"}));
  PrintUpgrade(session, upgrade.body);
  return ExitCode::kDone;
}

// Another member may answer than the one that finishes the upgrade, so only the outcome counts.
Outcome<json> AwaitFinish(Session& session, json upgrade) {
  const Clock& clock = session.host().clock;
  const SteadyTime started = clock.Steady();
  while (!upgrade.value("finished", false)) {
    const json problem = upgrade.value("problem", json());
    if (problem.is_string()) {
      return Failure{
          .exit = ExitCode::kConflict, .message = problem.get<std::string>(), .code = "conflict"};
    }
    if (clock.Steady() - started >= kFinishLongest) {
      return Failure{
          .exit = ExitCode::kWaitTimedOut,
          .message = "the upgrade is not finished yet; see carillon system upgrade status",
          .code = "timeout"};
    }
    session.host().wait(kAskEvery);
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse seen,
                              session.Call({.path = "/api/system/upgrade"}));
    upgrade = seen.body;
  }
  return upgrade;
}

Outcome<ExitCode> FinishUpgrade(Session& session, const std::string& reason) {
  CARILLON_ASSIGN_OR_RETURN(
      const bool go, session.Confirm("Finish the upgrade? Members of the previous version can no "
                                     "longer start, and this cannot be taken back."));
  if (!go) return ExitCode::kFailure;
  json body = json::object();
  if (!reason.empty()) body["reason"] = reason;
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse begun,
      session.Call(
          {.method = "POST", .path = "/api/system/upgrade/finish", .body = std::move(body)}));
  CARILLON_ASSIGN_OR_RETURN(const json finished, AwaitFinish(session, begun.body));
  PrintUpgrade(session, finished);
  return ExitCode::kDone;
}

// One row of `system upgrade check`. `fine` is null if the answer is not known.
json Check(const char* name, const json& fine, const std::string& detail) {
  const char* result = fine.is_null() ? "unknown" : fine.get<bool>() ? "ok" : "wait";
  return {{"check", name}, {"result", result}, {"detail", detail}};
}

json CheckBackup(const Host& host, const std::string& file) {
  if (file.empty()) return Check("backup", nullptr, "Name the newest one: --backup FILE");
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return Check("backup", false, "There is no file " + file);
  const Duration age = host.clock.Wall() - FromUnixMicros(int64_t{info.st_mtime} * 1'000'000);
  const bool fresh = age < kBackupAgeMax;
  return Check("backup", fresh, fresh ? file : file + " is older than a day");
}

json CheckMembers(const json& topology) {
  std::string bad;
  for (const json& node : topology.value("nodes", json::array())) {
    const std::string id = node.value("id", "");
    if (!id.starts_with("member:")) continue;
    if (node.value("state", "") != "ok") bad += (bad.empty() ? "" : ", ") + id.substr(7);
  }
  return Check("members", bad.empty(), bad.empty() ? "All are well" : "Not well: " + bad);
}

json CheckSegments(const json& status) {
  const json segments = status.value("segments", json());
  if (!segments.is_array()) return Check("segments", nullptr, "The store does not answer");
  size_t free = 0;
  for (const json& segment : segments) free += segment.value("owner", json()).is_null() ? 1 : 0;
  return Check("segments", free == 0,
               free == 0 ? "All are owned" : std::to_string(free) + " have no owner");
}

json CheckResults(const json& status) {
  const json behind = status.value("lag", json::object()).value("results", json());
  if (!behind.is_number()) return Check("results", nullptr, "Not known");
  const bool none = behind == 0;
  return Check("results", none, none ? "All are applied" : behind.dump() + " wait to be applied");
}

// The leader is last, so that the leadership moves only once.
json RestartOrder(const json& status) {
  json order = json::array();
  const json leader = status.value("leader", json());
  for (const json& member : status.value("members", json::array())) {
    if (member["id"] != leader) order.push_back(member["id"]);
  }
  if (leader.is_string()) order.push_back(leader);
  return order;
}

Outcome<ExitCode> CheckUpgrade(Session& session, const std::string& backup) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse status, session.Call({.path = "/api/system/status"}));
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse topology,
                            session.Call({.path = "/api/system/topology"}));
  const json checks = {CheckBackup(session.host(), backup), CheckMembers(topology.body),
                       CheckSegments(status.body), CheckResults(status.body)};
  const json order = RestartOrder(status.body);
  Printer print = session.Print();
  if (IsForPeople(print)) {
    print.List({{"items", checks}},
               {{{"CHECK", "check"}, {"RESULT", "result"}, {"DETAIL", "detail"}}, "check"});
  } else {
    print.Object({{"checks", checks}, {"restart_order", order}}, {});
  }
  std::string sentence = "Restart in this order, each when /readyz of the previous one is 200:";
  for (const json& member : order) sentence += " " + member.get<std::string>() + ",";
  session.Say(sentence + " then the executors.");
  for (const json& check : checks) {
    if (check["result"] == "wait") return ExitCode::kConflict;
  }
  return ExitCode::kDone;
}

}  // namespace

void AddUpgradeCommands(CLI::App& system, Session& session) {
  CLI::App* upgrade = system.add_subcommand("upgrade", "Check and finish an upgrade");
  upgrade->require_subcommand(1);
  session.On(upgrade->add_subcommand("status", "Show the members' schemas and what is still off"),
             [&session] { return ShowUpgrade(session); });
  CLI::App* check = upgrade->add_subcommand("check", "Check whether members may be restarted");
  const auto backup = std::make_shared<std::string>();  // shared with the callback
  check->add_option("--backup", *backup, "The newest backup");
  session.On(check, [&session, backup] { return CheckUpgrade(session, *backup); });
  CLI::App* finish = upgrade->add_subcommand("finish", "Finish the upgrade; cannot be taken back");
  const auto reason = std::make_shared<std::string>();  // shared with the callback
  finish->add_option("--reason", *reason, "Reason, kept in the audit log");
  session.On(finish, [&session, reason] { return FinishUpgrade(session, *reason); });
}

}  // namespace carillon::cli
