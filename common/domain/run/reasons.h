// Stable codes of the reason for which a run is in its state.
//
// Place    Column `reason` of job_runs; docs/run-states.md.
#pragma once

#include <string_view>

namespace carillon {

// Stable codes of `reason`. Empty for a plain success.
namespace reason {
inline constexpr std::string_view kExitCode = "exit_code";  // FAILED: non-zero exit
inline constexpr std::string_view kSignal = "signal";       // FAILED: killed by a signal
inline constexpr std::string_view kSpawn = "spawn";         // FAILED: could not be started
// FAILED: could not be started, because its executor's host had no process, memory, descriptor or
// disk for it.
inline constexpr std::string_view kHost = "host";
// FAILED: the kernel killed a process of it, because they used more than memory_mb of its
// job's limits.
inline constexpr std::string_view kOom = "oom";
// FAILED: it exited with 0, but its outputs are too large or not readable.
inline constexpr std::string_view kBadOutputs = "bad_outputs";
// FAILED, of a request: the response has another status than expected, or another body, or there
// was none, or the executor does not allow requests to the address.
inline constexpr std::string_view kHttpStatus = "http_status";
inline constexpr std::string_view kHttpBody = "http_body";
inline constexpr std::string_view kHttpError = "http_error";
inline constexpr std::string_view kHttpForbidden = "http_forbidden";
// Of a handler. FAILED: its function raised an exception. LOST: its process died, or was about
// to end.
inline constexpr std::string_view kHandlerError = "handler_error";
inline constexpr std::string_view kWorkerDied = "worker_died";
inline constexpr std::string_view kWorkerStopped = "worker_stopped";
// LOST: the attempt provably never began, which gives the run back (returns.h).
inline constexpr std::string_view kNotStarted = "not_started";
inline constexpr std::string_view kTimeout = "timeout";  // TIMED_OUT
// FAILED or TIMED_OUT with attempts left: retry_on or no_retry_on of the job excludes this failure,
// or its function did.
inline constexpr std::string_view kNotRetryable = "not_retryable";
inline constexpr std::string_view kCancelRequested = "cancelled";  // CANCELLED
// LOST, FAILED, HELD or CANCELLED (DecideLost): the lease ended.
inline constexpr std::string_view kExecutorLost = "executor_lost";
inline constexpr std::string_view kWardenDied = "warden_died";  // LOST: reported by the executor
inline constexpr std::string_view kLeaseEnded =
    "lease_ended";  // LOST: the warden enforced the lease
// CANCELLED: a user gave up a run whose process may still run, and confirmed that.
inline constexpr std::string_view kOutcomeUnknown = "outcome_unknown";
// SKIPPED (kDeleted: also CANCELLED):
inline constexpr std::string_view kOverlap = "overlap";
inline constexpr std::string_view kQueueFull = "queue_full";  // queue_max runs were queued
inline constexpr std::string_view kReplaced = "replaced";     // a newer run took its place
inline constexpr std::string_view kPaused = "paused";
inline constexpr std::string_view kEdited = "edited";
inline constexpr std::string_view kDeleted = "deleted";
inline constexpr std::string_view kQueueTimeout = "queue_timeout";
inline constexpr std::string_view kMisfire = "misfire";
inline constexpr std::string_view kShed = "shed";  // under overload, by its low priority
inline constexpr std::string_view kBadDefinition = "bad_definition";  // cannot be sent or read
// Of a job with shards or a broadcast (fire_end.h, fan_out_places.h). SKIPPED: of a part, the host
// to which it is bound could not take it in time; of the fire, no host could, or none was found.
inline constexpr std::string_view kHostDown = "host_down";
inline constexpr std::string_view kNoExecutor = "no_executor";
// Somebody on whose behalf the run acts may not run the job now (standing.h).
inline constexpr std::string_view kForbidden = "forbidden";
// FAILED: of a workflow, because of its nodes, which its error names.
inline constexpr std::string_view kNodeFailed = "node_failed";
// FAILED, TIMED_OUT or LOST: of a fire, because of its parts. FAILED: a broadcast found more hosts
// than a fire may have parts.
inline constexpr std::string_view kShardFailed = "shard_failed";
inline constexpr std::string_view kTooManyHosts = "too_many_hosts";
// FAILED: the template for the number of the fire's parts gives none, or too many. COMPLETED: it
// gives 0, and nothing was to do.
inline constexpr std::string_view kBadShardTotal = "bad_shard_total";
inline constexpr std::string_view kZeroShards = "zero_shards";
// FAILED: the runs of other jobs for which it waited did not come within wait_limit_s of the job;
// no attempt was made.
inline constexpr std::string_view kUpstreamTimeout = "upstream_timeout";
// FAILED, without a process, because of one of the job's secrets:
inline constexpr std::string_view kSecretMissing = "secret_missing";  // it does not exist
// The job's owner may not use the secret.
inline constexpr std::string_view kSecretForbidden = "secret_forbidden";
// The secret cannot be decrypted.
inline constexpr std::string_view kSecretUnreadable = "secret_unreadable";
// The secret cannot be masked in the output, because the warden still runs an older version.
inline constexpr std::string_view kSecretUnsupported = "secret_unsupported";
}  // namespace reason

}  // namespace carillon
