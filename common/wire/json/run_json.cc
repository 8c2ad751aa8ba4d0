#include <nlohmann/json.hpp>

#include "common/domain/parts/run_part.h"
#include "common/domain/trace.h"
#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

using nlohmann::json;

json TimeOrNull(WallTime t) {
  if (t == WallTime{} || !IsTime(t)) return nullptr;
  return FormatRfc3339(t);
}

json TextOrNull(const std::string& text) {
  if (text.empty()) return nullptr;
  return ToValidUtf8(text);
}

json BreakerToJson(const std::optional<BreakerView>& breaker) {
  if (!breaker) return nullptr;
  return {{"state", breaker->half_open ? "half_open" : "open"},
          {"pause_s", breaker->pause / std::chrono::seconds(1)}};
}

json UsageToJson(const std::optional<ResourceUsage>& usage) {
  if (!usage) return nullptr;
  return {{"cpu_us", usage->cpu_us},
          {"memory_bytes", usage->memory_bytes},
          {"read_bytes", usage->read_bytes},
          {"written_bytes", usage->written_bytes}};
}

void PutResult(const AttemptResult& result, json& to) {
  to["reason"] = TextOrNull(result.reason);
  to["started_at"] = TimeOrNull(result.started);
  to["ended_at"] = TimeOrNull(result.ended);
  to["exit_code"] = result.exit_code ? json(*result.exit_code) : json(nullptr);
  to["output"] = ToValidUtf8(result.output);
  to["output_truncated"] = result.output_truncated;
  to["error"] = TextOrNull(result.error);
  to["usage"] = UsageToJson(result.usage);
  to["limits_not_enforced"] = result.limits_not_enforced;
  to["http_status"] = result.http_status ? json(*result.http_status) : json(nullptr);
}

json AttemptToJson(const RunAttempt& attempt) {
  json to = json::object();
  PutResult(attempt.result, to);
  to["attempt"] = attempt.attempt;
  to["state"] = Name(attempt.state);
  to["executor_id"] = TextOrNull(attempt.executor.value());
  to["claimed_at"] = TimeOrNull(attempt.claimed);
  return to;
}

// True if the row's own columns describe an attempt that `attempts` does not contain yet, because
// that attempt was claimed later than the last one there. False for a PENDING run: such a run has
// no current attempt, and its columns still describe the previous claim.
bool RowIsOwnAttempt(const RunDetail& run) {
  if (run.row.state == RunState::kPending || run.row.claimed == WallTime{}) return false;
  return run.attempts.empty() || run.row.claimed > run.attempts.back().claimed;
}

json AttemptsToJson(const RunDetail& run) {
  json list = json::array();
  for (const RunAttempt& attempt : run.attempts) list.push_back(AttemptToJson(attempt));
  if (RowIsOwnAttempt(run)) {
    list.push_back(AttemptToJson({.attempt = run.row.attempt,
                                  .state = run.row.state,
                                  .executor = run.row.executor,
                                  .claimed = run.row.claimed,
                                  .result = run.result}));
  }
  return list;
}

json TriggerToJson(const std::optional<RunTrigger>& trigger) {
  if (!trigger) return nullptr;
  return {{"run_id", EncodeRunId(trigger->run)},
          {"job_id", trigger->job_id.value()},
          {"job_name", nullptr},
          {"state", Name(trigger->state)},
          {"fire_time", FormatRfc3339(trigger->run.fire)}};
}

json ProgressToJson(const SavedState& saved) {
  if (!saved.progress) return nullptr;
  const RunProgress& progress = *saved.progress;
  return {{"percent", progress.percent ? json(*progress.percent) : json(nullptr)},
          {"text", ToValidUtf8(progress.text)},
          {"at", FormatRfc3339(saved.progress_at)}};
}

json CheckpointToJson(const SavedState& saved) {
  if (!saved.checkpoint) return nullptr;
  return {{"size", saved.checkpoint->size},
          {"attempt", saved.checkpoint->attempt},
          {"saved_at", FormatRfc3339(saved.checkpoint->at)}};
}

}  // namespace

json RunToJson(const RunDetail& run, bool with_attempts) {
  const RunRow& row = run.row;
  json to = json::object();
  PutResult(run.result, to);
  to["run_id"] = EncodeRunId(row.key);
  to["job_id"] = run.job_id.value();
  to["job_name"] = ToValidUtf8(run.job_name);
  to["schedule_id"] = row.key.schedule_id.value();
  to["job_type"] = Name(run.job_type);
  to["kind"] = Name(row.kind);
  to["workflow_run_id"] = run.node ? json(EncodeRunId(run.node->workflow_run)) : json(nullptr);
  to["node"] = run.node ? json(run.node->node) : json(nullptr);
  to["fire_time"] = FormatRfc3339(row.key.fire);
  to["shard"] = row.key.shard;
  to["state"] = Name(row.state);
  to["attempt"] = row.attempt;
  // A run that waits for its next attempt has no executor; the last claim is in `attempts`.
  const bool waits = row.state == RunState::kPending;
  to["executor_id"] = waits ? json(nullptr) : TextOrNull(row.executor.value());
  to["priority"] = row.priority;
  to["job_version"] = row.def_version;
  to["cancel_requested"] = row.cancel_requested.has_value();
  to["cancel_mode"] = row.cancel_requested ? json(Name(*row.cancel_requested)) : json(nullptr);
  to["parameters"] = GivenValues(run.parameters_json);
  if (const auto event = GivenEvent(run.parameters_json)) to["event"] = OriginToJson(*event);
  to["due_at"] = TimeOrNull(row.due);
  to["trace_id"] = TraceIdOf(row.key, run.trace_id);
  to["planned_at"] = TimeOrNull(run.planned);
  to["claimed_at"] = waits ? json(nullptr) : TimeOrNull(row.claimed);
  if (run.kept) to["kept"] = true;
  const bool is_part = IsPart(row.key);
  if (is_part) {
    to["shard_index"] = IndexOfPart(row.key);
    to["fan_out_run_id"] = EncodeRunId(OwnRunOf(row.key));
  }
  if (is_part || IsInParts(row)) to["shard_total"] = row.shard_total;
  if (!with_attempts) return to;
  to["attempts"] = AttemptsToJson(run);
  to["trigger"] = TriggerToJson(run.trigger);
  to["outputs"] = run.result.outputs;
  to["progress"] = ProgressToJson(run.saved);
  to["checkpoint"] = CheckpointToJson(run.saved);
  return to;
}

json GapToJson(const GapRecord& gap) {
  return {{"schedule_id", gap.schedule_id.value()},
          {"job_id", gap.job_id.value()},
          {"from", FormatRfc3339(gap.range.from)},
          {"to", FormatRfc3339(gap.range.to)},
          {"count", gap.range.count},
          {"reason", Name(gap.range.reason)}};
}

json HostChecksToJson(const std::vector<HostCheck>& checks) {
  json list = json::array();
  for (const HostCheck& check : checks) {
    list.push_back({{"name", ToValidUtf8(check.name)},
                    {"state", Name(check.state)},
                    {"detail", ToValidUtf8(check.detail)},
                    {"cure", TextOrNull(ToValidUtf8(check.cure))}});
  }
  return list;
}

namespace {

json HandlersToJson(const ExecutorRecord& executor) {
  json list = json::array();
  for (const auto& [name, slots] : executor.handlers) {
    list.push_back({{"name", name}, {"slots", slots.slots}, {"free", slots.free}});
  }
  return list;
}

}  // namespace

json ExecutorToJson(const ExecutorRecord& executor) {
  return {{"executor_id", executor.id.value()},
          {"host", ToValidUtf8(executor.host)},
          {"port", executor.ops_port},
          {"state", Name(executor.state)},
          {"enabled", executor.enabled},
          {"draining", executor.draining},
          {"labels", executor.labels},
          {"slots", executor.slots},
          {"running", executor.running},
          {"load",
           {{"cpu", executor.load.cpu},
            {"memory", executor.load.memory},
            {"disk", executor.load.disk},
            {"io", executor.load.io}}},
          {"last_heartbeat_time", TimeOrNull(executor.last_heartbeat)},
          {"register_time", TimeOrNull(executor.registered)},
          {"version", executor.version},
          {"config_version", executor.config_version},
          {"tasks_behind", executor.tasks_behind ? json(*executor.tasks_behind) : json(nullptr)},
          {"handlers", HandlersToJson(executor)},
          {"features", executor.features ? json(executor.features->Names()) : json(nullptr)},
          {"breaker", BreakerToJson(executor.breaker)}};
}

}  // namespace carillon
