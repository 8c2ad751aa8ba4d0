#include "common/adapters/mysql/run_rows/run_details.h"

#include <fmt/core.h>

#include "common/adapters/mysql/run_rows/job_owner.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/job/job.h"
#include "common/domain/nodes/run_rules.h"
#include "common/domain/results/result_detail.h"
#include "common/domain/run/dependents.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/outputs_json.h"

namespace carillon::mysql {
namespace {

// Reads the columns of an attempt, which begin at `first`.
AttemptResult ReadResult(const Rows& rows, uint32_t first) {
  AttemptResult result;
  result.reason = rows.Text(first);
  result.error = rows.Text(first + 1);
  if (!rows.IsNull(first + 2)) result.exit_code = static_cast<int>(rows.Int(first + 2));
  result.started = rows.Time(first + 3);
  result.ended = rows.Time(first + 4);
  result.output = rows.Text(first + 5);
  result.output_truncated = rows.Int(first + 6) != 0;
  ReadDetail(rows.Text(first + 7), result);
  return result;
}

const std::string kDetailColumns =
    kRunColumns +
    ", r.reason, r.error, r.exit_code, r.started_us, r.ended_us, r.output, "
    "r.output_truncated, r.detail, j.job_id, COALESCE(v.name, j.name), r.planned_us, "
    "r.parameters, r.trace_id, r.started_by, r.outputs, j.type, r.until_us";

// The type of a task is among the rules of its run, which has them from its release on. Before it,
// as an approval and a wait at any time, it is no process.
JobType TypeOfTask(const RunRow& row) {
  const Result<RunRules> rules = RunRulesFromText(row.rules);
  if (!rules.ok()) return JobType::kNoop;
  return ParseName<JobType>(rules->type).value_or(JobType::kNoop);
}

RunDetail ReadOne(Session& session, const Rows& rows, StoredRun* run) {
  *run = ReadRun(rows);
  RunDetail detail;
  detail.result = ReadResult(rows, kRunColumnCount + 1);
  const RunState state = run->row.state;
  if (IsFinal(state) && state != RunState::kSkipped) {
    detail.result.state = run->ended_by_loss ? RunState::kLost : state;
  }
  detail.job_id = JobId(rows.Text(kRunColumnCount + 9));
  detail.job_name = rows.Text(kRunColumnCount + 10);
  detail.planned = rows.Time(kRunColumnCount + 11);
  detail.parameters_json = rows.Text(kRunColumnCount + 12);
  detail.trace_id = rows.Text(kRunColumnCount + 13);
  detail.trigger = TriggerFromText(rows.Text(kRunColumnCount + 14));
  detail.node = NodeOriginFromText(rows.Text(kRunColumnCount + 14));
  if (!rows.IsNull(kRunColumnCount + 15)) {
    auto outputs = OutputsFromJson(rows.Text(kRunColumnCount + 15));
    if (outputs.ok()) {
      detail.result.outputs = *std::move(outputs);
    } else {
      session.NoteUnreadable("job_runs", EncodeRunId(run->row.key), "unreadable outputs");
    }
  }
  const bool open = state == RunState::kPending && IsOpenedNode(run->row.due);
  if (open) detail.until = rows.Time(kRunColumnCount + 17);
  detail.job_type =
      IsTaskJob(run->row.job_no)
          ? TypeOfTask(run->row)
          : ParseName<JobType>(rows.Text(kRunColumnCount + 16)).value_or(JobType::kShell);
  return detail;
}

Result<std::vector<RunAttempt>> ReadAttempts(Session& session, const RunKey& key) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT r.attempt, r.state + 0, r.executor_id, r.claimed_us, r.reason, "
                    "r.error, r.exit_code, r.started_us, r.ended_us, r.output, "
                    "r.output_truncated, r.detail FROM run_attempts r WHERE " +
                        std::string(kIsRun) + " ORDER BY r.attempt",
                    ParamsOf(key)));
  std::vector<RunAttempt> attempts;
  while (rows.Next()) {
    const std::optional<RunState> state = StateOf(rows.Int(2));
    if (!state) {
      session.NoteUnreadable("run_attempts", EncodeRunId(key), "unknown state");
      continue;
    }
    RunAttempt attempt{.attempt = static_cast<int>(rows.Int(1)),
                       .state = *state,
                       .executor = ExecutorId(rows.Text(3)),
                       .claimed = rows.Time(4),
                       .result = ReadResult(rows, 5)};
    attempt.result.state = attempt.state;
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

}  // namespace

std::string_view RunOrder(bool oldest_first) {
  return oldest_first ? "r.fire_us, r.schedule_id, r.shard"
                      : "r.fire_us DESC, r.schedule_id DESC, r.shard DESC";
}

Params ParamsOf(const RunKey& key) {
  return {ToUnixMicros(key.fire), key.schedule_id.value(), uint64_t{key.shard}};
}

namespace {

struct ReadRows {
  std::vector<RunDetail> details;
  size_t left_out = 0;  // unreadable runs that were skipped
};

Result<ReadRows> ReadSome(Session& session, const DetailQuery& query, size_t limit,
                          Incarnations& incarnations) {
  Params params = query.params;
  params.push_back(static_cast<uint64_t>(limit));
  ReadRows read;
  std::vector<StoredRun> runs;
  std::vector<uint32_t> numbers;
  {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query(fmt::format("SELECT {} FROM {} r FORCE INDEX ({}) STRAIGHT_JOIN jobs j "
                                  "FORCE INDEX (PRIMARY) ON j.job_no = {} LEFT JOIN "
                                  "job_versions v ON v.job_no = j.job_no AND v.version = "
                                  "r.def_version WHERE {} ORDER BY {} LIMIT ?",
                                  kDetailColumns, query.table, query.index, OwnerNumber("r.job_no"),
                                  query.where, RunOrder(query.oldest_first)),
                      params));
    while (rows.Next()) {
      StoredRun run;
      RunDetail detail = ReadOne(session, rows, &run);
      detail.kept = query.table == kKeptRuns;
      if (!NoteIfUnreadable(session, run)) {
        ++read.left_out;
        continue;
      }
      read.details.push_back(std::move(detail));
      numbers.push_back(run.incarnation_no);
      runs.push_back(std::move(run));
    }
  }
  CARILLON_ASSIGN_OR_RETURN(const Incarnations::Keys keys, incarnations.Load(session, numbers));
  for (size_t i = 0; i < runs.size(); ++i) {
    RunRow& row = read.details[i].row;
    row = std::move(runs[i].row);
    const auto key = keys.find(runs[i].incarnation_no);
    if (key == keys.end()) continue;
    row.executor = key->second.first;
    row.incarnation = key->second.second;
  }
  return read;
}

}  // namespace

Result<std::vector<RunDetail>> ReadDetails(Session& session, const DetailQuery& query,
                                           Incarnations& incarnations) {
  // If unreadable runs were skipped, reads more. Otherwise the caller would take a page with fewer
  // runs than `limit` for the last page.
  for (size_t limit = query.limit;;) {
    CARILLON_ASSIGN_OR_RETURN(ReadRows read, ReadSome(session, query, limit, incarnations));
    const bool more = read.details.size() + read.left_out == limit;
    if (!more || read.details.size() >= query.limit) {
      if (read.details.size() > query.limit) read.details.resize(query.limit);
      return std::move(read.details);
    }
    limit = query.limit + read.left_out;
  }
}

Result<RunDetail> ReadDetail(Session& session, const RunKey& key, Incarnations& incarnations) {
  DetailQuery query{.where = std::string(kIsRun), .params = ParamsOf(key)};
  CARILLON_ASSIGN_OR_RETURN(ReadRows found, ReadSome(session, query, 1, incarnations));
  if (found.details.empty() && found.left_out == 0) {
    query.table = kKeptRuns;
    CARILLON_ASSIGN_OR_RETURN(found, ReadSome(session, query, 1, incarnations));
  }
  if (found.left_out > 0) {
    return {ErrorCode::kCorrupt, "run " + EncodeRunId(key) + ": unknown state or kind"};
  }
  if (found.details.empty()) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
  RunDetail& detail = found.details.front();
  if (detail.kept) return std::move(detail);
  CARILLON_ASSIGN_OR_RETURN(detail.attempts, ReadAttempts(session, key));
  return std::move(detail);
}

Result<bool> IsOnlyKept(Session& session, const RunKey& key) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(fmt::format("SELECT 1 FROM {} r WHERE {} AND {}", kKeptRuns, kIsRun,
                                           kIsOnlyKept),
                               ParamsOf(key)));
  return rows.Next();
}

}  // namespace carillon::mysql
