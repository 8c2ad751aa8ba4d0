#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "cli/operations/commands.h"
#include "cli/operations/pause_commands.h"
#include "cli/terminal/completion.h"
#include "common/wire/json/json_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

// Routes of the ops port. --addr may contain the address of that port.
constexpr std::array<std::string_view, 4> kOpsPaths = {"/livez", "/readyz", "/healthz", "/metrics"};

struct ApiArguments {
  std::string method;
  std::string path;
  std::string data;
  std::vector<std::string> headers;
};

// Adds a row if the members have different versions. Adds a row if some have not applied the pause
// or resume.
void AddDifferences(json& shown) {
  std::set<json> versions;
  std::string all;
  for (const json& member : shown["members"]) {
    const json version = member.value("version", json(nullptr));
    versions.insert(version);
    if (!all.empty()) all += ", ";
    all += member.value("id", "") + " " + (version.is_string() ? version.get<std::string>() : "-");
  }
  if (versions.size() > 1) shown["versions"] = all;
  const bool paused = shown.contains("paused") && shown["paused"].is_object();
  const std::string behind = MembersBehind(shown["members"], paused, Unknown::kIsFine);
  if (!behind.empty()) shown[paused ? "pause_not_taken_over" : "resume_not_taken_over"] = behind;
}

// Names the jobs that cannot be planned in one row, which is left out if there are none.
void ShortenUnplanned(json& shown) {
  constexpr size_t kNamed = 5;
  const json jobs = shown.value("unplanned_jobs", json());
  shown.erase("unplanned_jobs");
  if (!jobs.is_array() || jobs.empty()) return;
  std::string text = std::to_string(jobs.size()) + ":";
  for (size_t i = 0; i < std::min(kNamed, jobs.size()); ++i) {
    text += " " + jobs[i].value("job_id", "");
  }
  shown["unplanned_jobs"] = text + (jobs.size() > kNamed ? " …" : "");
}

void SayOverload(json& status) {
  const json overload = status.value("overload", json());
  if (!overload.is_object()) return;
  status["overload"] = fmt::format(
      "runs of a priority under {} are shed since {}: {} so far", overload.value("below", 0),
      overload.value("since", std::string()), overload.value("shed", int64_t{0}));
}

void SayLetters(json& status) {
  const json letters = status.value("unpublished_letters", json());
  if (!letters.is_object()) return;
  constexpr int64_t kCountedMax = 10'000;  // by the scheduler
  const int64_t count = letters.value("count", int64_t{0});
  status["unpublished_letters"] = fmt::format(
      "{}{} since {} are not in dead_letters.topic; the log of the leader says why",
      count < kCountedMax ? "" : "at least ", count, letters.value("since", std::string()));
}

// Prints the status. A table shows the number of members and segments instead of the lists.
Outcome<ExitCode> ShowStatus(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse status, session.Call({.path = "/api/system/status"}));
  Printer print = session.Print();
  json shown = status.body;
  if (print.form() == Form::kTable && shown.is_object()) {
    if (shown.contains("members") && shown["members"].is_array()) AddDifferences(shown);
    ShortenUnplanned(shown);
    SayOverload(shown);
    SayLetters(shown);
    for (const char* name : {"members", "segments"}) {
      if (shown.contains(name) && shown[name].is_array()) shown[name] = shown[name].size();
    }
  }
  print.Object(shown, {});
  return ExitCode::kDone;
}

Failure NothingToAccept(const std::string& why) {
  return {.exit = ExitCode::kConflict, .message = why, .code = "conflict"};
}

// Accepts exactly the store that the status shows. The request names this store, and the server
// rejects the request if its store is another one.
Outcome<ExitCode> AcceptStore(Session& session, const std::string& reason) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse status, session.Call({.path = "/api/system/status"}));
  const json store = status.body.value("store", json::object());
  if (store.value("state", "") != "held") {
    return NothingToAccept("the store is not held, there is nothing to accept");
  }
  if (!store.contains("seen") || !store["seen"].is_object()) {
    return NothingToAccept("the store cannot be read, so it cannot be accepted");
  }
  json body = {{"store_id", store["seen"]["store_id"]},
               {"server_id", store["seen"]["server_id"]},
               {"mark", store["seen"]["mark"]}};
  if (!reason.empty()) body["reason"] = reason;
  session.Say("The store has been held since " + store.value("since", "") + ": " +
              store.value("detail", ""));
  CARILLON_ASSIGN_OR_RETURN(
      const bool go,
      session.Confirm("Accept store " + body["store_id"].dump() + " at mark " +
                      body["mark"].dump() + "? Data that only the trusted store had is lost."));
  if (!go) return ExitCode::kFailure;
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse accepted,
      session.Call(
          {.method = "POST", .path = "/api/system/store/accept", .body = std::move(body)}));
  session.Print().Object(accepted.body, {});
  return ExitCode::kDone;
}

Outcome<ExitCode> ShowLeader(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse status, session.Call({.path = "/api/system/status"}));
  const json leader = status.body.value("leader", json(nullptr));
  const json members = status.body.value("members", json::array());
  Printer print = session.Print();
  if (print.form() == Form::kJson || print.form() == Form::kYaml) {
    print.Object({{"leader", leader}, {"members", members}}, {});
    return ExitCode::kDone;
  }
  static const View view{{{"MEMBER", "id"},
                          {"LEADS", "leads"},
                          {"ADDRESS", "address"},
                          {"SEGMENTS", "owned_segments"}},
                         "id"};
  json items = json::array();
  for (json member : members) {
    member["leads"] = member["id"] == leader;
    items.push_back(std::move(member));
  }
  print.List({{"items", std::move(items)}}, view);
  return ExitCode::kDone;
}

Outcome<ApiRequest> BuildRequest(Session& session, const ApiArguments& arguments) {
  ApiRequest request{.method = arguments.method, .path = arguments.path};
  for (char& c : request.method) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  // Only paths of the API and of the ops port are allowed. For any other path the server returns
  // the console's page.
  const std::string route = request.path.substr(0, request.path.find('?'));
  const bool ops = std::find(kOpsPaths.begin(), kOpsPaths.end(), route) != kOpsPaths.end();
  if (!ops && !route.starts_with("/api/")) {
    return UsageFailure("PATH must start with /api/, e.g. /api/jobs");
  }
  if (!arguments.data.empty() && arguments.data[0] == '@') {
    CARILLON_ASSIGN_OR_RETURN(request.raw_body,
                              ReadInput(session.host(), arguments.data.substr(1)));
  } else {
    request.raw_body = arguments.data;
  }
  for (const std::string& header : arguments.headers) {
    const size_t colon = header.find(':');
    if (colon == 0 || colon == std::string::npos) return UsageFailure("-H takes 'Name: value'");
    const size_t value = header.find_first_not_of(' ', colon + 1);
    request.headers.emplace_back(header.substr(0, colon),
                                 value == std::string::npos ? "" : header.substr(value));
  }
  return request;
}

// Prints the response to standard output, whatever its status.
Outcome<ExitCode> CallApi(Session& session, const ApiArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiRequest request, BuildRequest(session, arguments));
  CARILLON_ASSIGN_OR_RETURN(ApiClient * client, session.Client());
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse response, client->CallRaw(request));
  Printer print = session.Print();
  if (print.form() == Form::kTable || !response.body.is_structured()) {
    session.host().out << response.text;
    if (!response.text.empty() && response.text.back() != '\n') session.host().out << "\n";
  } else {
    print.Object(response.body, {});
  }
  if (response.status >= 400) return FailureOf(response);
  return ExitCode::kDone;
}

void AddApiCommand(CLI::App& app, Session& session) {
  const auto a = std::make_shared<ApiArguments>();  // shared with the callback
  CLI::App* api = app.add_subcommand("api", "Call the REST API directly");
  api->add_option("method", a->method, "HTTP method, e.g. GET")->required();
  api->add_option("path", a->path, "Path with its query, e.g. /api/jobs?status=PAUSED")->required();
  api->add_option("-d,--data", a->data, "Request body; @FILE reads a file, @- standard input");
  api->add_option("-H,--header", a->headers, "Request header, 'Name: value'; repeatable")
      ->allow_extra_args(false);
  session.On(api, [&session, a] { return CallApi(session, *a); });
}

}  // namespace

void AddSystemCommands(CLI::App& app, Session& session) {
  CLI::App* system = app.add_subcommand("system", "Show and control the cluster");
  system->require_subcommand(1);
  session.On(system->add_subcommand("status", "Show leader, members, executors and lateness"),
             [&session] { return ShowStatus(session); });
  session.On(system->add_subcommand("leader", "Show the members and the leader"),
             [&session] { return ShowLeader(session); });
  AddPauseCommands(*system, session);
  AddTopologyCommand(*system, session);
  AddUpgradeCommands(*system, session);
  AddConfigCommands(*system, session);
  CLI::App* accept = system->add_subcommand(
      "accept-store", "Accept a store that is held because it is not the trusted one");
  const auto reason = std::make_shared<std::string>();  // shared with the callback
  accept->add_option("--reason", *reason, "Reason, kept in the audit log");
  session.On(accept, [&session, reason] { return AcceptStore(session, *reason); });
  AddApiCommand(app, session);
  CLI::App* version = app.add_subcommand("version", "Print the version");
  session.On(version, [&session]() -> Outcome<ExitCode> {
    Printer print = session.Print();
    if (print.form() == Form::kTable || print.form() == Form::kName) {
      print.Line("carillon " + session.host().version);
    } else {
      print.Object({{"version", session.host().version}}, {});
    }
    return ExitCode::kDone;
  });
  CLI::App* completion = app.add_subcommand("completion", "Print a shell completion script");
  completion->require_subcommand(1);
  using Script = std::string (*)(const CompletionTable&);
  const std::vector<std::pair<std::string, Script>> shells = {
      {"bash", &BashCompletion}, {"zsh", &ZshCompletion}, {"fish", &FishCompletion}};
  for (const auto& [shell, script] : shells) {
    session.On(completion->add_subcommand(shell, "Completion script for " + shell),
               [&session, &app, script = script]() -> Outcome<ExitCode> {
                 session.host().out << script(WordsOf(app));
                 return ExitCode::kDone;
               });
  }
}

}  // namespace carillon::cli
