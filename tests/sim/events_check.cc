#include "tests/sim/events_check.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/event_json.h"

namespace carillon::sim {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kBegin = "{{event.";
constexpr std::string_view kEnd = "}}";

// The value at "data.amount"; null: none.
Json ValueAt(const Json& event, const std::string& path) {
  const Json* at = &event;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (!at->is_object() || !at->contains(name)) return nullptr;
    at = &at->at(name);
    begin = end + 1;
  }
  return *at;
}

enum class Match { kNo, kYes, kUnclear };

// Knows the filters of the actor.
Match MatchesFilter(const std::string& filter, const Json& event) {
  const auto yes = [](bool holds) { return holds ? Match::kYes : Match::kNo; };
  int least = 0;
  if (filter.empty()) return Match::kYes;
  if (filter == "data.name != null") return yes(!ValueAt(event, "data.name").is_null());
  if (std::sscanf(filter.c_str(), "data.amount >= %d", &least) == 1) {
    const Json amount = ValueAt(event, "data.amount");
    return amount.is_number() ? yes(amount.get<double>() >= least) : Match::kUnclear;
  }
  const Json name = ValueAt(event, "data.name");
  return name.is_string() ? yes(filter == fmt::format("data.name == '{}'", name.get<std::string>()))
                          : Match::kUnclear;
}

Match Matches(const ScheduleSpec& spec, const Json& event) {
  const std::string type = event.at("type");
  const bool open = spec.event_type.ends_with('*');
  const bool fits = open ? type.starts_with(spec.event_type.substr(0, spec.event_type.size() - 1))
                         : type == spec.event_type;
  if (!fits) return Match::kNo;
  if (!spec.event_source.empty() && event.at("source") != spec.event_source) return Match::kNo;
  return MatchesFilter(spec.filter, event);
}

std::string Shown(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

struct Filled {
  Json value;
  bool has_text = false;  // of the event
};

// nullopt: the event has no such value.
std::optional<Filled> Fill(const ParameterValue& parameter, const Json& event) {
  Filled filled;
  if (!std::holds_alternative<std::string>(parameter)) {
    std::visit([&](const auto& value) { filled.value = value; }, parameter);
    return filled;
  }
  const std::string& wanted = std::get<std::string>(parameter);
  std::string text;
  for (size_t at = 0; at < wanted.size();) {
    const size_t begin = wanted.find(kBegin, at);
    text += wanted.substr(at, begin - at);
    if (begin == std::string::npos) break;
    const size_t end = wanted.find(kEnd, begin);
    const size_t name = begin + kBegin.size();
    const Json value = ValueAt(event, wanted.substr(name, end - name));
    if (value.is_null()) return std::nullopt;
    filled.has_text |= value.is_string() || value.is_structured();
    at = end + kEnd.size();
    if (begin == 0 && at == wanted.size() && !value.is_structured()) {
      filled.value = value;
      return filled;
    }
    text += Shown(value);
  }
  filled.value = text;
  return filled;
}

struct Made {
  Json values = Json::object();
  std::set<std::string> untrusted = {};
};

// nullopt: the parameters cannot be made. The only rule of the actor's jobs asks for whole numbers.
std::optional<Made> MakeParameters(const ScheduleSpec& spec,
                                   const std::map<std::string, ParameterRule>& rules,
                                   const Json& event) {
  Made made;
  for (const auto& [name, parameter] : spec.parameters) {
    const auto filled = Fill(parameter, event);
    if (!filled) return std::nullopt;
    const bool ruled = rules.contains(name);
    if (ruled && !filled->value.is_number_integer()) return std::nullopt;
    if (filled->has_text) made.untrusted.insert(name);
    made.values[name] = filled->value;
  }
  return made;
}

std::set<std::string> UntrustedIn(const Json& stored) {
  return stored.value("$untrusted", std::set<std::string>());
}

Json ValuesIn(Json stored) {
  for (const char* member : {"$untrusted", "$event", "$given_by", "$time_zone"}) {
    stored.erase(member);
  }
  return stored;
}

}  // namespace

void EventsCheck::RunWritten(const RunRow* before, const RunRow* after) {
  const bool fresh = before == nullptr && after->kind == RunKind::kEvent;
  if (fresh) fresh_.push_back(after->key);
}

std::vector<EventsCheck::Trigger> EventsCheck::TriggersIn(const std::string& name_space) {
  MutexLock lock(tables_.mu);
  std::map<ScheduleId, Trigger> found;
  for (const auto& [job_no, job] : tables_.jobs()) {
    if (job.deleted || job.definition.name_space != name_space) continue;
    for (size_t i = 0; i < job.schedules.size(); ++i) {
      const ScheduleSpec& spec = job.definition.schedules[i];
      if (spec.kind != ScheduleKind::kEvent) continue;
      found[job.schedules[i]] = {.id = job.schedules[i],
                                 .job_no = job_no,
                                 .version = job.version,
                                 .paused = !job.definition.enabled,
                                 .spec = spec,
                                 .rules = job.definition.parameter_rules};
    }
  }
  std::vector<Trigger> triggers;
  for (auto& [id, trigger] : found) triggers.push_back(std::move(trigger));
  return triggers;
}

Result<std::vector<EventEffect>> EventsCheck::Send(const EventPost& post, WallTime now) {
  NewEvents batch{.name_space = post.name_space, .events = {}};
  for (const std::string& body : post.bodies) batch.events.push_back(EventFromText(body).value());
  const std::vector<Trigger> triggers = TriggersIn(post.name_space);
  fresh_.clear();
  auto effects = store_.Accept(batch, now);
  for (const RunKey& key : fresh_) JudgeRun(key, post, triggers);
  if (!effects.ok()) return effects;
  for (size_t i = 0; i < post.bodies.size(); ++i) {
    const EventOrigin& origin = batch.events[i].origin;
    const EventName name{post.name_space, origin.source, origin.id};
    accepted_.insert(name);
    JudgeEffect(name, post.bodies[i], triggers, effects->at(i));
  }
  return effects;
}

// ---- runs --------------------------------------------------------------------------------------

void EventsCheck::JudgeRun(const RunKey& key, const EventPost& post,
                           const std::vector<Trigger>& triggers) {
  std::string text;
  int64_t version = 0;
  {
    MutexLock lock(tables_.mu);
    text = tables_.FindRun(key)->parameters_json;
    version = tables_.FindRun(key)->row.def_version;
  }
  runs_[key] = text;
  const std::string what = fmt::format("run {} has {}", EncodeRunId(key), text);
  const Json stored = Json::parse(text);
  if (!stored.contains("$event")) return fail_("events strangers", "of no event: " + what);
  const Json& origin = stored.at("$event");
  const EventName name{post.name_space, origin.at("source"), origin.at("id")};
  if (++fates_[{name, key.schedule_id}] > 1) fail_("events once", "again: " + what);
  const auto body = std::ranges::find_if(post.bodies, [&](const std::string& one) {
    const Json event = Json::parse(one);
    const bool same =
        event.at("id") == origin.at("id") && event.at("source") == origin.at("source");
    // One that matches nothing is not known, so that a later one of the call may start runs.
    return same && std::ranges::any_of(triggers, [&](const Trigger& trigger) {
             return Matches(trigger.spec, event) == Match::kYes;
           });
  });
  const auto trigger = std::ranges::find(triggers, key.schedule_id, &Trigger::id);
  if (body == post.bodies.end() || trigger == triggers.end() || trigger->version != version) {
    return fail_("events strangers", "not of this call: " + what);
  }
  if (Matches(trigger->spec, Json::parse(*body)) != Match::kYes) {
    return fail_("events strangers", "of an event that does not match: " + what);
  }
  JudgeParameters(key, *trigger, *body);
}

void EventsCheck::JudgeParameters(const RunKey& key, const Trigger& trigger,
                                  const std::string& body) {
  const std::string what =
      fmt::format("run {} of {} has {}", EncodeRunId(key), body, runs_.at(key));
  const Json stored = Json::parse(runs_.at(key));
  const auto made = MakeParameters(trigger.spec, trigger.rules, Json::parse(body));
  if (!made || ValuesIn(stored) != made->values) {
    return fail_("events parameters",
                 fmt::format("{}, not {}", what, made ? made->values.dump() : "a gap"));
  }
  const std::set<std::string> marked = UntrustedIn(stored);
  if (!std::ranges::includes(marked, made->untrusted)) {
    fail_("events untrusted", "not all texts are marked: " + what);
  }
}

// ---- answers -----------------------------------------------------------------------------------

void EventsCheck::JudgeEffect(const EventName& name, const std::string& body,
                              const std::vector<Trigger>& triggers, const EventEffect& effect) {
  const Json event = Json::parse(body);
  std::vector<const Trigger*> matched;
  int64_t unclear = 0;
  for (const Trigger& trigger : triggers) {
    const Match match = Matches(trigger.spec, event);
    if (match == Match::kYes) matched.push_back(&trigger);
    if (match == Match::kUnclear) ++unclear;
  }
  const std::string what = fmt::format("{} in {}", body, std::get<0>(name));
  if (effect.not_computable != unclear) {
    fail_("events all", fmt::format("{} filters have no answer, not {}: {}", unclear,
                                    effect.not_computable, what));
  }
  const auto known = known_.find(name);
  const bool is_known = known != known_.end() && !matched.empty();
  if (effect.duplicate != is_known) {
    return fail_(is_known ? "events duplicates" : "events all",
                 fmt::format("is {}known: {}", is_known ? "" : "not ", what));
  }
  if (is_known) {
    if (effect.starts != known->second) fail_("events duplicates", "another answer: " + what);
    return;
  }
  if (effect.starts.size() != matched.size()) {
    return fail_("events all",
                 fmt::format("{} of {} triggers: {}", effect.starts.size(), matched.size(), what));
  }
  for (size_t i = 0; i < matched.size(); ++i) {
    JudgeStart(name, body, *matched[i], effect.starts[i]);
  }
  if (!matched.empty()) known_[name] = effect.starts;
}

void EventsCheck::JudgeStart(const EventName& name, const std::string& body, const Trigger& trigger,
                             const EventStart& start) {
  const std::string what = fmt::format("{} at schedule {}{}", body, trigger.id.value(),
                                       trigger.paused ? ", which is paused" : "");
  const bool can_be_made =
      MakeParameters(trigger.spec, trigger.rules, Json::parse(body)).has_value();
  const bool is_gap = trigger.paused || !can_be_made;
  const GapReason gap = trigger.paused ? GapReason::kPaused : GapReason::kBadEvent;
  if (start.schedule_id != trigger.id || start.run.has_value() == is_gap ||
      start.gap.has_value() != is_gap || (is_gap && *start.gap != gap)) {
    return fail_("events all", fmt::format("a {}: {}", start.gap ? Name(*start.gap) : "run", what));
  }
  if (start.run && (!runs_.contains(*start.run) || start.run->schedule_id != trigger.id)) {
    return fail_("events all", "a run that is not there: " + what);
  }
  if (!is_gap) return;  // a run has been judged
  ++gaps_[{trigger.id, gap}];
  if (++fates_[{name, trigger.id}] > 1) fail_("events once", "a gap after another fate: " + what);
}

// ---- the end -----------------------------------------------------------------------------------

void EventsCheck::AtRest() {
  MutexLock lock(tables_.mu);
  for (const auto& [key, text] : runs_) {
    const memory::RunEntry* run = tables_.FindRun(key);
    if (run == nullptr) continue;
    const Json first = Json::parse(text), last = Json::parse(run->parameters_json);
    const bool same = ValuesIn(first) == ValuesIn(last) &&
                      first.at("$event") == last.at("$event") &&
                      UntrustedIn(first) == UntrustedIn(last);
    if (!same) {
      fail_("events parameters",
            fmt::format("run {} had {} and has {}", EncodeRunId(key), text, run->parameters_json));
    }
  }
  size_t refused = 0;
  for (const auto& [tie, record] : tables_.events) {
    if (record.outcome == EventOutcome::kRefused) {
      ++refused;
      continue;
    }
    const EventName name{record.name_space, record.origin.source, record.origin.id};
    const auto known = known_.find(name);
    if (known != known_.end() && known->second == record.starts) continue;
    fail_("events duplicates", "another answer is stored: event " + record.origin.id);
  }
  if (tables_.events.size() != known_.size() + refused)
    fail_("events duplicates", "an event is not stored");
  JudgeGaps();
  JudgeNodes();
}

void EventsCheck::JudgeGaps() {
  std::map<std::pair<ScheduleId, GapReason>, int64_t> stored;
  for (const auto& [id, gap] : tables_.gaps) {
    const memory::ScheduleEntry* schedule = tables_.FindSchedule(gap.schedule_id);
    if (schedule == nullptr || schedule->spec.kind != ScheduleKind::kEvent) continue;
    stored[{gap.schedule_id, gap.range.reason}] += gap.range.count;
  }
  for (const auto& counts : {gaps_, stored}) {
    for (const auto& [place, count] : counts) {
      if (stored[place] == gaps_[place]) continue;
      fail_("events all", fmt::format("{} gaps {} of schedule {} are stored, not {}", stored[place],
                                      Name(place.second), place.first.value(), gaps_[place]));
    }
  }
}

void EventsCheck::JudgeNodes() {
  for (const auto& [key, run] : tables_.runs()) {
    if (!run.node || run.parameters_json.empty()) continue;
    const auto own = runs_.find(run.node->workflow_run);
    if (own == runs_.end()) continue;
    const Json stored = Json::parse(run.parameters_json);
    if (!stored.contains(kOfWorkflow)) continue;
    const Json of_workflow = Json::parse(own->second);
    const bool marked = UntrustedIn(of_workflow).contains(kToNodes);
    if (marked && !UntrustedIn(stored).contains(kOfWorkflow)) {
      fail_("events untrusted", fmt::format("node {} has {} of {}", EncodeRunId(key),
                                            run.parameters_json, own->second));
    }
  }
}

}  // namespace carillon::sim
