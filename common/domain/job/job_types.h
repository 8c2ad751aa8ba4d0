// The table of job types. A new type is one row here, its start order in
// executor/tasks/start_orders.cc, the check of its fields in job.cc, and its form in the console.
#pragma once

#include "common/domain/features.h"
#include "common/domain/job/job.h"

namespace carillon {

// The part of Carillon that carries out the runs of a job type.
enum class Runner {
  kWarden,     // a process on an executor's host
  kNoop,       // nothing: the executor's daemon answers at once
  kHttp,       // a request of the executor's daemon, without a process
  kWorker,     // a function of a program that is attached to the executor
  kScheduler,  // no executor: the scheduler runs the nodes of a workflow
};
Runner RunnerOf(JobType type);
// False: its runs need no process slot.
inline bool StartsProcess(JobType type) { return RunnerOf(type) == Runner::kWarden; }

// A job's own code tells values that conditions and later nodes of a workflow can use. Nothing
// tells any of a request, of nothing, and of a workflow, whose nodes keep theirs.
inline bool MayHaveOutputs(JobType type) {
  return RunnerOf(type) == Runner::kWarden || RunnerOf(type) == Runner::kWorker;
}
// Runs of other types have no exit code, whatever their state.
inline bool MayHaveExitCode(JobType type) {
  return RunnerOf(type) == Runner::kWarden || RunnerOf(type) == Runner::kNoop;
}

// The features that an executor must have to run the job.
Features NeedsOf(const JobDefinition& job);

// True if nobody but the job's own code can end an attempt: at the end of its lease it may
// still run.
inline bool IsCooperative(JobType type) { return RunnerOf(type) == Runner::kWorker; }

}  // namespace carillon
