// Renders the placeholders of a job's command, arguments and variables for one attempt, and builds
// the environment of its process. Pure.
//
// Place    Before step 6 of docs/life-of-a-run.md: a task carries the rendered command.
// Errors   kInvalid: a placeholder is unknown, has no value or is not closed (the message names
//          it), or the result is above kRenderedBytesMax.
//
// {{fire_time}} {{run_id}} {{job_id}} {{attempt}} {{shard_index}} {{shard_total}} {{params.NAME}}
// {{env.NAME}} {{trigger.run_id}} {{trigger.state}} {{trigger.fire_time}}, and {{fire_date}} and
// {{fire_time.local}} (fire_date.h); blanks inside the braces are allowed. {{{{ stands for a
// literal {{. Values are inserted unchanged, without quoting: docs/schedules.md
// shows the safe way ("$CARILLON_PARAM_NAME"); http_template.h says how a request
// escapes them. {{secrets.NAME}} is allowed in variables, and in headers and the body of a request,
// only, because every process of the host can see a command. The placeholder of a secret is not
// rendered here but kept as a piece of the variable's value (secret_text.h).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/domain/job/http_request.h"
#include "common/domain/job/job.h"
#include "common/domain/run/run.h"
#include "common/domain/run_id.h"
#include "common/domain/secret_text.h"

namespace carillon {

// The placeholders of the trigger are empty in a run that no other run has started.

// Limit of the command and all variables of one attempt together.
inline constexpr size_t kRenderedBytesMax = 1u << 20;

// The PATH of a process whose job does not set one.
inline constexpr std::string_view kStatedPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

using Parameters = std::map<std::string, ParameterValue>;

// Returns the job's parameters, overridden by those of the schedule or the execute request
// (`given`).
Parameters MergeParameters(Parameters defaults, const Parameters& given);
// Fills the placeholders of the trigger in texts; all else stays as it is. For the parameters of a
// schedule whose runs another job's run starts.
Parameters FillTrigger(Parameters parameters, const RunTrigger& trigger);
// Returns a value as text for commands and the environment: numbers in their shortest form,
// booleans as true and false.
std::string ParameterText(const ParameterValue& value);

// The values of the placeholders.
struct AttemptFacts {
  RunKey key;
  JobId job_id;
  int attempt = 1;
  uint32_t shard_total = 1;
  std::string time_zone = "UTC";  // of the run: FireZone (fire_zone.h), or the one kept with it
  Parameters parameters = {};     // the result of MergeParameters
  std::optional<RunTrigger> trigger = {};
  std::string node = {};  // the id of the workflow's node; empty: it is no node's
};

// A command and environment without placeholders, except for secrets.
struct RenderedAttempt {
  std::string command;                 // of a script: its text as it is
  std::vector<std::string> args = {};  // of a script
  // The environment of the process: PATH, the job's own variables, CARILLON_*.
  std::map<std::string, std::string> env;
  // The job's variables that contain secrets. They are not in `env`.
  SecretVariables secret_env = {};
  std::optional<HttpCall> http = {};                  // of an http job, which has nothing else
  std::optional<ContainerDefinition> container = {};  // of a container job
};
Result<RenderedAttempt> RenderAttempt(const JobDefinition& job, const AttemptFacts& facts);

// The variables that Carillon sets: CARILLON_RUN_ID, CARILLON_PARAM_<NAME>, …
std::map<std::string, std::string> CarillonVariables(const AttemptFacts& facts);

// Checks what is known before a run: every placeholder of the command, the arguments and the
// variables must have a known name. In a job with schedules, each parameter needs a default, or a
// value in every schedule; in other jobs the execute request may give its value. A variable's value
// may not contain {{env.…}}, and the command may not use a variable that contains a secret. Does
// not check that secrets exist. The pointer of an error is "/command", "/script/args/N",
// "/env/NAME", one below "/container" or one below "/http".
Status ValidateTemplates(const JobDefinition& job);

// Fills a template that may have neither variables nor secrets. kInvalid: as RenderAttempt.
Result<std::string> RenderPlain(std::string_view text, const AttemptFacts& facts);

// Returns the names of the secrets that the job uses, each with one variable, or header of a
// request, that uses the secret. The job's runs receive these secrets. The definition must be
// valid. Empty for a job without a process.
std::map<std::string, std::string> SecretsOf(const JobDefinition& job);
// True if text outside a template looks like a placeholder for a secret.
bool MentionsSecret(std::string_view text);

}  // namespace carillon
