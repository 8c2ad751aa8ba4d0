#include "common/domain/template.h"

#include <fmt/format.h>

#include <functional>

#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr std::string_view kOpen = "{{";
constexpr std::string_view kClose = "}}";
constexpr std::string_view kLiteralOpen = "{{{{";
constexpr std::string_view kParameterPrefix = "params.";
constexpr std::string_view kEnvPrefix = "env.";
constexpr size_t kNameShownMax = 80;

using Variables = std::map<std::string, std::string>;
// The value of a placeholder; kInvalid where it has none.
using LookupFn = std::function<Result<std::string>(std::string_view name)>;

Error Invalid(std::string why) { return {ErrorCode::kInvalid, "template: " + std::move(why)}; }

Error UnknownName(std::string_view name) {
  return Invalid(fmt::format("'{}' is not known; write {{{{{{{{ for a literal {{{{",
                             name.substr(0, kNameShownMax)));
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Appends `text` with its placeholders filled to `out`, which may not grow above `bytes_max`.
Status Render(std::string_view text, const LookupFn& lookup, size_t bytes_max, std::string& out) {
  const size_t whole = text.size();
  while (!text.empty()) {
    const size_t open = text.find(kOpen);
    out += text.substr(0, open);
    if (open != std::string_view::npos) {
      text.remove_prefix(open);
      if (text.starts_with(kLiteralOpen)) {
        out += kOpen;
        text.remove_prefix(kLiteralOpen.size());
      } else {
        const size_t close = text.find(kClose, kOpen.size());
        if (close == std::string_view::npos) {
          return Invalid(
              fmt::format("the {{{{ at byte {} is not closed; write {{{{{{{{ for a "
                          "literal {{{{",
                          whole - text.size() + 1));
        }
        const auto inside = text.substr(kOpen.size(), close - kOpen.size());
        CARILLON_ASSIGN_OR_RETURN(const std::string value, lookup(Trimmed(inside)));
        out += value;
        text.remove_prefix(close + kClose.size());
      }
    } else {
      text = {};
    }
    if (out.size() > bytes_max) {
      return Invalid(fmt::format("the result has more than {} bytes", bytes_max));
    }
  }
  return {};
}

// The placeholders that every attempt has, by name, from the variables of the same meaning.
Variables BuiltIns(const Variables& carillon) {
  return {{"fire_time", carillon.at("CARILLON_FIRE_TIME")},
          {"run_id", carillon.at("CARILLON_RUN_ID")},
          {"job_id", carillon.at("CARILLON_JOB_ID")},
          {"attempt", carillon.at("CARILLON_ATTEMPT")},
          {"shard_index", carillon.at("CARILLON_SHARD_INDEX")},
          {"shard_total", carillon.at("CARILLON_SHARD_TOTAL")}};
}

// `env` is null where {{env.…}} is not allowed.
Result<std::string> ValueOf(std::string_view name, const Variables& built_ins,
                            const Parameters& parameters, const Variables* env) {
  if (const auto found = built_ins.find(std::string(name)); found != built_ins.end()) {
    return found->second;
  }
  if (name.starts_with(kParameterPrefix)) {
    const auto found = parameters.find(std::string(name.substr(kParameterPrefix.size())));
    if (found != parameters.end()) return ParameterText(found->second);
    return Invalid(fmt::format("'{}' has no value: neither the job nor this run gives it",
                               name.substr(0, kNameShownMax)));
  }
  if (env != nullptr && name.starts_with(kEnvPrefix)) {
    const auto found = env->find(std::string(name.substr(kEnvPrefix.size())));
    if (found != env->end()) return found->second;
  }
  return UnknownName(name);
}

// A placeholder as far as the definition alone tells.
Status CheckPlaceholder(const JobDefinition& job, std::string_view name, bool env_allowed) {
  static const Variables known = BuiltIns(CarillonVariables({}));
  if (known.contains(std::string(name))) return {};
  if (name.starts_with(kParameterPrefix)) {
    const std::string parameter(name.substr(kParameterPrefix.size()));
    if (!IsVariableName(parameter)) return UnknownName(name);
    if (job.schedules.empty() || job.parameters.contains(parameter)) return {};
    return Invalid(fmt::format("'{}' has no default, and a schedule gives none", name));
  }
  if (env_allowed && name.starts_with(kEnvPrefix) &&
      job.env.contains(std::string(name.substr(kEnvPrefix.size())))) {
    return {};
  }
  return UnknownName(name);
}

Status CheckTemplate(const JobDefinition& job, std::string_view text, bool env_allowed,
                     std::string pointer) {
  const LookupFn check = [&](std::string_view name) -> Result<std::string> {
    CARILLON_TRY(CheckPlaceholder(job, name, env_allowed));
    return std::string();
  };
  std::string rendered;
  const Status status = Render(text, check, kRenderedBytesMax, rendered);
  if (status.ok()) return {};
  return Error{ErrorCode::kInvalid, status.error().message, std::move(pointer)};
}

}  // namespace

Parameters MergeParameters(Parameters defaults, const Parameters& given) {
  for (const auto& [name, value] : given) defaults[name] = value;
  return defaults;
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
                      {"CARILLON_SHARD_INDEX", std::to_string(facts.key.shard)},
                      {"CARILLON_SHARD_TOTAL", std::to_string(facts.shard_total)}};
  for (const auto& [name, value] : facts.parameters) {
    variables["CARILLON_PARAM_" + AsciiUpper(name)] = ParameterText(value);
  }
  return variables;
}

Result<RenderedAttempt> RenderAttempt(const JobDefinition& job, const AttemptFacts& facts) {
  const Variables carillon = CarillonVariables(facts);
  const Variables built_ins = BuiltIns(carillon);
  RenderedAttempt attempt;
  size_t left = kRenderedBytesMax;
  const auto render = [&](std::string_view text, const Variables* env, std::string& out) {
    const LookupFn lookup = [&](std::string_view name) {
      return ValueOf(name, built_ins, facts.parameters, env);
    };
    Status status = Render(text, lookup, left, out);
    if (status.ok()) left -= out.size();
    return status;
  };
  attempt.env["PATH"] = kStatedPath;
  for (const auto& [name, value] : job.env) {
    std::string rendered;
    CARILLON_TRY(render(value, nullptr, rendered));
    attempt.env[name] = std::move(rendered);
  }
  CARILLON_TRY(render(job.command, &attempt.env, attempt.command));
  for (const auto& [name, value] : carillon) attempt.env[name] = value;
  return attempt;
}

Status ValidateTemplates(const JobDefinition& job) {
  CARILLON_TRY(CheckTemplate(job, job.command, true, "/command"));
  for (const auto& [name, value] : job.env) {
    CARILLON_TRY(CheckTemplate(job, value, false, "/env/" + EscapePointer(name)));
  }
  return {};
}

}  // namespace carillon
