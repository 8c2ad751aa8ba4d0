// Runs, gaps and dead letters as people read them.
#include <fmt/core.h>

#include "common/adapters/mysql/ascii.h"
#include "common/adapters/mysql/conditions.h"
#include "common/adapters/mysql/gap_filter.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/run_details.h"
#include "common/adapters/mysql/run_rows.h"
#include "common/adapters/mysql/run_search.h"
#include "common/adapters/mysql/transaction.h"

namespace carillon::mysql {
namespace {

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

// Their ids begin with it. Newest first is by the id: where few of many gaps are of the reason that
// is asked for, the walk back from the newest would else not end before the oldest of all.
Result<std::optional<uint64_t>> OldestGapEndingSince(Session& session, const GapFilter& filter) {
  const Conditions since = GapsEndingSince(filter);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT MIN(g.id) FROM run_gaps g FORCE INDEX (by_end) WHERE " + since.text(),
                    since.params()));
  if (!rows.Next() || rows.IsNull(1)) return std::optional<uint64_t>();
  return std::optional(rows.Unsigned(1));
}

const std::string kSelectLetters =
    "SELECT d.id, d.fire_us, d.schedule_id, d.shard, j.job_id, d.state, d.attempts, d.reason, "
    "d.created_us FROM dead_letters d JOIN jobs j ON j.job_no = d.job_no";

Error NoLetter(uint64_t id) { return {ErrorCode::kNotFound, fmt::format("no dead letter {}", id)}; }

// nullopt: its row cannot be read, which is noted.
std::optional<DeadLetter> ReadLetter(Session& session, const Rows& rows) {
  const uint64_t id = rows.Unsigned(1);
  const Result<RunState> state = ParseRunState(rows.Text(6));
  if (!state.ok()) {
    session.NoteUnreadable("dead_letters", std::to_string(id), "unknown state");
    return std::nullopt;
  }
  return DeadLetter{
      .id = id,
      .key = {rows.Time(2), ScheduleId(rows.Unsigned(3)), static_cast<uint32_t>(rows.Unsigned(4))},
      .job_id = JobId(rows.Text(5)),
      .state = *state,
      .attempts = static_cast<int>(rows.Int(7)),
      .reason = rows.Text(8),
      .created = rows.Time(9)};
}

}  // namespace

Result<RunDetail> MysqlStore::GetRun(const RunKey& key) {
  return InRead(*pool_, "get run",
                [&](Session& session) { return ReadDetail(session, key, kept_->incarnations); });
}

Result<RunPage> MysqlStore::ListRuns(const RunFilter& filter, WallTime now) {
  return InList(*pool_, "list runs", [&](Session& session) {
    return SearchRuns(session, filter, {.segment_count = segment_count_, .now = now},
                      kept_->incarnations);
  });
}

Result<BoundedCount> MysqlStore::CountRuns(const RunFilter& filter, WallTime now) {
  return InCount(*pool_, [&](Session& session) {
    return CountFound(session, filter, {.segment_count = segment_count_, .now = now});
  });
}

Result<uint64_t> MysqlStore::RunsFingerprint(WallTime now) {
  return InList(*pool_, "mark of runs", [&](Session& session) {
    return ReadMark(session, {.segment_count = segment_count_, .now = now});
  });
}

Result<GapPage> MysqlStore::ListGaps(const GapFilter& filter) {
  return InList(*pool_, "list gaps", [&](Session& session) -> Result<GapPage> {
    Conditions where;
    where.Add("g.id < ?", {filter.before_id});
    where.Add(GapsOfJob(filter));
    where.Add(GapsEndingSince(filter));
    where.Add(OtherwiseOfGaps(filter));
    if (filter.since && !filter.job_id) {
      CARILLON_ASSIGN_OR_RETURN(const auto oldest, OldestGapEndingSince(session, filter));
      if (!oldest) return GapPage{};
      where.Add("g.id >= ?", {*oldest});
    }
    Params params = where.params();
    params.push_back(static_cast<uint64_t>(filter.limit + 1));
    // The page by itself first: joined to jobs, the optimizer may think it cheap to sort all gaps,
    // or to go from the jobs to all of theirs.
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query(fmt::format("SELECT g.id, g.schedule_id, j.job_id, g.from_us, g.to_us, "
                                  "g.fires, g.reason FROM (SELECT g.* FROM run_gaps g {} WHERE {} "
                                  "ORDER BY g.id DESC LIMIT ?) g STRAIGHT_JOIN jobs j ON "
                                  "j.job_no = g.job_no ORDER BY g.id DESC",
                                  filter.job_id ? "" : "FORCE INDEX (PRIMARY)", where.text()),
                      params));
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
        session.NoteUnreadable("run_gaps", std::to_string(last), "unknown reason");
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

Result<std::vector<DeadLetter>> MysqlStore::ListDeadLetters(const DeadLetterFilter& filter) {
  if (filter.job_id && !IsAscii(filter.job_id->value())) return std::vector<DeadLetter>();
  const std::string statement = kSelectLetters + " WHERE d.id < ?" +
                                (filter.job_id ? " AND j.job_id = ?" : "") +
                                " ORDER BY d.id DESC LIMIT ?";
  return InRead(*pool_, "list dead letters",
                [&](Session& session) -> Result<std::vector<DeadLetter>> {
                  std::vector<DeadLetter> letters;
                  uint64_t before = filter.before_id;
                  // What is left out must not make a full page look like the last one.
                  for (bool more = true; more && letters.size() < filter.limit;) {
                    const size_t wanted = filter.limit - letters.size();
                    Params values{before};
                    if (filter.job_id) values.emplace_back(filter.job_id->value());
                    values.emplace_back(static_cast<uint64_t>(wanted));
                    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, values));
                    size_t read = 0;
                    while (rows.Next()) {
                      ++read;
                      before = rows.Unsigned(1);
                      if (auto letter = ReadLetter(session, rows)) {
                        letters.push_back(std::move(*letter));
                      }
                    }
                    more = read == wanted;
                  }
                  return letters;
                });
}

Result<DeadLetter> MysqlStore::GetDeadLetter(uint64_t id) {
  return InRead(*pool_, "get dead letter", [&](Session& session) -> Result<DeadLetter> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(kSelectLetters + " WHERE d.id = ?", {id}));
    if (!rows.Next()) return NoLetter(id);
    auto letter = ReadLetter(session, rows);
    if (!letter) return {ErrorCode::kCorrupt, fmt::format("dead letter {}: unknown state", id)};
    return std::move(*letter);
  });
}

Status MysqlStore::DiscardDeadLetter(uint64_t id) {
  return InTransaction(
      *pool_, {.operation = "discard dead letter"}, [&](Session& session) -> Status {
        CARILLON_ASSIGN_OR_RETURN(const int64_t gone,
                                  session.Execute("DELETE FROM dead_letters WHERE id = ?", {id}));
        return gone == 0 ? Status(NoLetter(id)) : Status();
      });
}

}  // namespace carillon::mysql
