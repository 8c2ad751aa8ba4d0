#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/events/commands.h"
#include "cli/events/event_document.h"
#include "common/base/rng.h"
#include "common/wire/json/json_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr int kTries = 3;  // of a request whose answer is lost
constexpr Duration kBetweenTries = 1s;

struct EventArguments {
  EventDocumentFlags event;
  std::string name_space;
  std::string job_id;
  std::string trigger;  // JSON, "@FILE", or "-" for standard input
};

struct EventListArguments {
  std::vector<std::string> namespaces;
  std::string type;
  std::string source;
  std::string id;
  std::string outcome;
  std::string since;
  std::string until;
  std::optional<int64_t> limit;
};

const View& SentView() {
  static const View view{.columns = {{"EVENT", "id"},
                                     {"STATUS", "status"},
                                     {"JOB", "job_id"},
                                     {"RUN", "run_id"},
                                     {"GAP", "gap"},
                                     {"PROBLEM", "problem"}},
                         .id = "id",
                         .wide = {{"SOURCE", "source"}, {"SCHEDULE", "schedule_id"}}};
  return view;
}

const View& AcceptedView() {
  static const View view{.columns = {{"ACCEPTED", "accepted_at"},
                                     {"TYPE", "type"},
                                     {"SOURCE", "source"},
                                     {"ID", "id"},
                                     {"OUTCOME", "outcome"},
                                     {"STARTED", "started"},
                                     {"PROBLEM", "problem"}},
                         .id = "id",
                         .wide = {{"NAMESPACE", "namespace"}, {"SUBJECT", "subject"}}};
  return view;
}

const View& TestView() {
  static const View view{.columns = {{"JOB", "job_id"},
                                     {"SCHEDULE", "schedule_id"},
                                     {"RESULT", "result"},
                                     {"PARAMETERS", "parameters"},
                                     {"WHY", "sentence"}},
                         .id = "job_id",
                         .wide = {{"UNTRUSTED", "untrusted"}}};
  return view;
}

// Two numbers of 64 bits, because ids of one source must differ for days.
std::string DrawId(uint64_t seed) {
  Rng rng(seed);
  return fmt::format("{:016x}{:016x}", rng.Next(), rng.Next());
}

json ListOf(const json& object, const char* member) {
  if (!object.is_object()) return json::array();
  json list = object.value(member, json::array());
  return list.is_array() ? list : json::array();
}

// One row for each run and gap, and one for an event without any.
json RowsOf(const json& answer) {
  json rows = json::array();
  for (const json& item : ListOf(answer, "items")) {
    if (!item.is_object()) continue;
    const json starts = ListOf(item, "starts");
    json event = item;
    event.erase("starts");
    if (starts.empty()) rows.push_back(event);
    for (const json& start : starts) {
      rows.push_back(event);
      if (start.is_object()) rows.back().update(start);
    }
  }
  return {{"items", std::move(rows)}};
}

json MemberOf(const json& object, const char* member) {
  return object.is_object() ? object.value(member, json()) : json();
}

// "2 runs, 1 gap (paused)".
std::string StartedText(const json& starts) {
  int64_t runs = 0;
  int64_t gaps = 0;
  std::set<std::string> reasons;
  for (const json& start : starts) {
    const bool started = MemberOf(start, "run_id").is_string();
    ++(started ? runs : gaps);
    if (!started) reasons.insert(Cell(MemberOf(start, "gap")));
  }
  std::string text = runs > 0 ? Counted(runs, "run") : "";
  if (gaps > 0) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", Counted(gaps, "gap"),
                        fmt::join(reasons, ", "));
  }
  return text.empty() ? "-" : text;
}

// An event without a problem of its own shows the first one of its gaps.
void AddStarted(json& event) {
  const json starts = ListOf(event, "starts");
  event["started"] = StartedText(starts);
  for (const json& start : starts) {
    if (!MemberOf(event, "problem").is_null()) return;
    event["problem"] = MemberOf(start, "problem");
  }
}

bool IsLost(const Failure& failure) { return failure.exit == ExitCode::kUnreachable; }

// Sends it again if the answer is lost: the same id starts nothing twice.
Outcome<ApiResponse> SendUntilAnswered(Session& session, const ApiRequest& request,
                                       const std::string& id) {
  for (int tries = 1;; ++tries) {
    auto response = session.Call(request);
    if (response.ok() || !IsLost(response.error())) return response;
    if (tries == kTries) {
      Failure failure = response.error();
      failure.details.push_back("Repeat it with --id " + id + ": so it starts nothing twice.");
      return failure;
    }
    session.host().wait(kBetweenTries);
  }
}

Outcome<ExitCode> Send(Session& session, const EventArguments& arguments) {
  const std::string drawn = DrawId(session.host().seed);
  const std::string id = arguments.event.id.empty() ? drawn : arguments.event.id;
  ApiRequest request{.method = "POST", .path = "/api/events", .repeatable = true};
  CARILLON_ASSIGN_OR_RETURN(request.raw_body, EventDocumentOf(session, arguments.event, drawn));
  if (!arguments.name_space.empty()) request.query = {{"namespace", arguments.name_space}};
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse answer, SendUntilAnswered(session, request, id));
  Printer print = session.Print();
  const bool table = print.form() == Form::kTable && !session.flags().quiet;
  print.List(table ? RowsOf(answer.body) : answer.body, SentView());
  return ExitCode::kDone;
}

Outcome<ExitCode> ListEvents(Session& session, const EventListArguments& arguments) {
  ApiRequest request{.path = "/api/events"};
  for (const std::string& space : arguments.namespaces) {
    request.query.emplace_back("namespace", space);
  }
  for (const auto& [name, value] :
       {std::pair("type", &arguments.type), std::pair("source", &arguments.source),
        std::pair("id", &arguments.id), std::pair("outcome", &arguments.outcome)}) {
    if (!value->empty()) request.query.emplace_back(name, *value);
  }
  const WallTime now = session.host().clock.Wall();
  CARILLON_TRY(AddTime("since", arguments.since, now, request.query));
  CARILLON_TRY(AddTime("until", arguments.until, now, request.query));
  return session.List(request,
                      {.view = AcceptedView(), .limit = arguments.limit, .for_table = &AddStarted});
}

// The body has the event as it was typed.
Outcome<ExitCode> Test(Session& session, const EventArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const std::string event,
                            EventDocumentOf(session, arguments.event, "test"));
  json others = json::object();
  if (!arguments.name_space.empty()) others["namespace"] = arguments.name_space;
  if (!arguments.job_id.empty()) others["job_id"] = arguments.job_id;
  std::string body = JsonToText(others);
  body.pop_back();  // the closing brace
  body += (others.empty() ? "" : ",") + ("\"event\":" + event);
  if (!arguments.trigger.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const std::string trigger,
                              JsonOf(session, "--trigger", arguments.trigger));
    body += ",\"trigger\":" + trigger;
  }
  body += "}";
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse tested,
      session.Call(
          {.method = "POST", .path = "/api/events/test", .raw_body = body, .repeatable = true}));
  session.Print().List(tested.body, TestView());
  return ExitCode::kDone;
}

void AddList(CLI::App& event, Session& session) {
  const auto a = std::make_shared<EventListArguments>();  // shared with the callback
  CLI::App* list =
      event.add_subcommand("list", "List events that matched a trigger or were refused");
  list->add_option("-n,--namespace", a->namespaces, "Only events of this namespace; repeatable")
      ->allow_extra_args(false)
      ->check(NotEmpty);
  list->add_option("--type", a->type,
                   "Only events of this type, or with order.* of those that "
                   "begin so");
  list->add_option("--source", a->source, "Only events of this source");
  list->add_option("--id", a->id, "Only events with this ID");
  list->add_option("--outcome", a->outcome, "Only this outcome: started, gap or refused");
  list->add_option("--since", a->since,
                   "Only events accepted at or after this time: RFC 3339, or 24h for 24 hours ago");
  list->add_option("--until", a->until,
                   "Only events accepted before this time: RFC 3339, or 24h for 24 hours ago");
  AddLimit(list, a->limit, "events");
  session.On(list, [&session, a] { return ListEvents(session, *a); });
}

}  // namespace

void AddEventCommands(CLI::App& app, Session& session) {
  CLI::App* event = app.add_subcommand("event", "Send events, which start jobs, and list them");
  event->require_subcommand(1);
  const auto a = std::make_shared<EventArguments>();  // shared by the subcommands' callbacks
  CLI::App* send = event->add_subcommand("send", "Send an event, which starts the jobs it matches");
  AddList(*event, session);
  CLI::App* test =
      event->add_subcommand("test", "Show what an event would start; nothing is started");
  for (CLI::App* verb : {send, test}) {
    AddEventDocumentFlags(verb, a->event);
    verb->add_option("-n,--namespace", a->name_space, "Namespace (default: default)")
        ->check(NotEmpty);
  }
  test->add_option("--job-id,--job", a->job_id, "Only the triggers of this job")->check(NotEmpty);
  test->add_option("--trigger", a->trigger,
                   "Only this one, which no job has yet: JSON, @FILE, or - for standard input")
      ->check(NotEmpty);
  session.On(send, [&session, a] { return Send(session, *a); });
  session.On(test, [&session, a] { return Test(session, *a); });
}

}  // namespace carillon::cli
