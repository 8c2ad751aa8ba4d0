#include "executor/tasks/start_orders.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "common/domain/template/template.h"
#include "common/domain/trace.h"

namespace carillon::executor {
namespace {

// A host that has lost the interpreter since it registered cannot start the script, and says so.
StartAttempt::Script ScriptOf(const TaskMessage& task, const Interpreters& interpreters) {
  const Interpreter interpreter = *task.interpreter;
  const auto found = interpreters.find(interpreter);
  return {
      .interpreter = found != interpreters.end() ? found->second : std::string(Name(interpreter)),
      .suffix = std::string(SuffixOf(interpreter)),
      .args = task.args};
}

bool HasSecret(const SecretText& pieces) {
  return std::any_of(pieces.begin(), pieces.end(),
                     [](const SecretPiece& piece) { return !piece.secret.empty(); });
}

}  // namespace

StartAttempt StartOf(const TaskMessage& task, const HeldAttempt& held, SteadyTime lease_end,
                     const ProcessDefaults& defaults, const FilledSecrets& secrets) {
  StartAttempt start;
  start.attempt = held;
  start.command = task.command;
  if (!task.container) start.env = defaults.env;  // the image has its own
  for (const auto& [name, value] : task.env) {
    // The stated PATH is no choice of the job, and that of this host begins with it.
    const bool stated = name == "PATH" && value == kStatedPath && start.env.contains(name);
    if (!stated) start.env[name] = value;
  }
  for (const auto& [name, value] : secrets.filled) start.env[name] = value;
  start.env["CARILLON_RUN_ID"] = EncodeRunId(task.key);
  start.env["CARILLON_JOB_ID"] = task.job_id.value();
  start.env["CARILLON_FIRE_TIME"] = FormatRfc3339(task.key.fire);
  start.env["CARILLON_ATTEMPT"] = fmt::format("{}", task.attempt);
  start.env["CARILLON_SHARD_INDEX"] = fmt::format("{}", ShardIndexOf(task.key));
  start.env["CARILLON_SHARD_TOTAL"] = fmt::format("{}", task.shard_total);
  for (const auto& [name, value] : defaults.files) start.env[name] = value;
  const std::string trace_id = TraceIdOf(task.key, task.trace_id);
  start.env["CARILLON_TRACE_ID"] = trace_id;
  // Set only if absent: TRACEPARENT is a standard name, which a job may set itself.
  start.env.emplace("TRACEPARENT", TraceParentOf(trace_id, task.key, task.attempt));
  start.timeout = std::chrono::seconds(task.timeout_s);
  start.kill_grace = std::chrono::seconds(task.kill_grace_s);
  start.lease_end = lease_end;
  start.kill_at_lease_end = task.on_lost == OnLost::kRetry;
  start.output_bytes_max = defaults.output_bytes_max;
  start.job_id = task.job_id;
  start.masked = secrets.masked;
  start.limits = task.limits;
  start.output_encoding = task.output_encoding;
  if (task.container) {
    start.container =
        StartAttempt::Container{.engine = defaults.container_engine, .definition = *task.container};
  }
  if (task.interpreter) start.script = ScriptOf(task, defaults.interpreters);
  return start;
}

std::map<std::string, std::string> VariablesOf(const ProcessUser& user) {
  std::map<std::string, std::string> variables{{"USER", user.name}, {"LOGNAME", user.name}};
  if (!user.home.empty()) variables.emplace("HOME", user.home);
  return variables;
}

Status SetWorkingDirectory(const TaskMessage& task, StartAttempt& start) {
  if (task.working_directory.empty()) return {};
  const auto home = start.env.find("HOME");
  CARILLON_ASSIGN_OR_RETURN(
      start.working_directory,
      PathOfWorkingDirectory(task.working_directory,
                             home == start.env.end() ? std::string_view() : home->second));
  return {};
}

Result<StartHttp> HttpOf(const TaskMessage& task, const HeldAttempt& held, SteadyTime lease_end,
                         size_t output_bytes_max, const SecretValues& values) {
  CARILLON_CHECK(task.http.has_value(), "an http task has a request");
  const HttpCall& call = *task.http;
  StartHttp start{.attempt = held,
                  .job_id = task.job_id,
                  .method = call.method,
                  .url = call.url,
                  .expect = call.expect,
                  .follow = call.follow,
                  .connect_timeout = std::chrono::seconds(call.connect_timeout_s),
                  .tls_verify = call.tls_verify,
                  .poll = call.poll,
                  .timeout = std::chrono::seconds(task.timeout_s),
                  .lease_end = lease_end,
                  .close_at_lease_end = task.on_lost == OnLost::kRetry,
                  .output_bytes_max = output_bytes_max};
  CARILLON_ASSIGN_OR_RETURN(start.headers, FillSecrets(call.headers, values));
  for (const auto& [name, pieces] : call.headers) {
    if (HasSecret(pieces)) start.secret_headers.insert(name);
  }
  const BodyFormat format = BodyFormatOf(carillon::ContentTypeOf(start.headers));
  CARILLON_ASSIGN_OR_RETURN(start.body,
                            FillSecretText(call.body, values, [format](std::string_view value) {
                              return EscapeFor(format, value);
                            }));
  start.secret_body = HasSecret(call.body);
  CARILLON_ASSIGN_OR_RETURN(start.client_certificate,
                            FillSecretText(call.client_certificate, values));
  std::set<std::string> names = SecretsIn(call.headers);
  names.merge(SecretsIn({{"client_certificate", call.client_certificate}}));
  names.merge(SecretsIn({{"body", call.body}}));
  for (const std::string& name : names) start.masked.push_back(values.at(name));
  return start;
}

StartHandler HandlerOf(const TaskMessage& task, const HeldAttempt& held, SteadyTime lease_end,
                       const FilledSecrets& secrets) {
  CARILLON_CHECK(task.handler.has_value(), "a handler task has a handler");
  StartHandler start{.attempt = held,
                     .job_id = task.job_id,
                     .handler = task.handler->name,
                     .parameters_json = task.handler->parameters_json,
                     .env = task.env,
                     .shard_total = task.shard_total,
                     .trace_id = TraceIdOf(task.key, task.trace_id),
                     .timeout = std::chrono::seconds(task.timeout_s),
                     .lease_end = lease_end,
                     .masked = secrets.masked};
  for (const auto& [name, value] : secrets.filled) start.env[name] = value;
  return start;
}

Result<FilledSecrets> FillSecretsOf(const TaskMessage& task, const SecretValues& values) {
  FilledSecrets secrets;
  CARILLON_ASSIGN_OR_RETURN(secrets.filled, FillSecrets(task.secret_env, values));
  for (const std::string& name : SecretsIn(task.secret_env)) {
    secrets.masked.push_back(values.at(name));
  }
  return secrets;
}

}  // namespace carillon::executor
