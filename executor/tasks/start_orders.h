// The start orders for the hosts of attempts, made of a task.
//
// Place    Step 8 of docs/life-of-a-run.md.
// Threads  Stateless.
#pragma once

#include <map>
#include <string>

#include "common/ports/executor_host.h"
#include "common/ports/handler_runner.h"
#include "common/ports/http_runner.h"
#include "common/wire/messages/task_codec.h"
#include "executor/tasks/interpreters.h"

namespace carillon::executor {

// The defaults of a process. The output limit is per stream.
struct ProcessDefaults {
  // Environment of a process; the job's own variables override it.
  std::map<std::string, std::string> env;
  size_t output_bytes_max = 64u << 10;
  Interpreters interpreters = {};
  std::string container_engine = {};  // absolute path of its command line
  // Variables that name the files of the attempt. Nothing overrides them.
  std::map<std::string, std::string> files = {};
};
// Values of secrets for one task.
struct FilledSecrets {
  // The task's variables that contain secrets, filled in, by name.
  std::map<std::string, std::string> filled = {};
  // The values that the output of the attempt must not show.
  std::vector<std::string> masked = {};
};
// Returns the start order for the warden. In its environment the task's variables override the
// defaults, and the variables that Carillon sets (CARILLON_RUN_ID and others, docs/executor.md)
// override both.
StartAttempt StartOf(const TaskMessage& task, const HeldAttempt& held, SteadyTime lease_end,
                     const ProcessDefaults& defaults, const FilledSecrets& secrets = {});
// HOME, USER and LOGNAME of a process of this user.
std::map<std::string, std::string> VariablesOf(const ProcessUser& user);
// Puts the absolute path of the task's working directory into the order, whose environment is
// complete. kInvalid: a sentence about a ~ that stands for nothing.
Status SetWorkingDirectory(const TaskMessage& task, StartAttempt& start);
// Returns the start order for the HTTP runner. Same errors as FillSecrets (secret_text.h).
Result<StartHttp> HttpOf(const TaskMessage& task, const HeldAttempt& held, SteadyTime lease_end,
                         size_t output_bytes_max, const SecretValues& values);
// Returns the order for the workers.
StartHandler HandlerOf(const TaskMessage& task, const HeldAttempt& held, SteadyTime lease_end,
                       const FilledSecrets& secrets);
// Same errors as FillSecrets (secret_text.h).
Result<FilledSecrets> FillSecretsOf(const TaskMessage& task, const SecretValues& values);

}  // namespace carillon::executor
