// The definition of a job: the validated input of its owner, with every default filled in.
//
// Place    docs/api.md. JSON form: common/wire/json/job/job_json.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/isolation.h"
#include "common/domain/job/container.h"
#include "common/domain/job/fan_out.h"
#include "common/domain/job/http_request.h"
#include "common/domain/job/script.h"
#include "common/domain/notice.h"
#include "common/domain/schedule/schedule_spec.h"
#include "common/domain/upstream/waits_for.h"
#include "common/domain/workflow/workflow_spec.h"

namespace carillon {

// kWorkflow: its run is no process; it runs other jobs, as the nodes of a graph. More in
// job_types.h.
enum class JobType { kShell, kNoop, kWorkflow, kScript, kHttp, kHandler, kContainer };
// Fate of a run that becomes due while `max_running` other runs of its job are active.
enum class OverlapPolicy {
  kAllow,              // it runs as well; the job has no limit
  kSkip,               // SKIPPED
  kQueueOne,           // it waits if no other run waits, else SKIPPED
  kQueueAll,           // it waits if fewer than `queue_max` runs wait, else SKIPPED
  kCancelPrevious,     // the active run is cancelled; of several that wait only the newest runs
  kTerminatePrevious,  // the same, but the active run is killed at once
};
enum class RetryBackoff { kFixed, kExponential };
// The effect on a run whose executor was lost: run again, fail, or wait for a person.
enum class OnLost { kRetry, kFail, kHold };
// The choice among the executors with free slots. kFirstHealthy: the lowest id. kWeighted: the
// lowest load of the host for its weight. kConsistentHash: by the routing key.
enum class Routing {
  kRoundRobin,
  kRandom,
  kLeastLoaded,
  kFirstHealthy,
  kWeighted,
  kConsistentHash
};

enum class ParameterType { kString, kInteger, kNumber, kBoolean };
// The values that a parameter may have. Checked where a run gets parameters of its own.
struct ParameterRule {
  ParameterType type = ParameterType::kString;
  std::string description = {};              // <= 1,000 bytes
  std::vector<ParameterValue> choices = {};  // of `type`, <= 100; none = any value
  bool required = false;                     // no default in `parameters`: it must be given

  bool operator==(const ParameterRule&) const = default;
};

// A job's definition, with the bounds that ValidateJob enforces.
struct JobDefinition {
  std::string name = {};  // 1-200 characters
  JobType type = JobType::kShell;
  std::string command = {};                           // shell: 1-65,536 bytes; others: empty;
                                                      // a template (template.h)
  std::optional<ScriptDefinition> script = {};        // of a script, and only there
  std::optional<HttpDefinition> http = {};            // of an http job, and only there
  std::optional<ContainerDefinition> container = {};  // of a container job, and only there
  std::string handler = {};                           // of a handler job: "app/name"; others: empty
  std::optional<WorkflowDefinition> workflow = {};    // of a workflow, and only there
  std::vector<ScheduleSpec> schedules = {};           // <= 32; none = manual only
  std::string time_zone = "UTC";                      // for schedules without a zone of their own
  int64_t timeout_s = 3600;       // 1-604,800; of a workflow: for all its nodes together
  int64_t kill_grace_s = 10;      // 0-3,600: from SIGTERM to SIGKILL
  int64_t queue_timeout_s = 0;    // 0 = none
  int64_t retry_count = 0;        // 0-100 tries after the first
  int64_t retry_interval_s = 60;  // 0-86,400
  RetryBackoff retry_backoff = RetryBackoff::kFixed;
  std::vector<int64_t> retry_intervals_s = {};  // waits between the attempts; the last one repeats
  std::vector<std::string> retry_on = {};       // retry_conditions.h; none = every failure
  std::vector<std::string> no_retry_on = {};
  OnLost on_lost = OnLost::kRetry;
  int64_t presume_dead_s = 0;        // 0-86,400, of a handler: a lost attempt is taken for dead
                                     // after so long, and runs again; 0 = never
  int64_t pause_after_failures = 0;  // 0-100 failed runs in a row pause it (streak.h); 0 = never
  int priority = 0;                  // 0-100, higher first
  bool enabled = true;
  MisfirePolicy misfire_policy = MisfirePolicy::kLatest;
  int64_t misfire_grace_s = 60;      // 0-86,400
  int64_t catch_up_window_s = 3600;  // 0-31,536,000; older fires are not run
  int64_t catch_up_max = 100;        // 1-10,000; maximum number of misfires that kAll runs
  OverlapPolicy overlap_policy = OverlapPolicy::kAllow;
  int64_t max_running = 1;  // 1-1,000 active runs; 1 with kAllow (where it limits nothing) and with
                            // the policies that end the previous run
  int64_t queue_max = 100;  // 1-10,000 waiting runs of kQueueAll
  std::vector<UpstreamWait> waits_for = {};  // waits_for.h; all of them must be met
  int64_t wait_limit_s = 0;                  // 60-604,800 with waits_for, else 0
  std::string concurrency_group = {};  // its running attempts share that group's limit; "" = none
  DstGap dst_gap = DstGap::kFire;
  DstRepeat dst_repeat = DstRepeat::kAuto;
  Routing routing = Routing::kRoundRobin;
  std::string routing_key = {};        // of kConsistentHash: a template; "" = the id of the job
  std::string executor_id = {};        // only this executor; "" = any that the selector allows
  std::string executor_selector = {};  // selector.h; "" = any executor
  std::optional<Shards> shards = {};   // fan_out.h; one of these two at most
  std::optional<Broadcast> broadcast = {};
  std::map<std::string, ParameterValue> parameters =
      {};                                       // names [A-Za-z_][A-Za-z0-9_]{0,62}, <= 100
  std::map<std::string, std::string> env = {};  // the same names, <= 100
  std::optional<Limits> limits = {};  // of shell, script and container jobs; of its processes
  std::string run_as = {};  // of shell and script jobs: IsUserName; "" = the executor's own user
  // Of shell and script jobs: "~", "~/…" or absolute; "" = a fresh one for each attempt.
  std::string working_directory = {};
  // Of shell, script and container jobs: IsCharset (common/base/charset.h), of both output streams;
  // "" = UTF-8.
  std::string output_encoding = {};
  std::map<std::string, std::string> labels = {};  // <= 32
  int64_t retention_days = 0;                      // 0 = as configured; shorter only, 1-3,650
  std::map<std::string, ParameterRule> parameter_rules = {};  // by name; what "Run now" asks for
  NotifyRules notify = {};             // which events of its runs are notified
  std::string description = {};        // <= 10,000 bytes
  std::string user_id = {};            // <= 64; "" = the caller
  std::string name_space = "default";  // IsNamespace; names are unique within it

  bool operator==(const JobDefinition&) const = default;
};

// Checks the bounds of every field, the cron text and the zone. kInvalid with the JSON pointer of
// the first invalid field.
Status ValidateJob(const JobDefinition& job);

// The default of a workflow's timeout_s.
inline constexpr int64_t kWorkflowTimeoutS = 86'400;

// Checks the parameters of an execute request or a schedule, without their job: at most 100, named
// as in JobDefinition, and no two names that differ only in case (both would set the same variable
// CARILLON_PARAM_…). Pointers begin with "/parameters".
Status ValidateParameters(const std::map<std::string, ParameterValue>& parameters);

// "[a-z0-9][a-z0-9_-]{0,62}"; kInvalid with pointer "/job_id" otherwise.
Status ValidateJobId(std::string_view text);

// True for [a-z0-9][a-z0-9_-]{0,62}
bool IsGroupName(std::string_view text);

// The parts of the name of a handler: [a-z0-9][a-z0-9_-]{0,62}, a slash, [a-z0-9][a-z0-9_.-]{0,62}
bool IsHandlerApp(std::string_view text);
bool IsHandlerName(std::string_view text);
bool IsFullHandlerName(std::string_view text);  // "app/name"

// True for [a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?
bool IsNamespace(std::string_view text);
inline constexpr std::string_view kDefaultNamespace = "default";
inline constexpr std::string_view kNamespaceRule =
    "must be 1 to 63 characters of a-z, 0-9 and -, neither beginning nor ending with -";

// True if runs of the job need a slot (common/domain/queue/overlap.h).
constexpr bool TakesSlots(OverlapPolicy policy) { return policy != OverlapPolicy::kAllow; }
// True if a new run makes Carillon cancel or kill the active one.
constexpr bool EndsPrevious(OverlapPolicy policy) {
  return policy == OverlapPolicy::kCancelPrevious || policy == OverlapPolicy::kTerminatePrevious;
}

// Stable lower-case names, and their parsers (schedule_spec.h).
std::string_view Name(JobType value);
std::string_view Name(OverlapPolicy value);
std::string_view Name(RetryBackoff value);
std::string_view Name(OnLost value);
std::string_view Name(Routing value);
template <>
Result<JobType> ParseName(std::string_view text);
template <>
Result<OverlapPolicy> ParseName(std::string_view text);
template <>
Result<RetryBackoff> ParseName(std::string_view text);
template <>
Result<OnLost> ParseName(std::string_view text);
template <>
Result<Routing> ParseName(std::string_view text);

}  // namespace carillon
