// Table of the job types that an executor runs. A new type is one row in task_kinds.cc.
//
// Place    Step 8 of docs/life-of-a-run.md.
// Threads  Stateless.
#pragma once

#include <map>
#include <string>

#include "common/ports/executor_host.h"
#include "common/wire/task_codec.h"

namespace carillon::executor {

struct TaskKind {
  JobType type;
  // Runs inside the daemon: no process, no warden, a light slot.
  bool in_process = false;
  // in_process: does all of it, at once.
  AttemptResult (*run)(const TaskMessage& task, WallTime now) = nullptr;
};

const TaskKind& KindOf(JobType type);

struct ProcessDefaults {
  std::map<std::string, std::string> env;  // what a process gets unless its job says otherwise
  size_t output_bytes_max = 64u << 10;
};
// What the warden is asked to run. The environment is the defaults, over them the task's own, over
// those the names that Carillon promises (docs/executor.md: CARILLON_RUN_ID and others). `filled` are the
// task's variables with secrets in them, `masked` the values that its output must not show.
struct FilledSecrets {
  std::map<std::string, std::string> filled = {};
  std::vector<std::string> masked = {};
};
StartAttempt StartOf(const TaskMessage& task, const HeldAttempt& held, SteadyTime lease_end,
                     const ProcessDefaults& defaults, const FilledSecrets& secrets = {});
// Errors as FillSecrets (secret_text.h).
Result<FilledSecrets> FillSecretsOf(const TaskMessage& task, const SecretValues& values);

}  // namespace carillon::executor
