#include "scheduler/fire/task_builder.h"

#include <fmt/format.h>

#include "common/base/stable_hash.h"
#include "common/domain/job/fire_zone.h"
#include "common/domain/job/job_types.h"
#include "common/domain/job/parameter_rules.h"
#include "common/domain/template/command_parameters.h"
#include "common/domain/template/parameter_dates.h"
#include "common/domain/template/template.h"
#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/job/parameters_json.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kTaskBytes = 160;  // all fields that are not texts
constexpr size_t kVariableBytes = 8;

// A node is not released with such a parameter; its job may have been edited since.
Status CheckUntrusted(const JobDefinition& job, const std::set<std::string>& untrusted) {
  for (const std::string& name : CommandParameters(job)) {
    if (!untrusted.contains(name)) continue;
    return Error{ErrorCode::kDenied,
                 "the command contains the parameter " + name + ", whose text comes from outside"};
  }
  return {};
}

size_t SecretTextBytes(const SecretText& pieces) {
  size_t bytes = 0;
  for (const SecretPiece& piece : pieces) {
    bytes += piece.text.size() + piece.secret.size() + kVariableBytes;
  }
  return bytes;
}

size_t ExpectedBytes(std::string_view pointer, const ExpectedValue& value) {
  return pointer.size() + (value ? ParameterText(*value).size() : 0) + kVariableBytes;
}

size_t HttpBytes(const HttpCall& http) {
  size_t bytes = http.url.size() + SecretTextBytes(http.body) + http.expect.contains.size() +
                 http.expect.regex.size() + kTaskBytes;
  for (const auto& [name, pieces] : http.headers) {
    bytes += name.size() + kVariableBytes + SecretTextBytes(pieces);
  }
  for (const auto& [pointer, value] : http.expect.json) {
    bytes += ExpectedBytes(pointer, value);
  }
  bytes += SecretTextBytes(http.client_certificate);
  if (!http.poll) return bytes;
  bytes += http.poll->url.size() + http.poll->url_at.size() + kVariableBytes;
  for (const auto& [pointer, values] : http.poll->until) {
    for (const ExpectedValue& value : values) bytes += ExpectedBytes(pointer, value);
  }
  return bytes;
}

// From the row, never from the definition, which may have been edited since the fire began. A run
// that is no part does all the work, even if its fire once had parts.
uint32_t ShardTotalOf(const PendingRun& run) { return run.key.shard > 0 ? run.shard_total : 1; }

// Adds the item of a part of a mapped node.
Status AddItem(const PendingRun& run, const Definition& definition,
               const std::vector<ParameterValue>& items, Parameters* parameters) {
  if (run.key.shard == 0 || !definition.items()) return {};
  if (run.key.shard > items.size()) {
    return {ErrorCode::kInvalid, fmt::format("the list has no item {}", run.key.shard)};
  }
  (*parameters)[definition.item_parameter()] = items[run.key.shard - 1];
  return {};
}

// The names of the parameters whose texts come from outside are added to `untrusted`.
Result<AttemptFacts> FactsOf(const PendingRun& run, const Definition& definition,
                             std::set<std::string>* untrusted) {
  const JobDefinition& job = definition.job();
  AttemptFacts facts{.key = run.key,
                     .job_id = definition.record().job_id,
                     .attempt = run.attempt,
                     .shard_total = ShardTotalOf(run),
                     .parameters = job.parameters};
  if (run.extras) {
    facts.trigger = run.extras->request.trigger;
    facts.node = run.extras->request.node;
  }
  const ScheduleSpec* schedule = definition.SpecOf(run.key.schedule_id);
  facts.time_zone = FireZone(job, schedule);
  if (schedule != nullptr) {
    const Parameters& fixed = FixedParametersOf(*schedule);
    facts.parameters = MergeParameters(std::move(facts.parameters),
                                       facts.trigger ? FillTrigger(fixed, *facts.trigger) : fixed);
  }
  std::vector<ParameterValue> items;
  if (run.extras && !run.extras->request.parameters_json.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const RenderedParameters given,
                              GivenFromText(run.extras->request.parameters_json));
    *untrusted = given.untrusted;
    if (!given.time_zone.empty()) facts.time_zone = given.time_zone;
    facts.parameters = MergeParameters(std::move(facts.parameters), given.values);
    items = given.items;
  }
  CARILLON_TRY(AddItem(run, definition, items, &facts.parameters));
  // Each was refused when it was given; the job may have been edited since, or be older.
  CARILLON_TRY(CheckParameterCase(job, facts.parameters));
  CARILLON_ASSIGN_OR_RETURN(facts.parameters, FillDates(std::move(facts.parameters), *untrusted,
                                                        facts.key.fire, facts.time_zone));
  return facts;
}

Status Render(const PendingRun& run, const Definition& definition, TaskMessage* task) {
  const JobDefinition& job = definition.job();
  std::set<std::string> untrusted;
  CARILLON_ASSIGN_OR_RETURN(AttemptFacts facts, FactsOf(run, definition, &untrusted));
  if (!untrusted.empty()) CARILLON_TRY(CheckUntrusted(job, untrusted));
  CARILLON_ASSIGN_OR_RETURN(RenderedAttempt rendered, RenderAttempt(job, facts));
  task->command = std::move(rendered.command);
  task->args = std::move(rendered.args);
  task->http = std::move(rendered.http);
  task->container = std::move(rendered.container);
  task->limits = job.limits;
  task->run_as = job.run_as;
  task->working_directory = job.working_directory;
  task->output_encoding = job.output_encoding;
  if (job.script) task->interpreter = job.script->interpreter;
  if (!job.handler.empty()) {
    task->handler =
        HandlerCall{.name = job.handler, .parameters_json = ParametersToText(facts.parameters)};
  }
  task->env = std::move(rendered.env);
  task->secret_env = std::move(rendered.secret_env);
  return {};
}

}  // namespace

Result<TaskMessage> BuildTask(const PendingRun& run, const Definition& definition,
                              const MemberId& member, WallTime now) {
  const JobDefinition& job = definition.job();
  TaskMessage task{.key = run.key,
                   .job_id = definition.record().job_id,
                   .job_no = run.job_no,
                   .segment = run.segment,
                   .attempt = run.attempt,
                   .def_version = run.def_version,
                   .member = member,
                   .due = run.due,
                   .created = now,
                   .type = job.type,
                   .timeout_s = job.timeout_s,
                   .kill_grace_s = job.kill_grace_s,
                   .retry_count = job.retry_count,
                   .retry_interval_s = job.retry_interval_s,
                   .priority = run.priority,
                   .overlap = TakesSlots(job.overlap_policy) && run.key.shard == 0
                                  ? OverlapPolicy::kSkip
                                  : OverlapPolicy::kAllow,
                   .on_lost = job.on_lost,
                   .shard_total = ShardTotalOf(run)};
  // A no-op starts no process, so it has neither a command nor an environment.
  if (RunnerOf(job.type) != Runner::kNoop) CARILLON_TRY(Render(run, definition, &task));
  if (run.extras) task.trace_id = run.extras->request.trace_id;
  CARILLON_TRY(CheckTask(task));
  return task;
}

Result<uint64_t> RoutingPlace(const PendingRun& run, const Definition& definition) {
  const std::string& key = definition.job().routing_key;
  if (key.empty()) return MixBits(StableHash(definition.record().job_id.value()));
  std::set<std::string> untrusted;  // a place is no command
  CARILLON_ASSIGN_OR_RETURN(const AttemptFacts facts, FactsOf(run, definition, &untrusted));
  CARILLON_ASSIGN_OR_RETURN(const std::string rendered, RenderPlain(key, facts));
  return MixBits(StableHash(rendered));
}

std::optional<Places> PlacesByTemplate(const PendingRun& run, const Definition& definition) {
  if (definition.items()) return RenderedPlaces(std::to_string(*definition.items()), kFanOutMax);
  const std::optional<Shards>& shards = definition.job().shards;
  if (!shards || shards->total_from.empty()) return std::nullopt;
  std::set<std::string> untrusted;  // a number is no command
  const auto facts = FactsOf(run, definition, &untrusted);
  if (!facts.ok()) return NoTotal(facts.error().message);
  const auto text = RenderPlain(shards->total_from, *facts);
  return text.ok() ? RenderedPlaces(*text, shards->max) : NoTotal(text.error().message);
}

size_t TaskBytes(const TaskMessage& task) {
  size_t bytes = kTaskBytes + task.command.size() + task.run_as.size() +
                 task.working_directory.size() + task.output_encoding.size() + task.trace_id.size();
  if (task.http) bytes += HttpBytes(*task.http);
  if (task.handler) bytes += task.handler->name.size() + task.handler->parameters_json.size();
  if (task.container) {
    bytes += task.container->image.size() + task.container->user.size();
    for (const auto* texts : {&task.container->command, &task.container->args}) {
      for (const std::string& text : *texts) bytes += text.size() + kVariableBytes;
    }
  }
  for (const std::string& arg : task.args) bytes += arg.size() + kVariableBytes;
  for (const auto& [name, value] : task.env) bytes += name.size() + value.size() + kVariableBytes;
  for (const auto& [name, pieces] : task.secret_env) {
    bytes += name.size() + kVariableBytes;
    bytes += SecretTextBytes(pieces);
  }
  return bytes;
}

}  // namespace carillon::scheduler
