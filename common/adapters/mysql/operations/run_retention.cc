#include "common/adapters/mysql/operations/run_retention.h"

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/schema/partitions.h"
#include "common/domain/workflow/workflow_check.h"

namespace carillon::mysql {
namespace {

constexpr int64_t kDayUs = 86'400'000'000;
constexpr std::array kTablesOfKeys = {"run_checkpoints", "run_log_chunks", "run_attempts",
                                      "job_runs"};

// Joins w, the workflow runs of k, and r, the runs of their nodes.
// 2251799813685248 is kFirstNodeSchedule, 1024 is kNodePositionsMax.
const std::string kJoinNodes =
    "STRAIGHT_JOIN workflow_runs w FORCE INDEX (by_run) ON w.fire_us = k.f AND w.schedule_id = k.s "
    "AND w.shard = k.h STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = w.fire_us AND "
    "r.schedule_id >= 2251799813685248 + w.no * 1024 AND r.schedule_id < 2251799813685248 + "
    "(w.no + 1) * 1024 AND r.shard = 0";

struct ShortLivedJob {
  int64_t job_no;
  int64_t before_us;  // runs that ended before are deleted
};
// An own run, with the number of rows that go with it: its own, those of its parts, and those of
// its nodes.
struct EndedRun {
  RunKey key;
  int64_t rows = 0;
};
struct Walk {
  std::vector<ShortLivedJob> jobs;
  int64_t next_job = 0;
};

// Reads kJobsLookedAtPerCall jobs. Few jobs have a retention of their own, and no index finds them.
Result<Walk> ReadJobs(Pool& pool, int64_t from, WallTime now, Duration retention) {
  return InRead(pool, "retention", [&](Session& session) -> Result<Walk> {
    Walk walk;
    int64_t last = 0;
    {
      CARILLON_ASSIGN_OR_RETURN(
          Rows rows, session.Query("SELECT COUNT(*), COALESCE(MAX(x.job_no), 0) FROM (SELECT "
                                   "job_no FROM jobs WHERE job_no > ? ORDER BY job_no LIMIT ?) x",
                                   {from, kJobsLookedAtPerCall}));
      rows.Next();
      last = rows.Int(2);
      walk.next_job = rows.Int(1) < kJobsLookedAtPerCall ? 0 : last;
    }
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query("SELECT job_no, retention_days FROM jobs WHERE job_no > ? AND job_no <= ? "
                      "AND retention_days > 0 AND retention_days < ? ORDER BY job_no LIMIT ?",
                      {from, last, retention.count() / kDayUs, kShortLivedJobsPerCall}));
    while (rows.Next()) {
      walk.jobs.push_back({rows.Int(1), ToUnixMicros(now) - rows.Int(2) * kDayUs});
    }
    const bool all = static_cast<int64_t>(walk.jobs.size()) < kShortLivedJobsPerCall;
    if (!all) walk.next_job = walk.jobs.back().job_no;
    return walk;
  });
}

// The fire is before the end, so the range of fires bounds the read of the index and its
// partitions. The parts of a fire go with its own run.
Result<std::vector<EndedRun>> FindEnded(Session& session, const ShortLivedJob& job, int64_t limit) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(
          "SELECT r.fire_us, r.schedule_id, 1 + r.shard_total FROM job_runs r FORCE "
          "INDEX (by_job) WHERE r.job_no = ? AND r.fire_us < ? AND r.open_segment IS NULL AND "
          "r.ended_us < ? AND (r.flags & 4) = 0 AND r.shard = 0 ORDER BY r.fire_us LIMIT "
          "?",
          {job.job_no, job.before_us, job.before_us, limit}));
  std::vector<EndedRun> ended;
  while (rows.Next()) {
    ended.push_back({{rows.Time(1), ScheduleId(rows.Unsigned(2)), 0}, rows.Int(3)});
  }
  return ended;
}

// Adds the rows of the nodes of those that are runs of workflows, at whatever depth.
Status AddNodes(Session& session, std::vector<EndedRun>* ended) {
  static const std::string nodes =
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH "
      "'$[2]', i BIGINT UNSIGNED PATH '$[3]')) k " +
      kJoinNodes;
  static const std::string count =
      "SELECT k.i, CAST(SUM(1 + r.shard_total) AS SIGNED) FROM " + nodes + " GROUP BY k.i";
  static const std::string nested =
      "SELECT DISTINCT k.i, r.fire_us, r.schedule_id FROM " + nodes +
      " STRAIGHT_JOIN workflow_runs n FORCE INDEX (by_run) ON n.fire_us = r.fire_us AND "
      "n.schedule_id = r.schedule_id AND n.shard = r.shard";
  std::vector<std::pair<RunKey, size_t>> level;  // with the index in `ended`
  for (size_t i = 0; i < ended->size(); ++i) level.emplace_back((*ended)[i].key, i);
  for (int depth = 0; depth < kWorkflowDepthMax && !level.empty(); ++depth) {
    JsonRows keys;
    for (const auto& [key, index] : level) keys.Begin().Add(key).Add(uint64_t{index});
    const std::string text = keys.Take();
    level.clear();
    {
      CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(count, {text}));
      while (rows.Next()) ended->at(rows.Unsigned(1)).rows += rows.Int(2);
    }
    // Those behind them are of another call. All at once, the nodes of nested workflows would make
    // a statement that no server takes.
    int64_t sum = 0;
    size_t within = 0;
    while (within < ended->size() && sum < kShortLivedRowsPerCall) sum += (*ended)[within++].rows;
    ended->resize(within);
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(nested, {text}));
    while (rows.Next()) {
      if (rows.Unsigned(1) >= within) continue;
      level.emplace_back(RunKey{rows.Time(2), ScheduleId(rows.Unsigned(3)), 0}, rows.Unsigned(1));
    }
  }
  return {};
}

// Returns the keys of those that are still ended, and locks them, so that none is reopened between
// the check and the delete.
Result<JsonRows> LockEnded(Session& session, const std::string& found, int64_t before_us) {
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id, r.shard FROM " + kKeysJoinRuns +
      " WHERE r.open_segment IS NULL AND r.ended_us < ?" + ForUpdateOf("r");
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {found, before_us}));
  JsonRows keys;
  while (rows.Next()) keys.Begin().Add(rows.Int(1)).Add(rows.Unsigned(2)).Add(rows.Unsigned(3));
  return keys;
}

// The keys of the nodes' runs of those of `owns` that are runs of workflows. A node's run is kept
// as long as the workflow run, whatever its own job says.
Result<JsonRows> NodesOf(Session& session, const std::string& owns) {
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id, r.shard FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH "
      "'$[2]')) k " +
      kJoinNodes;
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {owns}));
  JsonRows keys;
  while (rows.Next()) keys.Begin().Add(rows.Int(1)).Add(rows.Unsigned(2)).Add(rows.Unsigned(3));
  return keys;
}

// Deletes runs with their parts, which have the same fire and schedule.
Status DeleteKeys(Session& session, const std::string& keys) {
  CARILLON_TRY(session.Execute("DELETE w FROM JSON_TABLE(" CARILLON_JSON
                               ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH "
                               "'$[1]', h INT UNSIGNED PATH '$[2]')) k STRAIGHT_JOIN workflow_runs "
                               "w FORCE INDEX (by_run) ON "
                               "w.fire_us = k.f AND w.schedule_id = k.s AND w.shard = k.h",
                               {keys}));
  for (const char* table : kTablesOfKeys) {
    CARILLON_TRY(session.Execute(
        fmt::format("DELETE t FROM JSON_TABLE(" CARILLON_JSON
                    ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT "
                    "UNSIGNED PATH '$[1]', h INT UNSIGNED PATH '$[2]')) k STRAIGHT_JOIN {} t FORCE "
                    "INDEX (PRIMARY) ON t.fire_us = k.f AND t.schedule_id = k.s",
                    table),
        {keys}));
  }
  return {};
}

// Deletes those of the runs that are still ended.
Status DeleteRuns(Pool& pool, const ShortLivedJob& job, std::span<const EndedRun> runs) {
  JsonRows found;
  for (const EndedRun& run : runs) found.Begin().Add(run.key);
  const std::string keys = found.Take();
  const auto erase = [&](Session& session) -> Status {
    CARILLON_ASSIGN_OR_RETURN(JsonRows ended, LockEnded(session, keys, job.before_us));
    if (ended.empty()) return {};
    std::string owns = ended.Take();
    // Level by level: a node may itself be a workflow.
    for (int level = 0; level < kWorkflowDepthMax; ++level) {
      CARILLON_ASSIGN_OR_RETURN(JsonRows nodes, NodesOf(session, owns));
      CARILLON_TRY(DeleteKeys(session, owns));
      if (nodes.empty()) return {};
      owns = nodes.Take();
    }
    return DeleteKeys(session, owns);
  };
  return RunTransaction(pool, {.operation = "retention"}, erase);
}

// The own runs with parts among the run and its nodes, at whatever depth.
Result<std::vector<RunKey>> FiresIn(Session& session, const RunKey& run) {
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id FROM " + kKeysJoinRuns + " WHERE r.shard_total > 1";
  std::vector<RunKey> fires;
  JsonRows level;
  level.Begin().Add(run);
  for (int depth = 0; depth <= kWorkflowDepthMax && !level.empty(); ++depth) {
    const std::string keys = level.Take();
    {
      CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {keys}));
      while (rows.Next()) fires.push_back({rows.Time(1), ScheduleId(rows.Unsigned(2)), 0});
    }
    CARILLON_ASSIGN_OR_RETURN(level, NodesOf(session, keys));
  }
  return fires;
}

// Deletes the parts of a run that has too many rows for one transaction, those of one fire at a
// time. Whoever retries the run meanwhile keeps it without them, as after the end of its day.
Status DeletePartsFirst(Pool& pool, const ShortLivedJob& job, const RunKey& run) {
  CARILLON_ASSIGN_OR_RETURN(
      const std::vector<RunKey> fires,
      InRead(pool, "retention", [&](Session& session) { return FiresIn(session, run); }));
  JsonRows key;
  key.Begin().Add(run);
  const std::string found = key.Take();
  for (const RunKey& fire : fires) {
    const auto erase = [&](Session& session) -> Status {
      CARILLON_ASSIGN_OR_RETURN(const JsonRows ended, LockEnded(session, found, job.before_us));
      if (ended.empty()) return {};
      for (const char* table : kTablesOfKeys) {
        CARILLON_TRY(session.Execute(
            fmt::format("DELETE FROM {} WHERE fire_us = ? AND schedule_id = ? AND shard > 0",
                        table),
            {ToUnixMicros(fire.fire), fire.schedule_id.value()}));
      }
      return {};
    };
    CARILLON_TRY(RunTransaction(pool, {.operation = "retention"}, erase));
  }
  return {};
}

// The rest that a call may delete.
struct Budget {
  int64_t runs = kShortLivedRunsPerCall;
  int64_t rows = kShortLivedRowsPerCall;

  bool used() const { return runs <= 0 || rows <= 0; }
};

// Deletes the dead letters of runs that are to be deleted: without its run, a letter could not be
// retried. A letter is as old as the end of its run.
Status DeleteLetters(Pool& pool, const ShortLivedJob& job, Budget* budget) {
  int64_t deleted = kShortLivedRowsPerTransaction;
  while (budget->rows > 0 && deleted == kShortLivedRowsPerTransaction) {
    CARILLON_ASSIGN_OR_RETURN(
        deleted, InTransaction(pool, {.operation = "retention"}, [&job](Session& session) {
          return session.Execute(
              "DELETE FROM dead_letters WHERE job_no = ? AND created_us < ? LIMIT ?",
              {job.job_no, job.before_us, kShortLivedRowsPerTransaction});
        }));
    budget->rows -= deleted;
  }
  return {};
}

// Deletes until all ended runs of the job are gone, or the budget is.
Status DeleteRunsOf(Pool& pool, const ShortLivedJob& job, Budget* budget) {
  CARILLON_ASSIGN_OR_RETURN(
      const std::vector<EndedRun> found,
      InRead(pool, "retention", [&](Session& session) -> Result<std::vector<EndedRun>> {
        CARILLON_ASSIGN_OR_RETURN(std::vector<EndedRun> ended,
                                  FindEnded(session, job, budget->runs));
        CARILLON_TRY(AddNodes(session, &ended));
        return ended;
      }));
  if (found.empty()) return {};
  CARILLON_TRY(DeleteLetters(pool, job, budget));
  std::span<const EndedRun> left = found;
  while (!left.empty() && budget->rows > 0) {
    size_t count = 0;
    int64_t rows = 0;
    while (count < left.size() &&
           (count == 0 || rows + left[count].rows <= kShortLivedRowsPerTransaction)) {
      rows += left[count++].rows;
    }
    if (rows > kShortLivedRowsPerTransaction) {
      CARILLON_TRY(DeletePartsFirst(pool, job, left.front().key));
    }
    CARILLON_TRY(DeleteRuns(pool, job, left.first(count)));
    left = left.subspan(count);
    budget->runs -= static_cast<int64_t>(count);
    budget->rows -= rows;
  }
  return {};
}

}  // namespace

Result<ShortLivedRuns> DeleteShortLivedRuns(Pool& pool, int64_t from, WallTime now,
                                            Duration retention) {
  CARILLON_ASSIGN_OR_RETURN(const Walk walk, ReadJobs(pool, from, now, retention));
  Budget budget;
  int64_t before = from;
  for (const ShortLivedJob& job : walk.jobs) {
    CARILLON_TRY(DeleteRunsOf(pool, job, &budget));
    if (budget.used()) return ShortLivedRuns{.next_job = before, .behind = true};
    before = job.job_no;
  }
  return ShortLivedRuns{.next_job = walk.next_job};
}

}  // namespace carillon::mysql
