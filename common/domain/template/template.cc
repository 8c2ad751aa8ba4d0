#include "common/domain/template/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "common/domain/job/job_types.h"
#include "common/domain/job_text.h"
#include "common/domain/template/fire_date.h"
#include "common/domain/template/http_template.h"
#include "common/domain/template/job_templates.h"
#include "common/domain/template/parameter_dates.h"
#include "common/domain/template/template_text.h"
#include "common/domain/template/trigger_outputs.h"

namespace carillon {
namespace {

constexpr std::string_view kOpen = "{{";
constexpr std::string_view kClose = "}}";
constexpr std::string_view kLiteralOpen = "{{{{";
constexpr std::string_view kLiteralClose = "}}}}";
constexpr std::string_view kSecretPrefix = "secrets.";

using Variables = std::map<std::string, std::string>;
// Returns the value of a placeholder; kInvalid if it has none.
using LookupFn = std::function<Result<std::string>(std::string_view name)>;
// Callbacks of Scan: for literal text, and for the name of a placeholder.
using TextFn = std::function<void(std::string_view text)>;
using NameFn = std::function<Status(std::string_view name)>;

Error Invalid(std::string why) { return {ErrorCode::kInvalid, "template: " + std::move(why)}; }

Error UnknownName(std::string_view name) {
  if (const std::string_view ours = FireDateLike(name); !ours.empty()) {
    return Invalid(fmt::format("unknown expression '{}'; write {{{{{}}}}}", name, ours));
  }
  // People write them into the task or the job as in the parameters of the node.
  if (name.starts_with("workflow.") || name.starts_with("nodes.")) {
    const std::string_view last = name.substr(name.rfind('.') + 1);
    return Invalid(
        fmt::format("only parameters of a node may have {{{{{0}}}}}; write parameters: {{{1}: "
                    "\"{{{{{0}}}}}\"}} there, and use $CARILLON_PARAM_{2} here",
                    name.substr(0, kPlaceholderShownMax), last, AsciiUpper(last)));
  }
  return Invalid(fmt::format("unknown expression '{}'; write {{{{{{{{ for a literal {{{{",
                             name.substr(0, kPlaceholderShownMax)));
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Passes literal text on. `escaped` is the number of {{{{ before it that are still open: as many
// pairs of braces close them, and each of these may be doubled too.
void AddLiteral(std::string_view text, size_t& escaped, const TextFn& on_text) {
  for (; escaped > 0; --escaped) {
    const size_t close = text.find(kClose);
    if (close == std::string_view::npos) break;
    on_text(text.substr(0, close + kClose.size()));
    text.remove_prefix(close);
    text.remove_prefix(text.starts_with(kLiteralClose) ? kLiteralClose.size() : kClose.size());
  }
  on_text(text);
}

// Splits `text` into literal text and names of placeholders, in order.
Status Scan(std::string_view text, const TextFn& on_text, const NameFn& on_name) {
  const size_t whole = text.size();
  size_t escaped = 0;
  while (!text.empty()) {
    const size_t open = text.find(kOpen);
    AddLiteral(text.substr(0, open), escaped, on_text);
    if (open == std::string_view::npos) return {};
    text.remove_prefix(open);
    if (text.starts_with(kLiteralOpen)) {
      on_text(kOpen);
      ++escaped;
      text.remove_prefix(kLiteralOpen.size());
      continue;
    }
    const size_t close = text.find(kClose, kOpen.size());
    if (close == std::string_view::npos) {
      return Invalid(
          fmt::format("the {{{{ at byte {} is not closed; write {{{{{{{{ for a literal {{{{",
                      whole - text.size() + 1));
    }
    CARILLON_TRY(on_name(Trimmed(text.substr(kOpen.size(), close - kOpen.size()))));
    text.remove_prefix(close + kClose.size());
  }
  return {};
}

// The number of bytes that the rendering of one attempt may still add.
class Room {
 public:
  Status Take(size_t bytes) {
    if (bytes > left_) {
      return Invalid(fmt::format("the result has more than {} bytes", kRenderedBytesMax));
    }
    left_ -= bytes;
    return {};
  }

 private:
  size_t left_ = kRenderedBytesMax;
};

// Appends `text` to `out` with its placeholders filled in.
Status Render(std::string_view text, const LookupFn& lookup, Room& room, std::string& out) {
  Status room_left;
  const auto add = [&](std::string_view part) {
    if (room_left.ok()) room_left = room.Take(part.size());
    if (room_left.ok()) out += part;
  };
  const auto fill = [&](std::string_view name) -> Status {
    CARILLON_ASSIGN_OR_RETURN(const std::string value, lookup(name));
    add(value);
    return room_left;
  };
  CARILLON_TRY(Scan(text, add, fill));
  return room_left;
}

// The name of the secret in a placeholder; empty for other placeholders.
std::string_view SecretName(std::string_view placeholder) {
  if (!placeholder.starts_with(kSecretPrefix)) return {};
  return placeholder.substr(kSecretPrefix.size());
}

bool HasSecret(std::string_view text) {
  bool found = false;
  const auto look = [&](std::string_view name) {
    found = found || name.starts_with(kSecretPrefix);
    return Status();
  };
  return Scan(text, kSkipText, look).ok() && found;
}

// The same as Render, with a separate piece for each secret.
Status RenderPieces(std::string_view text, const LookupFn& lookup, Room& room, SecretText& out) {
  std::string filled;
  const auto close = [&] {
    if (!filled.empty()) out.push_back({.text = std::exchange(filled, {})});
  };
  const auto add = [&](std::string_view part) { filled += part; };
  const auto fill = [&](std::string_view name) -> Status {
    if (const std::string_view secret = SecretName(name); !secret.empty()) {
      close();
      out.push_back({.secret = std::string(secret)});
      return {};
    }
    CARILLON_ASSIGN_OR_RETURN(const std::string value, lookup(name));
    filled += value;
    return {};
  };
  CARILLON_TRY(Scan(text, add, fill));
  close();
  size_t bytes = 0;
  for (const SecretPiece& piece : out) bytes += piece.text.size();
  return room.Take(bytes);
}

// Empty values without a trigger.
Variables TriggerValues(const std::optional<RunTrigger>& trigger) {
  if (!trigger) {
    return {{"trigger.run_id", ""}, {"trigger.state", ""}, {"trigger.fire_time", ""}};
  }
  return {{"trigger.run_id", EncodeRunId(trigger->run)},
          {"trigger.state", std::string(Name(trigger->state))},
          {"trigger.fire_time", FormatRfc3339(trigger->run.fire)}};
}

// The values of the built-in placeholders, from the variables with the same meaning.
Variables BuiltIns(const Variables& carillon, const std::optional<RunTrigger>& trigger) {
  Variables values{{"fire_time", carillon.at("CARILLON_FIRE_TIME")},
                   {"run_id", carillon.at("CARILLON_RUN_ID")},
                   {"job_id", carillon.at("CARILLON_JOB_ID")},
                   {"attempt", carillon.at("CARILLON_ATTEMPT")},
                   {"shard_index", carillon.at("CARILLON_SHARD_INDEX")},
                   {"shard_total", carillon.at("CARILLON_SHARD_TOTAL")}};
  values.merge(TriggerValues(trigger));
  return values;
}

// `env` is null if {{env.…}} is not allowed.
Result<std::string> ValueOf(std::string_view name, const Variables& built_ins,
                            const AttemptFacts& facts, const Variables* env) {
  if (const auto found = built_ins.find(std::string(name)); found != built_ins.end()) {
    return found->second;
  }
  if (IsFireDate(name)) {
    CARILLON_ASSIGN_OR_RETURN(const FireDate date, ParseFireDate(name));
    return FormatFireDate(date, facts.key.fire, facts.time_zone);
  }
  const Parameters& parameters = facts.parameters;
  if (name.starts_with(kParameterPrefix)) {
    const auto found = parameters.find(std::string(name.substr(kParameterPrefix.size())));
    if (found != parameters.end()) return ParameterText(found->second);
    return Invalid(fmt::format("'{}' has no value: neither the job nor this run sets it",
                               name.substr(0, kPlaceholderShownMax)));
  }
  if (env != nullptr && name.starts_with(kEnvPrefix)) {
    const auto found = env->find(std::string(name.substr(kEnvPrefix.size())));
    if (found != env->end()) return found->second;
  }
  return UnknownName(name);
}

using Place = TemplatePlace;

Status CheckSecret(std::string_view name, Place place) {
  if (!IsSecretName(SecretName(name))) return UnknownName(name);
  if (place == Place::kVariable) return {};
  if (place == Place::kPlain || place == Place::kTotal) {
    return Invalid(fmt::format("'{}' is not allowed here", name.substr(0, kPlaceholderShownMax)));
  }
  if (place == Place::kUrl) {
    return Invalid(
        fmt::format("'{}' is allowed in headers and the body only, because URLs are "
                    "stored and logged",
                    name.substr(0, kPlaceholderShownMax)));
  }
  return Invalid(
      fmt::format("'{}' is allowed in `env` only, because commands are stored and visible in "
                  "process lists; set a variable there and write \"$VARIABLE\" here",
                  name.substr(0, kPlaceholderShownMax)));
}

bool EachScheduleSets(const JobDefinition& job, const std::string& parameter) {
  return std::all_of(job.schedules.begin(), job.schedules.end(), [&](const ScheduleSpec& schedule) {
    return schedule.parameters.contains(parameter);
  });
}

// Checks a placeholder as far as the definition alone allows.
Status CheckPlaceholder(const JobDefinition& job, std::string_view name, Place place) {
  static const Variables known = BuiltIns(CarillonVariables({}), std::nullopt);
  if (known.contains(std::string(name))) return {};
  if (IsFireDate(name)) {
    CARILLON_TRY(ParseFireDate(name));
    return {};
  }
  if (name.starts_with(kParameterPrefix)) {
    const std::string parameter(name.substr(kParameterPrefix.size()));
    if (!IsVariableName(parameter)) return UnknownName(name);
    if (job.parameters.contains(parameter) || EachScheduleSets(job, parameter)) return {};
    // ValidateParameterRules reports a schedule without it.
    const auto rule = job.parameter_rules.find(parameter);
    if (rule != job.parameter_rules.end() && rule->second.required) return {};
    return Invalid(fmt::format("'{}' has no default, and a scheduled run does not set it", name));
  }
  if (name.starts_with(kSecretPrefix)) return CheckSecret(name, place);
  if (place == Place::kCommand && name.starts_with(kEnvPrefix)) {
    const auto variable = job.env.find(std::string(name.substr(kEnvPrefix.size())));
    if (variable == job.env.end()) return UnknownName(name);
    if (!HasSecret(variable->second)) return {};
    return Invalid(
        fmt::format("'{}' contains a secret, and commands are visible in process lists; let the "
                    "shell expand it: \"${}\"",
                    name.substr(0, kPlaceholderShownMax), variable->first));
  }
  return UnknownName(name);
}

Status CheckTemplate(const JobDefinition& job, const JobTemplate& one) {
  Status status;
  if (one.place == Place::kTotal && !one.text.empty()) status = CheckTotal(job, one.text);
  if (status.ok()) {
    status = Scan(one.text, kSkipText,
                  [&](std::string_view name) { return CheckPlaceholder(job, name, one.place); });
  }
  if (status.ok()) return {};
  return Error{ErrorCode::kInvalid, status.error().message, one.pointer};
}

}  // namespace

Parameters MergeParameters(Parameters defaults, const Parameters& given) {
  for (const auto& [name, value] : given) defaults[name] = value;
  return defaults;
}

Parameters FillTrigger(Parameters parameters, const RunTrigger& trigger) {
  const Variables values = TriggerValues(trigger);
  // The run has them itself, or was started without: the placeholder is no value.
  std::erase_if(parameters, [](const auto& one) { return AsksForOutputs(one.second); });
  for (auto& [name, value] : parameters) {
    auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) continue;
    std::string filled;
    std::string_view left = *text;
    while (!left.empty()) {
      const size_t open = left.find(kOpen);
      filled += left.substr(0, open);
      if (open == std::string_view::npos) break;
      left.remove_prefix(open);
      const size_t close = left.find(kClose, kOpen.size());
      const auto found =
          close == std::string_view::npos
              ? values.end()
              : values.find(std::string(Trimmed(left.substr(kOpen.size(), close - kOpen.size()))));
      const bool known = found != values.end();
      filled += known ? std::string_view(found->second) : left.substr(0, 1);
      left.remove_prefix(known ? close + kClose.size() : 1);
    }
    *text = std::move(filled);
  }
  return parameters;
}

std::string ParameterText(const ParameterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  return fmt::format("{}", std::get<double>(value));
}

std::map<std::string, std::string> CarillonVariables(const AttemptFacts& facts) {
  Variables variables{{"CARILLON_RUN_ID", EncodeRunId(facts.key)},
                      {"CARILLON_JOB_ID", facts.job_id.value()},
                      {"CARILLON_FIRE_TIME", FormatRfc3339(facts.key.fire)},
                      {"CARILLON_ATTEMPT", std::to_string(facts.attempt)},
                      {"CARILLON_SHARD_INDEX", std::to_string(ShardIndexOf(facts.key))},
                      {"CARILLON_SHARD_TOTAL", std::to_string(facts.shard_total)},
                      {"CARILLON_TIME_ZONE", facts.time_zone}};
  if (!facts.node.empty()) variables["CARILLON_NODE"] = facts.node;
  // A process that does not ask for the date is not refused because the zone is not known here. An
  // empty value would name the parent of the directory that one which does ask is to remove.
  const auto date = FormatFireDate({}, facts.key.fire, facts.time_zone);
  variables["CARILLON_FIRE_DATE"] = date.ok() ? *date : "unknown";
  for (const auto& [name, value] : facts.parameters) {
    variables["CARILLON_PARAM_" + AsciiUpper(name)] = ParameterText(value);
  }
  return variables;
}

Result<RenderedAttempt> RenderAttempt(const JobDefinition& job, const AttemptFacts& facts) {
  const Variables carillon = CarillonVariables(facts);
  const Variables built_ins = BuiltIns(carillon, facts.trigger);
  RenderedAttempt attempt;
  Room room;
  const auto lookup_in = [&](const Variables* env) {
    return [&, env](std::string_view name) { return ValueOf(name, built_ins, facts, env); };
  };
  attempt.env["PATH"] = kStatedPath;
  for (const auto& [name, value] : job.env) {
    if (HasSecret(value)) {
      CARILLON_TRY(RenderPieces(value, lookup_in(nullptr), room, attempt.secret_env[name]));
      attempt.env.erase(name);
      continue;
    }
    std::string rendered;
    CARILLON_TRY(Render(value, lookup_in(nullptr), room, rendered));
    attempt.env[name] = std::move(rendered);
  }
  if (job.http) {
    // A request has no process, and so no environment.
    CARILLON_ASSIGN_OR_RETURN(attempt.http, RenderHttp(*job.http, facts));
    attempt.env.clear();
    attempt.secret_env.clear();
    return attempt;
  }
  if (!job.handler.empty()) {
    // The function runs in a process that is there already; only the job's own variables are sent
    // to it.
    if (!job.env.contains("PATH")) attempt.env.erase("PATH");
    return attempt;
  }
  if (job.container) {
    attempt.container = job.container;
    for (auto* texts : {&attempt.container->command, &attempt.container->args}) {
      for (std::string& text : *texts) {
        std::string rendered;
        CARILLON_TRY(Render(text, lookup_in(&attempt.env), room, rendered));
        text = std::move(rendered);
      }
    }
    // The image has a PATH of its own.
    if (!job.env.contains("PATH")) attempt.env.erase("PATH");
  } else if (job.script) {
    attempt.command = job.script->body;
    CARILLON_TRY(room.Take(attempt.command.size()));
    for (const std::string& arg : job.script->args) {
      CARILLON_TRY(Render(arg, lookup_in(&attempt.env), room, attempt.args.emplace_back()));
    }
  } else {
    CARILLON_TRY(Render(job.command, lookup_in(&attempt.env), room, attempt.command));
  }
  for (const auto& [name, value] : carillon) {
    attempt.env[name] = value;
    attempt.secret_env.erase(name);
  }
  return attempt;
}

Status ValidateTemplates(const JobDefinition& job) {
  for (const JobTemplate& one : TemplatesOf(job)) CARILLON_TRY(CheckTemplate(job, one));
  CARILLON_TRY(CheckDates(job.parameters, "/parameters"));
  for (size_t i = 0; i < job.schedules.size(); ++i) {
    CARILLON_TRY(
        CheckDates(job.schedules[i].parameters, fmt::format("/schedules/{}/parameters", i)));
  }
  if (SecretsOf(job).size() <= kJobSecretsMax) return {};
  return Error{ErrorCode::kInvalid, fmt::format("names more than {} secrets", kJobSecretsMax),
               job.http ? "/http/headers" : "/env"};
}

std::map<std::string, std::string> SecretsOf(const JobDefinition& job) {
  std::map<std::string, std::string> variables;
  if (RunnerOf(job.type) == Runner::kNoop) return variables;
  const auto look = [&](const std::string& used_in, std::string_view value) {
    const auto note = [&](std::string_view name) {
      const std::string_view secret = SecretName(name);
      if (!secret.empty()) variables.try_emplace(std::string(secret), used_in);
      return Status();
    };
    // Malformed templates were rejected when the job was written.
    static_cast<void>(Scan(value, kSkipText, note).ok());
  };
  for (const auto& [variable, value] : job.env) look(variable, value);
  if (job.http) {
    for (const auto& [name, value] : job.http->headers) look(name, value);
    look("body", job.http->body);
    look("client_certificate", job.http->client_certificate);
  }
  return variables;
}

bool MentionsSecret(std::string_view text) { return HasSecret(text); }

// ---- template_text.h ---------------------------------------------------------------------------

Status ScanTemplate(std::string_view text, const TemplateTextFn& on_text,
                    const TemplateNameFn& on_name) {
  return Scan(text, on_text, on_name);
}

std::string EscapeTemplate(std::string_view text) {
  std::string escaped;
  size_t open = 0;  // {{ that are not closed yet
  while (!text.empty()) {
    size_t taken = 1;
    if (text.starts_with(kOpen)) {
      escaped += kLiteralOpen;
      ++open;
      taken = kOpen.size();
    } else if (open > 0 && text.starts_with(kClose)) {
      // Four braces would be read as two.
      escaped += text.starts_with(kLiteralClose) ? kLiteralClose : kClose;
      --open;
      taken = kClose.size();
    } else {
      escaped += text.front();
    }
    text.remove_prefix(taken);
  }
  return escaped;
}

TemplateValues::TemplateValues(const AttemptFacts& facts)
    : built_ins_(BuiltIns(CarillonVariables(facts), facts.trigger)), facts_(facts) {}

Result<std::string> TemplateValues::Find(std::string_view name) const {
  return ValueOf(name, built_ins_, facts_, nullptr);
}

Result<std::string> RenderPlain(std::string_view text, const AttemptFacts& facts) {
  const TemplateValues values(facts);
  std::string rendered;
  Room room;
  CARILLON_TRY(Render(
      text, [&](std::string_view name) { return values.Find(name); }, room, rendered));
  return rendered;
}

std::string_view SecretPlaceholder(std::string_view name) { return SecretName(name); }

Error TemplateError(std::string why) { return Invalid(std::move(why)); }

}  // namespace carillon
