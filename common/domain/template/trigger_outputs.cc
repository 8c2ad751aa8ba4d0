#include "common/domain/template/trigger_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "common/base/failpoint.h"
#include "common/base/nearest.h"
#include "common/domain/job/fire_zone.h"
#include "common/domain/job/parameter_rules.h"
#include "common/domain/job_text.h"
#include "common/domain/template/command_parameters.h"
#include "common/domain/template/fire_date.h"
#include "common/domain/template/template_text.h"

namespace carillon {
namespace {

constexpr std::string_view kTriggerOutput = "trigger.outputs.";
constexpr std::string_view kOwnFireTime = "fire_time";
constexpr std::array<std::string_view, 3> kOfTrigger = {"trigger.run_id", "trigger.state",
                                                        "trigger.fire_time"};

Error UnknownInAfter(std::string_view name) {
  const std::string shown(name.substr(0, kPlaceholderShownMax));
  std::string meant;
  if (const std::string_view ours = FireDateLike(name); !ours.empty()) {
    meant = fmt::format("; write {{{{{}}}}}", ours);
  } else {
    meant = DidYouMean(name, {"trigger.run_id", "trigger.state", "trigger.fire_time", "fire_time",
                              "fire_date", "fire_time.local"});
  }
  return TemplateError(
      fmt::format("unknown expression '{}'{}; beside trigger.outputs.NAME a text may have "
                  "trigger.run_id, trigger.state, trigger.fire_time, fire_time, fire_date and "
                  "fire_time.local; write {{{{{{{{ for a literal {{{{",
                  shown, meant));
}

// The name of the output in a placeholder; empty for other placeholders.
std::string_view OutputName(std::string_view placeholder) {
  if (!placeholder.starts_with(kTriggerOutput)) return {};
  return placeholder.substr(kTriggerOutput.size());
}

Status CheckAfterPlaceholder(std::string_view name) {
  if (IsOutputName(OutputName(name)) || name == kOwnFireTime) return {};
  if (std::ranges::count(kOfTrigger, name) > 0) return {};
  if (!IsFireDate(name)) return UnknownInAfter(name);
  CARILLON_TRY(ParseFireDate(name));
  return {};
}

// A text of the rule's choice alone is no text of somebody else's.
bool LeavesAChoice(const ParameterRule* rule) { return rule != nullptr && !rule->choices.empty(); }

const ParameterRule* RuleOfAfter(const JobDefinition& job, const std::string& name) {
  const auto found = job.parameter_rules.find(name);
  return found == job.parameter_rules.end() ? nullptr : &found->second;
}

class OutputRenderer {
 public:
  OutputRenderer(const RunTrigger& trigger, const Outputs& outputs, WallTime fire, std::string zone)
      : trigger_(trigger), outputs_(outputs), fire_(fire), zone_(std::move(zone)) {}

  Result<std::string> Render(const std::string& text) {
    std::string filled;
    const auto add = [&](std::string_view part) { filled += part; };
    CARILLON_TRY(ScanTemplate(text, add, [&](std::string_view name) -> Status {
      CARILLON_ASSIGN_OR_RETURN(const std::string value, ValueOf(name));
      filled += value;
      return {};
    }));
    return filled;
  }

 private:
  Result<std::string> ValueOf(std::string_view name) {
    CARILLON_TRY(CheckAfterPlaceholder(name));
    if (const std::string_view output = OutputName(name); !output.empty()) {
      const auto found = outputs_.find(std::string(output));
      if (found != outputs_.end()) return found->second;
      return Error{ErrorCode::kInvalid,
                   fmt::format("The run {} of job {} has no output '{}'.",
                               EncodeRunId(trigger_.run), trigger_.job_id.value(), output)};
    }
    if (name == kOfTrigger[0]) return EncodeRunId(trigger_.run);
    if (name == kOfTrigger[1]) return std::string(Name(trigger_.state));
    if (name == kOfTrigger[2]) return FormatRfc3339(trigger_.run.fire);
    if (name == kOwnFireTime) return FormatRfc3339(fire_);
    CARILLON_ASSIGN_OR_RETURN(const FireDate date, ParseFireDate(name));
    return FormatFireDate(date, fire_, zone_);
  }

  const RunTrigger& trigger_;
  const Outputs& outputs_;
  const WallTime fire_;
  const std::string zone_;
};

Status CheckAfterParameter(const JobDefinition& job, ScheduleKind kind, const std::string& name,
                           const std::string& text, bool in_command) {
  if (kind != ScheduleKind::kAfter) {
    return Error{ErrorCode::kInvalid,
                 "asks for an output of the run before, which only runs of a schedule of kind "
                 "after have"};
  }
  CARILLON_TRY(ScanTemplate(text, kSkipText, &CheckAfterPlaceholder));
  const ParameterRule* rule = RuleOfAfter(job, name);
  if (rule != nullptr && rule->type != ParameterType::kString) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("is a text, since outputs are texts, but its rule asks for the type "
                             "{}",
                             Name(rule->type))};
  }
  if (!in_command || LeavesAChoice(rule)) return {};
  if (job.http) {
    return Error{ErrorCode::kInvalid,
                 "is part of the host, or of a body that is neither JSON nor a form, where an "
                 "output of another job could change the request. Give the parameter choices"};
  }
  return Error{
      ErrorCode::kInvalid,
      fmt::format("is part of the command, where an output of another job could change what it "
                  "does. In the command, use $CARILLON_PARAM_{} instead, or give the parameter "
                  "choices",
                  AsciiUpper(name))};
}

}  // namespace

bool AsksForOutputs(const ParameterValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr || text->find(kTriggerOutput) == std::string::npos) return false;
  bool asks = false;
  const Status scanned = ScanTemplate(*text, kSkipText, [&](std::string_view name) -> Status {
    asks = asks || name.starts_with(kTriggerOutput);
    return {};
  });
  return asks || !scanned.ok();
}

bool AsksForOutputs(const ScheduleSpec& spec) {
  return spec.kind == ScheduleKind::kAfter &&
         std::ranges::any_of(spec.parameters,
                             [](const auto& one) { return AsksForOutputs(one.second); });
}

bool AsksForOutputs(const JobDefinition& job) {
  return std::ranges::any_of(job.schedules,
                             [](const ScheduleSpec& spec) { return AsksForOutputs(spec); });
}

std::set<std::string> OutputsAskedBy(const ParameterValue& value) {
  std::set<std::string> names;
  if (!AsksForOutputs(value)) return names;
  const Status scanned =
      ScanTemplate(std::get<std::string>(value), kSkipText, [&](std::string_view name) -> Status {
        CARILLON_TRY(CheckAfterPlaceholder(name));
        names.emplace(OutputName(name));
        return {};
      });
  names.erase("");
  return scanned.ok() ? names : std::set<std::string>();
}

Result<RenderedParameters> RenderTriggerOutputs(const JobDefinition& job, const ScheduleSpec& spec,
                                                const RunTrigger& trigger, const Outputs& outputs,
                                                WallTime fire) {
  OutputRenderer renderer(trigger, outputs, fire, FireZone(job, &spec));
  RenderedParameters rendered;
  for (const auto& [name, value] : spec.parameters) {
    if (!AsksForOutputs(value)) continue;
    auto filled = renderer.Render(std::get<std::string>(value));
    if (!filled.ok()) {
      return Error{ErrorCode::kInvalid, filled.error().message,
                   "/parameters/" + EscapePointer(name)};
    }
    const bool trusted =
        LeavesAChoice(RuleOfAfter(job, name)) || failpoint::Broken("after.outputs_trusted");
    if (!trusted) rendered.untrusted.insert(name);
    rendered.values[name] = *std::move(filled);
  }
  CARILLON_TRY(ValidateParameters(rendered.values));
  CARILLON_TRY(CheckGivenParameters(
      job, MergeParameters(FillTrigger(spec.parameters, trigger), rendered.values)));
  return rendered;
}

Status CheckOutputsGiven(const ScheduleSpec& spec, const Parameters& given) {
  if (spec.kind != ScheduleKind::kAfter) return {};
  for (const auto& [name, value] : spec.parameters) {
    if (given.contains(name) || !AsksForOutputs(value)) continue;
    return Error{ErrorCode::kInvalid,
                 fmt::format("'{}' asks for an output of the run before, and this run was started "
                             "without it",
                             name),
                 "/parameters/" + EscapePointer(name)};
  }
  return {};
}

Status CheckTriggerOutputs(const JobDefinition& job) {
  const std::set<std::string> in_command = CommandParameters(job);
  for (size_t i = 0; i < job.schedules.size(); ++i) {
    const ScheduleSpec& spec = job.schedules[i];
    // Of an event, all placeholders are those of event_parameters.h.
    if (spec.kind == ScheduleKind::kEvent) continue;
    for (const auto& [name, value] : spec.parameters) {
      if (!AsksForOutputs(value)) continue;
      const Status checked = CheckAfterParameter(job, spec.kind, name, std::get<std::string>(value),
                                                 in_command.contains(name));
      if (checked.ok()) continue;
      return Error{ErrorCode::kInvalid, checked.error().message,
                   fmt::format("/schedules/{}/parameters/{}", i, EscapePointer(name))};
    }
  }
  return {};
}

}  // namespace carillon
