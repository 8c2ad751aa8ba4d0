// Fills the placeholders of a job's command and variables for one attempt, and makes the variables
// of its process. Pure.
//
// Place    Before step 6 of docs/life-of-a-run.md: a task carries the rendered command.
// Errors   kInvalid naming the placeholder that is unknown, has no value or is not closed, and when
//          the result is above kRenderedBytesMax.
//
// {{fire_time}} {{run_id}} {{job_id}} {{attempt}} {{shard_index}} {{shard_total}} {{params.NAME}}
// {{env.NAME}}, blanks inside the braces allowed. {{{{ stands for a literal {{. Values are put in
// as they are, without quoting: docs/schedules.md shows the safe way ("$CARILLON_PARAM_NAME").
// {{secrets.NAME}} stands in variables only: a command is seen by every process of the host. It is
// not filled here but left as a piece (secret_text.h).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/domain/job.h"
#include "common/domain/run_id.h"
#include "common/domain/secret_text.h"

namespace carillon {

// Of the command and all variables of one attempt together.
inline constexpr size_t kRenderedBytesMax = 1u << 20;

// The PATH of a process whose job sets none.
inline constexpr std::string_view kStatedPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

using Parameters = std::map<std::string, ParameterValue>;

// The job's parameters with those given at execute on top.
Parameters MergeParameters(Parameters defaults, const Parameters& given);
// As it appears in a command and in the environment: numbers in their shortest form, true, false.
std::string ParameterText(const ParameterValue& value);

// What the placeholders stand for.
struct AttemptFacts {
  RunKey key;
  JobId job_id;
  int attempt = 1;
  uint32_t shard_total = 1;
  Parameters parameters = {};  // merged
};

struct RenderedAttempt {
  std::string command;
  // The environment of the process: PATH, the job's own variables, CARILLON_*.
  std::map<std::string, std::string> env;
  // The rest of it: the job's variables that name secrets.
  SecretVariables secret_env = {};
};
Result<RenderedAttempt> RenderAttempt(const JobDefinition& job, const AttemptFacts& facts);

// Just the variables that Carillon sets: CARILLON_RUN_ID, CARILLON_PARAM_<NAME>, …
std::map<std::string, std::string> CarillonVariables(const AttemptFacts& facts);

// What can be known before a run: every placeholder of the command and the variables has a known
// name. A parameter may be left to execute, unless a schedule fires the job without one. The
// pointer is "/command" or "/env/NAME". A variable's value may not name {{env.…}}, and the command
// no variable that has a secret in it. Whether a secret exists is not known here.
Status ValidateTemplates(const JobDefinition& job);

// The secrets that a valid definition names, with a variable that names each: what its runs are
// handed. None of a job without a process.
std::map<std::string, std::string> SecretsOf(const JobDefinition& job);
// Whether a text that is no template looks as if it meant one of a secret.
bool MentionsSecret(std::string_view text);

}  // namespace carillon
