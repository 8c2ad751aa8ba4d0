#include "common/domain/job/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "common/domain/enum_names.h"
#include "common/domain/event/event_parameters.h"
#include "common/domain/executor_state.h"
#include "common/domain/job/job_mistakes.h"
#include "common/domain/job/job_process.h"
#include "common/domain/job/job_types.h"
#include "common/domain/job/parameter_rules.h"
#include "common/domain/job_text.h"
#include "common/domain/run/retry_conditions.h"
#include "common/domain/schedule/schedule.h"
#include "common/domain/schedule/zone.h"
#include "common/domain/selector.h"
#include "common/domain/template/template.h"
#include "common/domain/template/trigger_outputs.h"
#include "common/domain/workflow/workflow_fields.h"

namespace carillon {
namespace {

constexpr size_t kNameCharactersMax = 200;
constexpr size_t kCommandBytesMax = 65'536;
constexpr size_t kSchedulesMax = 32;
constexpr size_t kParametersMax = 100;
constexpr size_t kEnvMax = 100;
constexpr size_t kLabelsMax = 32;
constexpr size_t kLabelNameBytesMax = 63;
constexpr size_t kLabelValueBytesMax = 255;
constexpr size_t kValueBytesMax = 32'768;  // of a parameter or an environment variable
constexpr size_t kDescriptionBytesMax = 10'000;
constexpr size_t kUserIdBytesMax = 64;
constexpr size_t kRetryIntervalsMax = 100;
constexpr size_t kRoutingKeyBytesMax = 1'024;

Status CheckWhole(std::string_view field, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return {};
  return InvalidAt(fmt::format("/{}", field),
                   fmt::format("{} is {}; it must be from {} to {}", field, value, least, most));
}

Status CheckText(const std::string& pointer, std::string_view text, size_t bytes_max) {
  std::string fault = TextFault(text, bytes_max);
  return fault.empty() ? Status() : InvalidAt(pointer, std::move(fault));
}

Status CheckName(const JobDefinition& job) {
  CARILLON_TRY(CheckText("/name", job.name, kNameCharactersMax * 4));
  const size_t characters = *CountUtf8(job.name);
  if (characters == 0 || characters > kNameCharactersMax) {
    return InvalidAt("/name", fmt::format("has {} characters; it must have 1 to {}", characters,
                                          kNameCharactersMax));
  }
  if (std::any_of(job.name.begin(), job.name.end(), IsControl)) {
    return InvalidAt("/name", "contains a control character");
  }
  if (IsBlank(job.name)) {
    return InvalidAt("/name", "must not be blank");
  }
  if (HasDirectionOverride(job.name)) {
    return InvalidAt("/name", "contains a character that changes the text direction");
  }
  return {};
}

Status CheckCommand(const JobDefinition& job) {
  if (job.type != JobType::kShell) {
    if (job.command.empty()) return {};
    return InvalidAt("/command", fmt::format("a {} job has no command", Name(job.type)));
  }
  if (job.command.empty()) return InvalidAt("/command", "a shell job needs a command");
  return CheckText("/command", job.command, kCommandBytesMax);
}

Status CheckScriptField(const JobDefinition& job) {
  const bool script = job.type == JobType::kScript;
  if (script == job.script.has_value()) return {};
  if (script) return InvalidAt("/script", "is missing");
  return InvalidAt("/script",
                   fmt::format("a {} job has no script; set type to script", Name(job.type)));
}

Status CheckHttpField(const JobDefinition& job) {
  if (job.type != JobType::kHttp) {
    if (!job.http) return {};
    return InvalidAt("/http",
                     fmt::format("a {} job has no request; set type to http", Name(job.type)));
  }
  if (!job.http) return InvalidAt("/http", "is missing");
  if (job.env.empty()) return {};
  return InvalidAt("/env",
                   "a request has no environment; use parameters, or secrets in its headers");
}

Status CheckHandlerField(const JobDefinition& job) {
  if (job.type != JobType::kHandler) {
    if (job.handler.empty()) return {};
    return InvalidAt("/handler",
                     fmt::format("a {} job has no handler; set type to handler", Name(job.type)));
  }
  if (job.handler.empty()) return InvalidAt("/handler", "is missing");
  if (IsFullHandlerName(job.handler)) return {};
  return InvalidAt(
      "/handler",
      "must be APP/NAME, such as billing/close_day: small letters, digits, _ and -, in "
      "NAME also dots");
}

// Only a function may go on when its lease has ended, so only there is a death presumed.
Status CheckPresumedDeath(const JobDefinition& job) {
  if (job.presume_dead_s == 0) return {};
  if (!IsCooperative(job.type)) {
    return InvalidAt("/presume_dead_s", "has an effect on jobs of type handler only");
  }
  if (job.on_lost == OnLost::kRetry) return {};
  return InvalidAt("/presume_dead_s", "has an effect with on_lost retry only");
}

Status CheckContainerField(const JobDefinition& job) {
  const bool container = job.type == JobType::kContainer;
  if (container == job.container.has_value()) return {};
  if (container) return InvalidAt("/container", "is missing");
  return InvalidAt("/container",
                   fmt::format("a {} job has no container; set type to container", Name(job.type)));
}

// A workflow is no process, and its nodes have jobs of their own for everything that a process has.
Status CheckWorkflowField(const JobDefinition& job) {
  if (job.type != JobType::kWorkflow) {
    if (!job.workflow) return {};
    return InvalidAt("/workflow",
                     fmt::format("a {} job has no nodes; set type to workflow", Name(job.type)));
  }
  const JobDefinition usual;
  struct Foreign {
    std::string_view field;
    bool is_set;
  };
  const std::array foreign = {Foreign{"env", !job.env.empty()},
                              Foreign{"retry_count", job.retry_count != 0},
                              Foreign{"retry_on", !job.retry_on.empty()},
                              Foreign{"no_retry_on", !job.no_retry_on.empty()},
                              Foreign{"concurrency_group", !job.concurrency_group.empty()},
                              Foreign{"executor_id", !job.executor_id.empty()},
                              Foreign{"executor_selector", !job.executor_selector.empty()},
                              Foreign{"routing", job.routing != usual.routing},
                              Foreign{"kill_grace", job.kill_grace_s != usual.kill_grace_s},
                              Foreign{"on_lost", job.on_lost != usual.on_lost}};
  for (const auto& [field, is_set] : foreign) {
    if (!is_set) continue;
    return InvalidAt(fmt::format("/{}", field),
                     "has no effect on a workflow; set it on the jobs of its nodes");
  }
  if (!job.workflow) return InvalidAt("/workflow", "is missing");
  return {};
}

Status CheckSchedule(const JobDefinition& job, const ScheduleSpec& spec,
                     const std::string& pointer) {
  if (spec.kind == ScheduleKind::kManual) {
    return InvalidAt(
        pointer + "/kind",
        "must be cron, rate, once, delay, after or event; a manual job has no schedules");
  }
  const auto schedule = Schedule::Compile(spec, job.dst_gap, job.dst_repeat);
  if (!schedule.ok())
    return InvalidAt(pointer + schedule.error().pointer, schedule.error().message);
  const Status parameters = ValidateParameters(spec.parameters);
  if (parameters.ok()) return {};
  return InvalidAt(pointer + parameters.error().pointer, parameters.error().message);
}

Status CheckSchedules(const JobDefinition& job) {
  if (job.schedules.size() > kSchedulesMax) {
    return InvalidAt("/schedules", fmt::format("has {} entries; at most {} are allowed",
                                               job.schedules.size(), kSchedulesMax));
  }
  for (size_t i = 0; i < job.schedules.size(); ++i) {
    CARILLON_TRY(CheckSchedule(job, job.schedules[i], fmt::format("/schedules/{}", i)));
  }
  const auto zone = Zone::Load(job.time_zone);
  if (!zone.ok()) return InvalidAt("/time_zone", zone.error().message);
  return {};
}

Status CheckNumbers(const JobDefinition& job) {
  CARILLON_TRY(CheckWhole("timeout", job.timeout_s, 1, 604'800));
  CARILLON_TRY(CheckWhole("kill_grace", job.kill_grace_s, 0, 3'600));
  CARILLON_TRY(CheckWhole("queue_timeout", job.queue_timeout_s, 0, 604'800));
  CARILLON_TRY(CheckWhole("retry_count", job.retry_count, 0, 100));
  CARILLON_TRY(CheckWhole("pause_after_failures", job.pause_after_failures, 0, 100));
  CARILLON_TRY(CheckWhole("presume_dead_s", job.presume_dead_s, 0, 86'400));
  CARILLON_TRY(CheckWhole("retry_interval", job.retry_interval_s, 0, 86'400));
  CARILLON_TRY(CheckWhole("priority", job.priority, 0, 100));
  CARILLON_TRY(CheckWhole("misfire_grace", job.misfire_grace_s, 0, 86'400));
  CARILLON_TRY(CheckWhole("catch_up_window", job.catch_up_window_s, 0, 31'536'000));
  CARILLON_TRY(CheckWhole("catch_up_max", job.catch_up_max, 1, 10'000));
  CARILLON_TRY(CheckWhole("retention_days", job.retention_days, 0, 3'650));
  if (job.retry_intervals_s.size() > kRetryIntervalsMax) {
    return InvalidAt("/retry_intervals",
                     fmt::format("has {} entries; at most {} are allowed",
                                 job.retry_intervals_s.size(), kRetryIntervalsMax));
  }
  for (size_t i = 0; i < job.retry_intervals_s.size(); ++i) {
    CARILLON_TRY(
        CheckWhole(fmt::format("retry_intervals/{}", i), job.retry_intervals_s[i], 0, 86'400));
  }
  return {};
}

Status CheckOverlap(const JobDefinition& job) {
  CARILLON_TRY(CheckWhole("max_running", job.max_running, 1, 1'000));
  CARILLON_TRY(CheckWhole("queue_max", job.queue_max, 1, 10'000));
  if (job.max_running == 1) return {};
  if (job.overlap_policy == OverlapPolicy::kAllow) {
    return InvalidAt(
        "/max_running",
        "has no effect with overlap_policy allow; set overlap_policy to skip, queue_one or "
        "queue_all, or omit max_running");
  }
  if (EndsPrevious(job.overlap_policy)) {
    return InvalidAt("/max_running",
                     fmt::format("must be 1 with overlap_policy {}", Name(job.overlap_policy)));
  }
  return {};
}

Status CheckGroup(const JobDefinition& job) {
  if (job.concurrency_group.empty() || IsGroupName(job.concurrency_group)) return {};
  return InvalidAt(
      "/concurrency_group",
      "must be 1 to 63 characters of a-z, 0-9, _ and -, and begin with a letter or digit");
}

Status CheckParameter(const std::string& name, const ParameterValue& value) {
  const std::string pointer = "/parameters/" + EscapePointer(name);
  if (!IsVariableName(name)) {
    return InvalidAt(
        pointer,
        "a parameter name must be 1 to 63 letters, digits and _, not beginning with a digit");
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (MentionsSecret(*text)) {
      return InvalidAt(pointer,
                       "refers to a secret; parameters are stored and shown with the run, so use "
                       "secrets in `env` only");
    }
    return CheckText(pointer, *text, kValueBytesMax);
  }
  if (const auto* number = std::get_if<double>(&value); number && !std::isfinite(*number)) {
    return InvalidAt(pointer, "is not a finite number");
  }
  return {};
}

Status CheckEnv(const JobDefinition& job) {
  if (job.env.size() > kEnvMax) {
    return InvalidAt(
        "/env", fmt::format("has {} entries; at most {} are allowed", job.env.size(), kEnvMax));
  }
  for (const auto& [name, value] : job.env) {
    const std::string pointer = "/env/" + EscapePointer(name);
    if (!IsVariableName(name)) {
      return InvalidAt(
          pointer,
          "a variable name must be 1 to 63 letters, digits and _, not beginning with a digit");
    }
    if (IsReservedVariable(name)) return InvalidAt(pointer, "is reserved; Carillon sets it");
    CARILLON_TRY(CheckText(pointer, value, kValueBytesMax));
  }
  return {};
}

Status CheckLabels(const JobDefinition& job) {
  if (job.labels.size() > kLabelsMax) {
    return InvalidAt("/labels", fmt::format("has {} entries; at most {} are allowed",
                                            job.labels.size(), kLabelsMax));
  }
  for (const auto& [name, value] : job.labels) {
    const std::string pointer = "/labels/" + EscapePointer(name);
    if (name.empty()) return InvalidAt(pointer, "a label must have a name");
    CARILLON_TRY(CheckText(pointer, name, kLabelNameBytesMax));
    CARILLON_TRY(CheckText(pointer, value, kLabelValueBytesMax));
    if (std::any_of(name.begin(), name.end(), IsControl) ||
        std::any_of(value.begin(), value.end(), IsControl)) {
      return InvalidAt(pointer, "contains a control character");
    }
  }
  return {};
}

Status CheckRouting(const JobDefinition& job) {
  if (!job.executor_id.empty() && !job.executor_selector.empty()) {
    return InvalidAt("/executor_selector",
                     "cannot be combined with executor_id; omit one of the two");
  }
  if (!job.executor_id.empty()) {
    if (!IsExecutorId(job.executor_id)) {
      return InvalidAt("/executor_id",
                       "must be 1 to 63 characters of a-z, 0-9 and -, not beginning with -");
    }
  }
  CARILLON_TRY(CheckText("/routing_key", job.routing_key, kRoutingKeyBytesMax));
  if (!job.routing_key.empty() && job.routing != Routing::kConsistentHash) {
    return InvalidAt("/routing_key", "has an effect with the routing consistent_hash only");
  }
  CARILLON_TRY(CheckText("/executor_selector", job.executor_selector, Selector::kBytesMax));
  const auto selector = Selector::Parse(job.executor_selector);
  if (!selector.ok()) return InvalidAt("/executor_selector", selector.error().message);
  return {};
}

Status CheckOwner(const std::string& user_id) {
  if (std::any_of(user_id.begin(), user_id.end(), IsControl)) {
    return InvalidAt("/user_id", "contains a control character");
  }
  return CheckText("/user_id", user_id, kUserIdBytesMax);
}

// One mistake of both: a malformed date in the parameters of a trigger is one of either.
Status CheckTemplates(const JobDefinition& job) {
  CARILLON_TRY(ValidateTemplates(job));
  CARILLON_TRY(CheckTriggerOutputs(job));
  return CheckEventTriggers(job);
}

constexpr std::array<NameOf<OverlapPolicy>, 6> kOverlapPolicies{
    {{OverlapPolicy::kAllow, "allow"},
     {OverlapPolicy::kSkip, "skip"},
     {OverlapPolicy::kQueueOne, "queue_one"},
     {OverlapPolicy::kQueueAll, "queue_all"},
     {OverlapPolicy::kCancelPrevious, "cancel_previous"},
     {OverlapPolicy::kTerminatePrevious, "terminate_previous"}}};
constexpr std::array<NameOf<RetryBackoff>, 2> kRetryBackoffs{
    {{RetryBackoff::kFixed, "fixed"}, {RetryBackoff::kExponential, "exponential"}}};
constexpr std::array<NameOf<OnLost>, 3> kOnLosts{
    {{OnLost::kRetry, "retry"}, {OnLost::kFail, "fail"}, {OnLost::kHold, "hold"}}};
constexpr std::array<NameOf<Routing>, 6> kRoutings{{{Routing::kRoundRobin, "round_robin"},
                                                    {Routing::kRandom, "random"},
                                                    {Routing::kLeastLoaded, "least_loaded"},
                                                    {Routing::kFirstHealthy, "first_healthy"},
                                                    {Routing::kWeighted, "weighted"},
                                                    {Routing::kConsistentHash, "consistent_hash"}}};

}  // namespace

Status ValidateParameters(const std::map<std::string, ParameterValue>& parameters) {
  if (parameters.size() > kParametersMax) {
    return InvalidAt("/parameters", fmt::format("has {} entries; at most {} are allowed",
                                                parameters.size(), kParametersMax));
  }
  std::set<std::string> upper_names;
  for (const auto& [name, value] : parameters) {
    CARILLON_TRY(CheckParameter(name, value));
    if (!upper_names.insert(AsciiUpper(name)).second) {
      return InvalidAt(
          "/parameters/" + name,
          "differs from another parameter only by case; both would be CARILLON_PARAM_" +
              AsciiUpper(name));
    }
  }
  return {};
}

std::vector<Error> FindMistakes(const JobDefinition& job) {
  std::vector<Error> mistakes;
  const auto note = [&mistakes](Status checked) {
    if (!checked.ok()) mistakes.push_back(checked.error());
  };
  note(CheckName(job));
  note(CheckCommand(job));
  note(CheckScriptField(job));
  if (job.script) {
    for (Error& mistake : FindScriptMistakes(*job.script)) mistakes.push_back(std::move(mistake));
  }
  note(CheckHttpField(job));
  if (job.http) {
    for (Error& mistake : FindHttpMistakes(*job.http)) mistakes.push_back(std::move(mistake));
  }
  note(CheckHandlerField(job));
  note(CheckPresumedDeath(job));
  note(CheckContainerField(job));
  if (job.container) {
    for (Error& mistake : FindContainerMistakes(*job.container, job.env)) {
      mistakes.push_back(std::move(mistake));
    }
  }
  note(CheckProcess(job));
  note(CheckWorkflowField(job));
  for (WorkflowProblem& problem : FindWorkflowProblems(job)) {
    mistakes.push_back(InvalidAt("/workflow" + problem.pointer, std::move(problem.message)));
  }
  note(CheckSchedules(job));
  note(CheckNumbers(job));
  for (const auto& [field, texts] :
       {std::pair("retry_on", &job.retry_on), std::pair("no_retry_on", &job.no_retry_on)}) {
    for (Error& mistake : FindConditionMistakes(field, *texts)) {
      mistakes.push_back(std::move(mistake));
    }
  }
  note(CheckOverlap(job));
  note(ValidateWaits(job));
  note(CheckGroup(job));
  note(ValidateParameters(job.parameters));
  note(ValidateParameterRules(job));
  note(CheckEnv(job));
  note(CheckTemplates(job));
  note(CheckLabels(job));
  note(CheckRouting(job));
  note(ValidateFanOut(job));
  note(ValidateNotify(job.notify));
  note(CheckText("/description", job.description, kDescriptionBytesMax));
  note(CheckOwner(job.user_id));
  if (!IsNamespace(job.name_space)) note(InvalidAt("/namespace", std::string(kNamespaceRule)));
  return mistakes;
}

Status ValidateJob(const JobDefinition& job) {
  const std::vector<Error> mistakes = FindMistakes(job);
  if (mistakes.empty()) return {};
  return mistakes.front();
}

bool IsNamespace(std::string_view text) {
  constexpr size_t kBytesMax = 63;
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kBytesMax && plain(text.front()) && plain(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return plain(c) || c == '-'; });
}

namespace {

bool IsPlain(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Begins with a plain character; then also those of `more`.
bool IsShortName(std::string_view text, std::string_view more) {
  constexpr size_t kBytesMax = 63;
  return !text.empty() && text.size() <= kBytesMax && IsPlain(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return IsPlain(c) || more.find(c) != std::string_view::npos; });
}

}  // namespace

bool IsHandlerApp(std::string_view text) { return IsShortName(text, "_-"); }
bool IsHandlerName(std::string_view text) { return IsShortName(text, "_-."); }
bool IsFullHandlerName(std::string_view text) {
  const size_t slash = text.find('/');
  return slash != std::string_view::npos && IsHandlerApp(text.substr(0, slash)) &&
         IsHandlerName(text.substr(slash + 1));
}

bool IsGroupName(std::string_view text) { return IsShortName(text, "_-"); }

// The names of groups have the same form.
Status ValidateJobId(std::string_view text) {
  if (IsGroupName(text)) return {};
  return InvalidAt(
      "/job_id",
      "must be 1 to 63 characters of a-z, 0-9, _ and -, and begin with a letter or digit");
}

std::string_view Name(OverlapPolicy value) { return NameIn(kOverlapPolicies, value); }
std::string_view Name(RetryBackoff value) { return NameIn(kRetryBackoffs, value); }
std::string_view Name(OnLost value) { return NameIn(kOnLosts, value); }
std::string_view Name(Routing value) { return NameIn(kRoutings, value); }

template <>
Result<OverlapPolicy> ParseName(std::string_view text) {
  return ValueIn(kOverlapPolicies, text);
}
template <>
Result<RetryBackoff> ParseName(std::string_view text) {
  return ValueIn(kRetryBackoffs, text);
}
template <>
Result<OnLost> ParseName(std::string_view text) {
  return ValueIn(kOnLosts, text);
}
template <>
Result<Routing> ParseName(std::string_view text) {
  return ValueIn(kRoutings, text);
}

}  // namespace carillon
