#include "common/domain/template/job_templates.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/job_text.h"
#include "common/domain/template/fire_date.h"
#include "common/domain/template/node_template.h"
#include "common/domain/template/parameter_dates.h"
#include "common/domain/template/template_text.h"

namespace carillon {
namespace {

void AddAll(const std::vector<std::string>& texts, const std::string& pointer,
            std::vector<JobTemplate>& to) {
  for (size_t i = 0; i < texts.size(); ++i) {
    to.push_back({texts[i], TemplatePlace::kCommand, fmt::format("{}/{}", pointer, i)});
  }
}

bool HasFireDate(std::string_view text) {
  bool found = false;
  const auto look = [&found](std::string_view name) {
    found = found || IsFireDate(name);
    return Status();
  };
  // What is malformed is refused for that.
  static_cast<void>(ScanTemplate(text, kSkipText, look).ok());
  return found;
}

bool HasNodeFireDate(const ParameterValue& text) {
  const auto expressions = ExpressionsOf(text);
  return expressions.ok() && std::ranges::any_of(*expressions, [](const NodeExpression& one) {
           return one.kind == NodeExpression::Kind::kFire;
         });
}

// Also if it waits for a time of day.
bool HasFireDate(const WorkflowNode& node) {
  if (node.wait && !node.wait->until.empty()) return true;
  if (!node.task.empty() && UsesFireDate(node.task.job())) return true;
  return std::ranges::any_of(TextsOf(node),
                             [](const NodeText& one) { return HasNodeFireDate(one.value); });
}

constexpr WallTime kSampleFire = FromUnixMicros(1'700'000'000'000'000);  // in 2023

// True for digits, if there are any, with blanks around them.
bool IsDigits(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return true;
  text = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

// False if none of the values that the rule of the parameter allows is a number.
bool MayBeNumber(const JobDefinition& job, std::string_view parameter) {
  const auto found = job.parameter_rules.find(std::string(parameter));
  if (found == job.parameter_rules.end()) return true;
  const ParameterRule& rule = found->second;
  if (rule.type == ParameterType::kBoolean) return false;
  return rule.choices.empty() || std::ranges::any_of(rule.choices, [](const auto& choice) {
           return IsDigits(ParameterText(choice));
         });
}

// A text that the placeholder of a total may become; a digit if only a run knows it.
Result<std::string> SampleInTotal(const JobDefinition& job, std::string_view name) {
  const std::string_view shown = name.substr(0, kPlaceholderShownMax);
  if (name.starts_with("shard_")) {
    return TemplateError(fmt::format("'{}' is not known before the run has its shards", shown));
  }
  if (name.starts_with("nodes.") || name.starts_with("workflow.")) {
    return TemplateError(
        fmt::format("'{}' is known to the workflow only; write {{{{params.n}}}} here, and give the "
                    "node the parameter n with this placeholder",
                    shown));
  }
  std::string sample = "1";
  bool number =
      name != "run_id" && name != "job_id" && name != "fire_time" && !name.starts_with("trigger.");
  if (name.starts_with(kParameterPrefix)) {
    number = MayBeNumber(job, name.substr(kParameterPrefix.size()));
  } else if (IsFireDate(name)) {
    // Whether a date is a number is up to its format, and the same on all days.
    CARILLON_ASSIGN_OR_RETURN(const FireDate date, ParseFireDate(name));
    const auto formatted = FormatFireDate(date, kSampleFire, "UTC");
    if (formatted.ok()) sample = *formatted;
    number = IsDigits(sample);
  }
  if (number) return sample;
  return TemplateError(fmt::format("'{}' is not a whole number", shown));
}

}  // namespace

std::vector<JobTemplate> TemplatesOf(const JobDefinition& job) {
  std::vector<JobTemplate> found{{job.command, TemplatePlace::kCommand, "/command"}};
  if (job.script) AddAll(job.script->args, "/script/args", found);
  if (job.container) {
    AddAll(job.container->command, "/container/command", found);
    AddAll(job.container->args, "/container/args", found);
  }
  for (const auto& [name, value] : job.env) {
    found.push_back({value, TemplatePlace::kVariable, "/env/" + EscapePointer(name)});
  }
  found.push_back({job.routing_key, TemplatePlace::kPlain, "/routing_key"});
  if (job.shards) found.push_back({job.shards->total_from, TemplatePlace::kTotal, "/shards/total"});
  if (!job.http) return found;
  found.push_back({job.http->url, TemplatePlace::kUrl, "/http/url"});
  for (const auto& [name, value] : job.http->headers) {
    found.push_back({value, TemplatePlace::kVariable, "/http/headers/" + EscapePointer(name)});
  }
  found.push_back({job.http->body, TemplatePlace::kVariable, "/http/body"});
  found.push_back(
      {job.http->client_certificate, TemplatePlace::kVariable, "/http/client_certificate"});
  if (job.http->poll) {
    found.push_back({job.http->poll->url, TemplatePlace::kUrl, "/http/poll/url"});
  }
  return found;
}

Status CheckTotal(const JobDefinition& job, std::string_view text) {
  bool placeholder = false;
  std::string sample;
  const auto literal = [&sample](std::string_view part) { sample += part; };
  CARILLON_TRY(ScanTemplate(text, literal, [&](std::string_view name) -> Status {
    placeholder = true;
    CARILLON_ASSIGN_OR_RETURN(const std::string value, SampleInTotal(job, name));
    sample += value;
    return {};
  }));
  if (!placeholder) {
    return TemplateError("it has no placeholder such as {{params.n}}; {{{{ is a literal {{");
  }
  if (IsDigits(sample)) return {};
  return TemplateError(
      "it becomes no whole number: only digits may stand beside a placeholder, and blanks around "
      "them all");
}

bool UsesFireDate(const JobDefinition& job) {
  const std::vector<JobTemplate> templates = TemplatesOf(job);
  if (std::ranges::any_of(templates, [](const auto& one) { return HasFireDate(one.text); })) {
    return true;
  }
  if (HasDates(job.parameters)) return true;
  if (std::ranges::any_of(job.schedules, [](const ScheduleSpec& schedule) {
        return HasDates(FixedParametersOf(schedule));
      })) {
    return true;
  }
  if (!job.workflow) return false;
  return std::ranges::any_of(job.workflow->nodes,
                             [](const WorkflowNode& node) { return HasFireDate(node); }) ||
         std::ranges::any_of(job.workflow->outputs,
                             [](const auto& output) { return HasNodeFireDate(output.second); });
}

}  // namespace carillon
