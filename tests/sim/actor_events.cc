// The part of the actor that has to do with jobs that events start, and with those who send them.
#include <array>
#include <utility>

#include <fmt/format.h>

#include "tests/sim/actor.h"

namespace carillon::sim {
namespace {

const std::vector<std::string> kNamespaces = {"default", "default", "default", "other"};

bool IsTrigger(const ScheduleSpec& spec) { return spec.kind == ScheduleKind::kEvent; }

}  // namespace

ScheduleSpec Actor::NewTrigger() {
  static const std::vector<std::string> kTypes = {"order.created", "order.*", "*", "stock"};
  static const std::vector<std::string> kFilters = {
      "", "", "data.amount >= 4", "data.amount >= 7", "data.name == 'Ann'", "data.name != null"};
  ScheduleSpec spec{
      .kind = ScheduleKind::kEvent, .event_type = Pick(kTypes), .filter = Pick(kFilters)};
  if (p_.rng.Chance(0.2)) spec.event_source = "shop";
  ChangeTrigger(spec);
  return spec;
}

// Leaves the schedule the same. `edit` tells by which definition a run was made, and processes are
// told their `round`.
void Actor::ChangeTrigger(ScheduleSpec& spec) {
  spec.parameters = {{"edit", static_cast<int64_t>(deeds_)}};
  const auto add = [&](const char* name, const char* value) {
    if (p_.rng.Chance(0.5)) spec.parameters[name] = std::string(value);
  };
  add(kToNodes, "{{event.data.name}}");
  add("amount", "{{event.data.amount}}");
  add("label", "{{event.id}} of {{event.source}}: {{event.data.amount}}");
  add("round", "{{event.id}}");
}

void Actor::ListenToEvents(JobDefinition& job) {
  if (!p_.rng.Chance(0.8)) return;
  job.schedules.push_back(NewTrigger());
  if (p_.rng.Chance(0.3)) job.schedules.push_back(NewTrigger());
  if (p_.rng.Chance(0.5)) job.parameter_rules = {{"amount", {.type = ParameterType::kInteger}}};
  job.name_space = Pick(kNamespaces);
  if (!job.workflow) return;
  job.parameters[kToNodes] = std::string("nobody");
  for (WorkflowNode& node : job.workflow->nodes) {
    node.parameters[kOfWorkflow] = fmt::format("for {{{{workflow.parameters.{}}}}}", kToNodes);
  }
}

// Many edits keep the trigger and change its parameters; others end it and begin another one.
void Actor::ChangeListening(JobDefinition& edited, const JobDefinition& before) {
  edited.name_space = p_.rng.Chance(0.9) ? before.name_space : Pick(kNamespaces);
  for (ScheduleSpec& spec : edited.schedules) {
    if (!IsTrigger(spec)) continue;
    if (p_.rng.Chance(0.5)) ChangeTrigger(spec);
    if (p_.rng.Chance(0.2)) spec = NewTrigger();
  }
  if (p_.rng.Chance(0.1)) std::erase_if(edited.schedules, IsTrigger);
  if (p_.rng.Chance(0.1)) edited.schedules.push_back(NewTrigger());
  // A workflow gives its nodes what it has.
  if (before.workflow) edited.parameters = before.parameters;
}

std::string Actor::NewEvent(int number) {
  static const std::vector<std::string> kTypes = {"order.created", "order.created", "order.paid",
                                                  "stock"};
  static const std::vector<std::string> kNames = {"Ann", "Ann", "Bob", "$(touch pwned)",
                                                  "{{event.data.amount}}"};
  std::string data;
  if (p_.rng.Chance(0.9)) {
    const std::string quote = p_.rng.Chance(0.1) ? "\"" : "";
    data += fmt::format(R"("amount": {}{}{})", quote, p_.rng.Below(10), quote);
  }
  if (p_.rng.Chance(0.9)) {
    data += fmt::format(R"({}"name": "{}")", data.empty() ? "" : ", ", Pick(kNames));
  }
  return fmt::format(R"({{"id": "e{}", "source": "{}", "type": "{}", "data": {{{}}}}})", number,
                     number % 3 == 0 ? "market" : "shop", Pick(kTypes), data);
}

// Events whose sender does not know what became of them come again, alone, in parts, or together
// with something new. So do, now and then, some that were answered long ago.
void Actor::SendEvents() {
  EventPost post{.name_space = Pick(kNamespaces), .bodies = {}};
  if (!unknown_posts_.empty() && p_.rng.Chance(0.6)) {
    post = std::move(unknown_posts_.back());
    unknown_posts_.pop_back();
    if (post.bodies.size() > 1 && p_.rng.Chance(0.5)) {
      unknown_posts_.push_back({.name_space = post.name_space, .bodies = {post.bodies.back()}});
      if (p_.rng.Chance(0.5)) post.bodies.pop_back();
    }
  } else if (!sent_posts_.empty() && p_.rng.Chance(0.2)) {
    post = Pick(sent_posts_);
    // The id decides, and not what else there is.
    if (p_.rng.Chance(0.3)) post.bodies.front() = NewEvent(1 + static_cast<int>(p_.rng.Below(9)));
  }
  const uint64_t fresh = post.bodies.empty() ? 1 + p_.rng.Below(3) : p_.rng.Below(2);
  for (uint64_t i = 0; i < fresh; ++i) post.bodies.push_back(NewEvent(++events_made_));
  Send(post, NextOutcome());
}

void Actor::Send(const EventPost& post, CallOutcome outcome) {
  const bool arrives = outcome != CallOutcome::kNothingDone;
  const auto effects = arrives ? p_.events.Send(post, p_.now())
                               : Error{ErrorCode::kUnavailable, "the call does not arrive"};
  if (!effects.ok() || outcome == CallOutcome::kAnswerLost) {
    unknown_posts_.push_back(post);
    return;
  }
  sent_posts_.push_back(post);
  for (const EventEffect& effect : *effects) {
    for (const EventStart& start : effect.starts) {
      if (start.run) p_.nudge({start.job_no, start.segment, *start.run});
    }
  }
}

void Actor::SendUnknownEvents() {
  for (const EventPost& post : std::exchange(unknown_posts_, {})) {
    Send(post, CallOutcome::kAnswered);
  }
}

}  // namespace carillon::sim
