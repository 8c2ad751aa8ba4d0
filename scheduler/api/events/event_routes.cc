#include "scheduler/api/events/event_routes.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "common/domain/event/event_parameters.h"
#include "common/wire/json/event_json.h"
#include "common/wire/json/job/schedule_json.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/events/event_answer.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/events/event_counts.h"
#include "scheduler/events/open_runs.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kMistakesShown = 20;
// As many with all the runs that each may have started fit a page (kPageBytesMax).
constexpr size_t kEventsReadMax = 150;
// More runs of one job are found together, by a look at the job.
constexpr size_t kRunsNudgedMax = 10;
constexpr const char* kRetryFullAfter = "5";  // seconds; OpenEventRuns counts as often

Outcome<bool> CheckUpgraded(const Call& call) {
  if (call.api.upgrade.FeatureOn(kFanOutMigration)) return true;
  return Problem{.status = 409,
                 .code = "upgrade_unfinished",
                 .detail =
                     "Events can be sent once the upgrade is finished: carillon system upgrade "
                     "finish."};
}

Outcome<std::string> NamespaceOf(const std::optional<std::string>& given,
                                 const std::string& pointer) {
  std::string name_space = given.value_or(std::string(kDefaultNamespace));
  if (!IsNamespace(name_space)) return BadNamespace(pointer);
  return name_space;
}

// ---- sending -----------------------------------------------------------------------------------

// All events are read before one is stored. The problem names the first mistake of each.
Outcome<std::vector<Event>> ReadEvents(json body) {
  const bool list = body.is_array();
  if (!list) body = json::array({std::move(body)});
  if (body.empty()) return InvalidField("", "missing", "At least one event is required.");
  if (body.size() > kEventsPerCall) {
    return InvalidField(
        "", "too_many",
        fmt::format("At most {} events are allowed in one request; this one has {}.",
                    kEventsPerCall, body.size()));
  }
  std::vector<Event> events;
  std::optional<Problem> problem;
  for (size_t i = 0; i < body.size(); ++i) {
    auto event = EventFromJson(std::move(body[i]));
    if (event.ok()) {
      events.push_back(*std::move(event));
      continue;
    }
    Error error = event.error();
    if (list) error.pointer = fmt::format("/{}{}", i, error.pointer);
    if (!problem) {
      problem = ToProblem(error);
    } else if (problem->errors.size() < kMistakesShown) {
      problem->errors.push_back({error.pointer, problem->code, error.message});
    }
  }
  if (problem) return *std::move(problem);
  return events;
}

Problem TooManyOpen() {
  Problem problem{.status = 429,
                  .code = "too_many_requests",
                  .detail = fmt::format("More than {} runs that events have started still wait. "
                                        "Nothing was accepted; repeat the request later.",
                                        kOpenEventRunsMax)};
  problem.headers.emplace_back("Retry-After", kRetryFullAfter);
  return problem;
}

Problem TooManyMatches(std::string pointer) {
  const std::string detail = fmt::format(
      "The event matches more than {} triggers. Nothing was started by it; narrow their filters.",
      kMatchesPerEvent);
  return {.status = 422,
          .code = "too_many_matches",
          .detail = detail,
          .errors = {{std::move(pointer), "too_many_matches", detail}}};
}

void NudgeStarted(const Call& call, const std::vector<EventEffect>& effects) {
  std::map<JobNo, std::vector<ChangedWork>> started;
  for (const EventEffect& effect : effects) {
    for (const EventStart& start : effect.starts) {
      if (start.run) started[start.job_no].push_back({start.job_no, start.segment, start.run});
    }
  }
  for (auto& [job_no, runs] : started) {
    if (runs.size() > kRunsNudgedMax) runs = {{job_no, runs.front().segment}};
    for (const ChangedWork& work : runs) call.api.nudge(work);
  }
  if (!started.empty()) call.services.open_event_runs.NoteStarted();
}

// ---- testing -----------------------------------------------------------------------------------

// The error of a member of the body, with the pointer of that member.
Problem WithinMember(const char* pointer, Error error) {
  error.pointer = pointer + error.pointer;
  return ToProblem(error);
}

Outcome<std::optional<JobId>> ReadJobId(const json& body) {
  CARILLON_ASSIGN_OR_RETURN(const std::string text,
                            TextMember(body, "job_id", kReasonCharactersMax));
  if (text.empty()) return std::optional<JobId>();
  if (!ValidateJobId(text).ok()) return InvalidField("/job_id", "bad_value", "Not a job id.");
  return std::optional(JobId(text));
}

// The job of a draft, with the draft as its only schedule. Without a job there are no rules.
Outcome<JobDefinition> JobOfDraft(const Call& call, const json& trigger,
                                  const std::optional<JobId>& id) {
  JobDefinition job;
  if (id) {
    auto stored = call.stores.jobs.GetJob(*id);
    if (!stored.ok()) return Explain(call, *id, stored.error());
    job = std::move(stored->definition);
  }
  ScheduleSpec draft;
  const Status read = ReadSchedule(trigger, "/trigger", draft);
  if (!read.ok()) return ToProblem(read.error());
  if (draft.kind != ScheduleKind::kEvent) {
    return InvalidField("/trigger/kind", "unknown_value", "Must be event.");
  }
  job.schedules = {std::move(draft)};
  const Status checked = CheckEventTriggers(job);
  if (checked.ok()) return job;
  constexpr size_t kPlaceLength = std::string_view("/schedules/0").size();
  return WithinMember("/trigger", {checked.error().code, checked.error().message,
                                   checked.error().pointer.substr(kPlaceLength)});
}

Outcome<json> TestDraft(const Call& call, const json& trigger, const std::optional<JobId>& id,
                        const Event& event, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const JobDefinition job, JobOfDraft(call, trigger, id));
  const auto filter = EventFilter::Compile(job.schedules[0]);
  if (!filter.ok()) return WithinMember("/trigger", filter.error());
  json verdict = VerdictOn(*filter, job, job.schedules[0], event, now);
  verdict["job_id"] = id ? json(id->value()) : json(nullptr);
  verdict["schedule_id"] = nullptr;
  return json::array({std::move(verdict)});
}

Outcome<json> TestStored(const Call& call, const std::string& name_space,
                         const std::optional<JobId>& id, const Event& event, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const auto triggers, call.stores.events.ReadTriggers(name_space));
  if (!MatchEvent(*triggers, event).ok()) return TooManyMatches("/event");
  json items = json::array();
  for (const EventTrigger& trigger : triggers->all()) {
    if (id && trigger.job_id != *id) continue;
    json verdict = VerdictOn(*trigger.filter, *trigger.job, trigger.spec(), event, now);
    verdict["job_id"] = trigger.job_id.value();
    verdict["schedule_id"] = trigger.id.value();
    items.push_back(std::move(verdict));
  }
  return items;
}

// ---- listing -----------------------------------------------------------------------------------

std::string CursorText(const EventCursor& cursor) {
  return fmt::format("{}-{}", ToUnixMicros(cursor.accepted), cursor.tie);
}

std::optional<EventCursor> ParseEventCursor(const std::string& text) {
  const size_t dash = text.find('-');
  if (dash == std::string::npos) return {};
  const auto accepted = ParseCursor(text.substr(0, dash));
  const std::string tie = text.substr(dash + 1);
  const bool hex = !tie.empty() && tie.find_first_not_of("0123456789abcdefABCDEF") == tie.npos;
  if (!accepted || *accepted > static_cast<uint64_t>(INT64_MAX) || !hex) return {};
  return EventCursor{.accepted = FromUnixMicros(static_cast<int64_t>(*accepted)), .tie = tie};
}

Outcome<std::optional<EventOutcome>> ReadOutcome(const Query& query) {
  const auto text = query.Text("outcome");
  if (!text) return std::optional<EventOutcome>();
  const auto outcome = ParseEventOutcome(*text);
  if (outcome.ok()) return std::optional(*outcome);
  return InvalidField("?outcome", "unknown_value", "Must be started, gap or refused.");
}

Outcome<EventListFilter> ReadFilter(const Query& query, const Page& page) {
  EventListFilter filter{.namespaces = query.All("namespace"),
                         .type = query.Text("type").value_or(""),
                         .source = query.Text("source").value_or(""),
                         .id = query.Text("id").value_or(""),
                         .limit = std::min(page.size(), kEventsReadMax)};
  for (const std::string& name_space : filter.namespaces) {
    if (!IsNamespace(name_space)) return BadNamespace("?namespace");
  }
  CARILLON_ASSIGN_OR_RETURN(filter.outcome, ReadOutcome(query));
  CARILLON_ASSIGN_OR_RETURN(filter.since, query.Time("since"));
  CARILLON_ASSIGN_OR_RETURN(filter.until, query.Time("until"));
  if (!page.cursor().empty()) {
    filter.before = ParseEventCursor(page.cursor());
    if (!filter.before) return BadPageToken();
  }
  return filter;
}

}  // namespace

Reply SendEvents(const Call& call) {
  call.note.told = true;  // at 200 requests a second, records would hide all others
  CARILLON_TRY(CheckUpgraded(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {"namespace"}));
  NewEvents batch;
  CARILLON_ASSIGN_OR_RETURN(batch.name_space, NamespaceOf(query.Text("namespace"), "?namespace"));
  CARILLON_ASSIGN_OR_RETURN(json body, ReadJson(call.request, Body::kRequired));
  const bool list = body.is_array();
  CARILLON_ASSIGN_OR_RETURN(batch.events, ReadEvents(std::move(body)));
  if (call.services.open_event_runs.TooMany()) return TooManyOpen();
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const auto effects = RetryIfUnknown([&] { return call.stores.events.Accept(batch, now); });
  if (IsUnknown(effects)) {
    return OutcomeUnknown(
        "It is unknown whether the events were accepted. Repeating the events is safe.",
        effects.error());
  }
  // Without a pointer it is something else that the database has refused.
  if (!effects.ok() && effects.code() == ErrorCode::kInvalid && !effects.error().pointer.empty()) {
    return TooManyMatches(list ? effects.error().pointer : "");
  }
  if (!effects.ok()) return effects.error();
  CountEffects(call.api.metrics, kApiDoor, *effects);
  NudgeStarted(call, *effects);
  json items = json::array();
  for (size_t i = 0; i < effects->size(); ++i) {
    items.push_back(EffectToJson(batch.events.at(i).origin, (*effects)[i]));
  }
  return JsonResponse(202, {{"items", std::move(items)}});
}

Reply TestEvent(const Call& call) {
  CARILLON_TRY(CheckUpgraded(call));
  CARILLON_ASSIGN_OR_RETURN(json body, ReadObject(call.request, Body::kRequired,
                                                  {"namespace", "event", "trigger", "job_id"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string given,
                            TextMember(body, "namespace", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(
      const std::string name_space,
      NamespaceOf(given.empty() ? std::nullopt : std::optional(given), "/namespace"));
  CARILLON_ASSIGN_OR_RETURN(const std::optional<JobId> id, ReadJobId(body));
  if (!body.contains("event")) {
    return InvalidField("/event", "missing", "An event is required.");
  }
  const auto event = EventFromJson(std::move(body["event"]));
  if (!event.ok()) return WithinMember("/event", event.error());
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const json trigger = body.value("trigger", json());
  CARILLON_ASSIGN_OR_RETURN(json items, trigger.is_null()
                                            ? TestStored(call, name_space, id, *event, now)
                                            : TestDraft(call, trigger, id, *event, now));
  return JsonResponse(200, {{"items", std::move(items)}});
}

Reply ListEvents(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const Query query,
      Query::Read(call.request,
                  {"type", "source", "id", "outcome", "since", "until", "page_size", "page_token"},
                  {"namespace"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "events"));
  CARILLON_ASSIGN_OR_RETURN(const EventListFilter filter, ReadFilter(query, page));
  const auto uncounted = [] {
    return Result<BoundedCount>(ErrorCode::kExhausted, "events are not counted");
  };
  // Before the end of the upgrade there are none, and perhaps no table of them.
  if (!call.api.upgrade.FeatureOn(kFanOutMigration)) return page.Finish(false, uncounted);
  CARILLON_ASSIGN_OR_RETURN(const EventPage found, call.stores.events.ListEvents(filter));
  const std::string next = found.next ? CursorText(*found.next) : "";
  for (const EventRecord& record : found.events) page.Add(EventRecordToJson(record), next);
  return page.Finish(found.next.has_value(), uncounted);
}

}  // namespace carillon::scheduler
