// A run (one fire, one shard), its states and its result.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/results/resource_usage.h"
#include "common/domain/run/outputs.h"
#include "common/domain/run/reasons.h"
#include "common/domain/run/saved_state.h"
#include "common/domain/run_id.h"

namespace carillon {

enum class JobType;  // job.h

// The table of transitions is docs/run-states.md; the code is run_state.h.
enum class RunState {
  kPending,
  kRunning,
  kHeld,  // outcome unknown, waits for a person; counts as running
  kCompleted,
  kFailed,
  kTimedOut,
  kCancelled,
  kLost,
  kSkipped,
};
std::string_view Name(RunState state);  // "PENDING", "TIMED_OUT", …
Result<RunState> ParseRunState(std::string_view text);
constexpr bool IsFinal(RunState state) {
  return state != RunState::kPending && state != RunState::kRunning && state != RunState::kHeld;
}

// The kind of schedule that made the run, or kManual (a user) or kBackfill (a user, for past
// fires). kAfter: the end of a run of another job. kWorkflow: a workflow, of which the run is a
// node. kShard: the own run of a fire, of which the run is a part (fan_out.h). The differences are
// listed in run_kind.h. kEvent: an event that matched a trigger.
enum class RunKind {
  kCron,
  kRate,
  kOnce,
  kManual,
  kDelay,
  kBackfill,
  kAfter,
  kWorkflow,
  kShard,
  kEvent,
};
inline constexpr std::array kRunKinds = {
    RunKind::kCron,     RunKind::kRate,  RunKind::kOnce,     RunKind::kManual, RunKind::kDelay,
    RunKind::kBackfill, RunKind::kAfter, RunKind::kWorkflow, RunKind::kShard,  RunKind::kEvent};
std::string_view Name(RunKind kind);  // "cron", "manual", …
Result<RunKind> ParseRunKind(std::string_view text);

// The way in which a cancelled run's processes are ended. A later request may only raise the mode.
enum class CancelMode {
  kGraceful,  // SIGTERM, the job's kill_grace, SIGKILL to the tree
  kKill,      // SIGKILL to the tree at once
};
std::string_view Name(CancelMode mode);  // "graceful", "kill"
Result<CancelMode> ParseCancelMode(std::string_view text);

// True if the last attempt was given up without a kill (on_lost hold or fail) and has not reported
// since: its process may still run.
bool MayStillRun(RunState state, std::string_view reason);

// Values of `due` that are no times: what a PENDING run waits for instead. Later than every time,
// so that a scan for due runs does not find them.
//
// kNever    Its job is paused. A resume makes the run due.
// kQueued   A slot of its job (overlap.h) or of its group (group.h). Admission makes the run due.
//           Exactly the queued runs are in the store's queues (queue_store.h).
// kBlocked  Upstream nodes of its workflow run (workflow_step.h). A step makes the run due.
// kAwaiting Runs of other jobs (upstream_wait.h). The owner's look, or a person, makes the run due;
//           a node becomes blocked.
// kUndecided A person (approval.h); kTimed: a time (node_wait.h). Of an open node without a
//           process. A step of its workflow run, or the person, ends it.
inline constexpr WallTime kQueued = kNever - 1s;
inline constexpr WallTime kBlocked = kNever - 2s;
inline constexpr WallTime kAwaiting = kNever - 3s;
inline constexpr WallTime kUndecided = kNever - 4s;
inline constexpr WallTime kTimed = kNever - 5s;
inline constexpr WallTime kTimesEnd = kTimed;  // the least of them; SQL bounds times by it
constexpr bool IsTime(WallTime due) { return due < kTimesEnd; }
// Of a node: no step has released it.
constexpr bool IsUnreleased(WallTime due) { return due == kBlocked || due == kAwaiting; }
// Of a node: it is open, and no executor will claim it.
constexpr bool IsOpenedNode(WallTime due) { return due == kUndecided || due == kTimed; }

// Bits of RunRow::flags, as stored.
namespace run_flag {
inline constexpr uint32_t kDelay = 1;        // its end makes the next fire of its schedule
inline constexpr uint32_t kDependents = 2;   // its end may start runs of other jobs (dependents.h)
inline constexpr uint32_t kNode = 4;         // of a workflow run, which goes on at its end
inline constexpr uint32_t kHasRequest = 8;   // parameters of its own are stored with it
inline constexpr uint32_t kBackground = 16;  // of a backfill: gives way to all other runs
inline constexpr uint32_t kAnew = 32;        // its workflow begins anew (workflow_begin.h)
// Others than the owner of its job stand behind it: their rights are asked at its claim
// (standing.h).
inline constexpr uint32_t kOnBehalf = 64;
// A person started the chain to which it belongs: its fire is no date for runs that wait for it.
inline constexpr uint32_t kByHand = 128;
inline constexpr uint32_t kReturns = 15 * 256;  // a number of four bits (returns.h)
inline constexpr uint32_t kParts = 4096;  // the own run of a fire that has begun: it has parts
inline constexpr uint32_t kPart = 8192;   // of an own run, which may have to end at its end
// Of a schedule's row only: its runs wait for runs of other jobs first (kAwaiting).
inline constexpr uint32_t kWaits = 16384;
inline constexpr uint32_t kRules = 32768;  // it has RunRow::rules
// HELD, and taken for dead at `due` (JobDefinition::presume_dead_s).
inline constexpr uint32_t kPresume = 65536;
// Any of these: something waits for its end.
inline constexpr uint32_t kAwaited = kDelay | kDependents | kNode | kPart;
}  // namespace run_flag

// The part of a run that decisions depend on (run_state.h): one row of job_runs, locked.
struct RunRow {
  RunKey key;
  JobNo job_no;
  SegmentId segment;
  RunKind kind = RunKind::kCron;
  RunState state = RunState::kPending;
  int attempt = 1;        // the current one, from 1
  WallTime due = kNever;  // PENDING: claimable from this time on; or a value above
  int priority = 0;
  int64_t def_version = 0;       // the version of the job that this run executes
  uint32_t shard_total = 1;      // the number of parts of its fire; key.shard is from 1 in a part
  ClaimToken claim_token = {};   // of the last claim; kept until the next one
  ExecutorId executor = {};      // of the last claim
  Incarnation incarnation = {};  // of that executor
  std::optional<CancelMode> cancel_requested = {};
  ExecutorId pinned_executor = {};  // restricts the run to this one; empty = any
  WallTime claimed = WallTime{};
  bool may_still_run = false;  // MayStillRun(state, reason)
  uint32_t flags = 0;          // run_flag
  // The concurrency group of whose slots its attempt holds one; 0 = none. Not 0 for a PENDING run:
  // an admission has reserved the slot.
  GroupNo group = {};
  std::string rules = {};  // ToText(RunRules), with run_flag::kRules (run_rules.h)

  bool operator==(const RunRow&) const = default;
};

// The end of one attempt, as its executor reports it: a result of docs/protocol.md.
struct AttemptResult {
  RunState state = RunState::kCompleted;  // COMPLETED FAILED TIMED_OUT CANCELLED LOST
  std::string reason = {};
  std::string error = {};  // a sentence by Carillon; empty = none
  std::optional<int> exit_code = {};
  WallTime started = WallTime{};  // zero = never started
  WallTime ended = WallTime{};
  std::string output = {};  // any bytes; limited by the executor
  bool output_truncated = false;
  Outputs outputs = {};                               // only if its process exited by itself
  std::optional<ResourceUsage> usage = {};            // nullopt: no process, or not known
  std::vector<std::string> limits_not_enforced = {};  // fields of its job's limits: "memory_mb", …
  std::optional<int> http_status = {};                // 100-599, of the last response to a request
  // The server or the function asked for this wait before the next attempt.
  std::optional<Duration> retry_after = {};
  std::string error_code = {};  // of a function's failure (retry_conditions.h); empty = none
  bool no_retry = false;        // the function asked for no further attempt
  bool saved = false;  // progress or a checkpoint of the run may be stored; not stored itself

  bool operator==(const AttemptResult&) const = default;
};

// The end of a run that started another one, of a job that waits for it.
struct RunTrigger {
  RunKey run;
  JobId job_id = {};  // of that run
  RunState state = RunState::kCompleted;

  bool operator==(const RunTrigger&) const = default;
};

// Of a node's run: the workflow run to which it belongs, and the id of the node in its definition.
struct NodeOrigin {
  RunKey workflow_run;
  std::string node = {};

  bool operator==(const NodeOrigin&) const = default;
};

// The parts of a request that are stored with its run: of a user, or of the end of another run.
struct RunRequest {
  std::string parameters_json = {};  // overrides (given_parameters.h); empty = none
  std::string trace_id = {};         // empty = derived from the run id
  std::optional<RunTrigger> trigger = {};
  std::string rules = {};  // RunRow::rules
  std::string node = {};   // NodeOrigin::node; empty: it is no node's

  bool operator==(const RunRequest&) const = default;
};

// One attempt of a run, earlier or last.
struct RunAttempt {
  int attempt = 1;
  RunState state = RunState::kFailed;
  ExecutorId executor = {};
  WallTime claimed = WallTime{};
  AttemptResult result = {};
};

// A complete run, as users see it (REST shape Run).
struct RunDetail {
  RunRow row;
  JobId job_id = {};
  std::string job_name = {};
  WallTime planned = WallTime{};
  AttemptResult result = {};         // of the current or last attempt; if it runs, only `started`
  std::string parameters_json = {};  // overrides of a manual run; empty = none
  std::string trace_id = {};         // of the execute request; empty = derived from the run id
  std::vector<RunAttempt> attempts = {};  // earlier ones, ascending; only in queries by id
  SavedState saved = {};                  // only in queries by id
  std::optional<RunTrigger> trigger = {};
  std::optional<NodeOrigin> node = {};
  WallTime until = WallTime{};   // of an open node: when it ends by itself; zero = never
  JobType job_type = JobType{};  // of its job now
  // Its day is gone, with attempts, logs and the runs of its nodes (Retention::keep_last).
  bool kept = false;
};

}  // namespace carillon
