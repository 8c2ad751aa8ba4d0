// Runs, gaps and dead letters as people read them.
#include <algorithm>

#include <fmt/core.h>

#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/run_details.h"
#include "common/adapters/mysql/run_rows.h"
#include "common/adapters/mysql/transaction.h"

namespace carillon::mysql {
namespace {

// How far beyond `now` a list looks at every run; further on there are planned runs, many, and some
// that were ended ahead of their time, which the index finds.
constexpr Duration kListAhead = 1s;

struct Conditions {
  std::string text = "1 = 1";
  Params params = {};

  void Add(std::string_view condition, std::initializer_list<Param> values = {}) {
    text += " AND ";
    text += condition;
    params.insert(params.end(), values.begin(), values.end());
  }
};

std::string StateList(const std::vector<RunState>& states) {
  std::string list;
  for (const RunState state : states) {
    if (!list.empty()) list += ", ";
    list += "'" + std::string(Name(state)) + "'";
  }
  return list;
}

Conditions ConditionsOf(const RunFilter& filter) {
  Conditions where;
  if (filter.since) where.Add("r.fire_us >= ?", {ToUnixMicros(*filter.since)});
  if (filter.until) where.Add("r.fire_us < ?", {ToUnixMicros(*filter.until)});
  if (filter.job_id) {
    where.Add("r.job_no = (SELECT x.job_no FROM jobs x WHERE x.job_id = ?)",
              {filter.job_id->value()});
  }
  if (filter.executor) {
    where.Add(
        "r.incarnation_no IN (SELECT i.incarnation_no FROM executor_incarnations i "
        "WHERE i.executor_id = ?)",
        {filter.executor->value()});
  }
  if (filter.before) {
    const int64_t fire = ToUnixMicros(filter.before->fire);
    const uint64_t schedule = filter.before->schedule_id.value();
    where.Add(
        "r.fire_us <= ? AND (r.fire_us < ? OR r.schedule_id < ? OR (r.schedule_id = ? AND "
        "r.shard < ?))",
        {fire, fire, schedule, schedule, uint64_t{filter.before->shard}});
  }
  if (!filter.states.empty()) {
    where.Add(fmt::format("r.state IN ({})", StateList(filter.states)));
  }
  return where;
}

bool OnlyStarted(const std::vector<RunState>& states) {
  return !states.empty() && std::all_of(states.begin(), states.end(), [](RunState state) {
    return state == RunState::kRunning || state == RunState::kHeld;
  });
}

DetailQuery QueryOf(Conditions where, const std::string& index, size_t limit) {
  return {.index = index,
          .where = std::move(where.text),
          .params = std::move(where.params),
          .limit = limit};
}

// The queries whose rows, put together, are the list.
std::vector<DetailQuery> QueriesOf(const RunFilter& filter, uint32_t segment_count, WallTime now) {
  Conditions where = ConditionsOf(filter);
  const int64_t now_us = ToUnixMicros(now);
  if (OnlyStarted(filter.states)) {
    std::string segments;
    for (uint32_t i = 0; i < segment_count; ++i) {
      segments += (i == 0 ? "" : ", ") + std::to_string(i);
    }
    where.Add(fmt::format("r.open_segment IN ({})", segments));
    return {QueryOf(std::move(where), "open_runs", filter.limit)};
  }
  const std::string index = filter.job_id ? "by_job" : "PRIMARY";
  if (!filter.states.empty()) return {QueryOf(std::move(where), index, filter.limit)};
  if (!filter.job_id) {
    const int64_t ahead_us = ToUnixMicros(now + kListAhead);
    Conditions ended_early = where;
    ended_early.Add("r.open_segment IS NULL AND r.due_us > ? AND r.fire_us > ?",
                    {now_us, ahead_us});
    where.Add("r.fire_us <= ?", {ahead_us});
    where.Add(
        "NOT (r.state = 'PENDING' AND r.attempt = 1 AND r.kind <> 'MANUAL' AND "
        "r.fire_us > ?)",
        {now_us});
    return {QueryOf(std::move(where), index, filter.limit),
            QueryOf(std::move(ended_early), "open_runs", filter.limit)};
  }
  where.Add(
      "NOT (r.state = 'PENDING' AND r.attempt = 1 AND r.kind <> 'MANUAL' AND "
      "r.fire_us > ?)",
      {now_us});
  return {QueryOf(std::move(where), index, filter.limit)};
}

Result<int64_t> CountOpen(Session& session, std::string_view states) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(fmt::format("SELECT COUNT(*) FROM (SELECT 1 FROM job_runs r FORCE INDEX "
                                "(open_runs) WHERE r.open_segment IS NOT NULL AND r.state IN ({}) "
                                "LIMIT {}) x",
                                states, kCountedMax)));
  rows.Next();
  return rows.Int(1);
}

Result<GapReason> ParseGapReason(const std::string& text) {
  for (const GapReason reason : {GapReason::kMisfire, GapReason::kPaused, GapReason::kCatchUpLimit,
                                 GapReason::kEdited, GapReason::kDeleted}) {
    if (Name(reason) == text) return reason;
  }
  return {ErrorCode::kCorrupt, "gap: unknown reason " + text};
}

}  // namespace

Result<RunDetail> MysqlStore::GetRun(const RunKey& key) {
  return InRead(*pool_, "get run",
                [&](Session& session) { return ReadDetail(session, key, kept_->incarnations); });
}

Result<std::vector<RunDetail>> MysqlStore::ListRuns(const RunFilter& filter, WallTime now) {
  const std::vector<DetailQuery> queries = QueriesOf(filter, segment_count_, now);
  return InList(*pool_, "list runs", [&](Session& session) -> Result<std::vector<RunDetail>> {
    std::vector<RunDetail> all;
    for (const DetailQuery& query : queries) {
      CARILLON_ASSIGN_OR_RETURN(std::vector<RunDetail> some,
                                ReadDetails(session, query, kept_->incarnations));
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    std::sort(all.begin(), all.end(),
              [](const RunDetail& a, const RunDetail& b) { return b.row.key < a.row.key; });
    if (all.size() > filter.limit) all.resize(filter.limit);
    return all;
  });
}

Result<GapPage> MysqlStore::ListGaps(const GapFilter& filter) {
  Conditions where;
  where.Add("g.id < ?", {filter.before_id});
  if (filter.job_id) {
    where.Add("g.job_no = (SELECT x.job_no FROM jobs x WHERE x.job_id = ?)",
              {filter.job_id->value()});
  }
  where.params.push_back(static_cast<uint64_t>(filter.limit + 1));
  return InList(*pool_, "list gaps", [&](Session& session) -> Result<GapPage> {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT g.id, g.schedule_id, j.job_id, g.from_us, g.to_us, "
                                 "g.fires, g.reason FROM run_gaps g JOIN jobs j ON j.job_no = "
                                 "g.job_no WHERE " +
                                     where.text + " ORDER BY g.id DESC LIMIT ?",
                                 where.params));
    GapPage page;
    uint64_t last = 0;
    size_t read = 0;
    while (rows.Next()) {
      if (read == filter.limit) {
        page.next = last;
        break;
      }
      const Result<GapReason> reason = ParseGapReason(rows.Text(7));
      last = rows.Unsigned(1);
      ++read;
      if (!reason.ok()) {
        session.NoteUnreadable("run_gaps", std::to_string(last), reason.error().message);
        continue;
      }
      page.gaps.push_back({ScheduleId(rows.Unsigned(2)), JobId(rows.Text(3)),
                           GapRange{rows.Time(4), rows.Time(5), rows.Int(6), *reason}});
    }
    return page;
  });
}

Result<RunCounts> MysqlStore::CountOpenRuns() {
  return InList(*pool_, "count", [](Session& session) -> Result<RunCounts> {
    RunCounts counts;
    CARILLON_ASSIGN_OR_RETURN(counts.pending, CountOpen(session, "'PENDING'"));
    CARILLON_ASSIGN_OR_RETURN(counts.running, CountOpen(session, "'RUNNING', 'HELD'"));
    return counts;
  });
}

Result<std::vector<DeadLetter>> MysqlStore::ListDeadLetters(uint64_t before_id, size_t limit) {
  const std::string statement =
      "SELECT d.id, d.fire_us, d.schedule_id, d.shard, j.job_id, d.state, d.attempts, d.reason, "
      "d.created_us FROM dead_letters d JOIN jobs j ON j.job_no = d.job_no WHERE d.id < ? "
      "ORDER BY d.id DESC LIMIT ?";
  return InRead(
      *pool_, "list dead letters", [&](Session& session) -> Result<std::vector<DeadLetter>> {
        std::vector<DeadLetter> letters;
        uint64_t before = before_id;
        // What is left out must not make a full page look like the last one.
        for (bool more = true; more && letters.size() < limit;) {
          const size_t wanted = limit - letters.size();
          CARILLON_ASSIGN_OR_RETURN(
              Rows rows, session.Query(statement, {before, static_cast<uint64_t>(wanted)}));
          size_t read = 0;
          while (rows.Next()) {
            ++read;
            before = rows.Unsigned(1);
            const Result<RunState> state = ParseRunState(rows.Text(6));
            if (!state.ok()) {
              session.NoteUnreadable("dead_letters", std::to_string(before), "unknown state");
              continue;
            }
            letters.push_back({.id = before,
                               .key = {rows.Time(2), ScheduleId(rows.Unsigned(3)),
                                       static_cast<uint32_t>(rows.Unsigned(4))},
                               .job_id = JobId(rows.Text(5)),
                               .state = *state,
                               .attempts = static_cast<int>(rows.Int(7)),
                               .reason = rows.Text(8),
                               .created = rows.Time(9)});
          }
          more = read == wanted;
        }
        return letters;
      });
}

}  // namespace carillon::mysql
