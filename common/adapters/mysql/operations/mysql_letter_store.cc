#include "common/adapters/mysql/operations/mysql_letter_store.h"

#include <map>
#include <string>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/json_text.h"

namespace carillon::mysql {
namespace {

// The id of the first letter to be published stands in id_blocks.
constexpr std::string_view kLetterSequence = "published_letter";

std::map<std::string, std::string> LetterLabels(const std::string& text) {
  auto document = ParseJsonText(text);
  JobDefinition job;
  if (!document.ok() || !ReadJobField("labels", *document, job).ok()) return {};
  return std::move(job.labels);
}

// Reads index entries of letters that are not published, and by primary keys what belongs to them.
Result<std::vector<LetterToPublish>> FetchUnpublished(Session& session, uint64_t first,
                                                      size_t limit) {
  static const std::string statement =
      "SELECT d.id, d.fire_us, d.schedule_id, d.shard, j.job_id, d.state, d.attempts, d.reason, "
      "d.created_us, j.name, j.namespace, CAST(IF(JSON_VALID(v.definition), "
      "JSON_EXTRACT(v.definition, '$.labels'), NULL) AS CHAR), COALESCE(r.started_us, 0), "
      "COALESCE(r.ended_us, 0), COALESCE(i.executor_id, ''), r.exit_code, r.error FROM "
      "(SELECT * FROM dead_letters l FORCE INDEX (by_published) WHERE l.published = 0 AND l.id >= "
      "? AND l.state IN ('FAILED', 'TIMED_OUT', 'LOST', 'SKIPPED', 'CANCELLED') ORDER BY l.id "
      "LIMIT ?) d STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = d.job_no "
      "LEFT JOIN job_versions v FORCE INDEX (PRIMARY) ON v.job_no = j.job_no AND v.version = "
      "j.version LEFT JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = d.fire_us AND "
      "r.schedule_id = d.schedule_id AND r.shard = d.shard LEFT JOIN executor_incarnations i "
      "FORCE INDEX (PRIMARY) ON i.incarnation_no = r.incarnation_no ORDER BY d.id";
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Query(statement, {first, static_cast<uint64_t>(limit)}));
  std::vector<LetterToPublish> letters;
  while (rows.Next()) {
    const Result<RunState> state = ParseRunState(rows.Text(6));
    if (!state.ok()) continue;
    LetterToPublish one{.letter = {.id = rows.Unsigned(1),
                                   .key = {rows.Time(2), ScheduleId(rows.Unsigned(3)),
                                           static_cast<uint32_t>(rows.Unsigned(4))},
                                   .job_id = JobId(rows.Text(5)),
                                   .state = *state,
                                   .attempts = static_cast<int>(rows.Int(7)),
                                   .reason = rows.Text(8),
                                   .created = rows.Time(9)},
                        .job_name = rows.Text(10),
                        .name_space = rows.Text(11),
                        .labels = LetterLabels(rows.Text(12)),
                        .started = rows.Time(13),
                        .ended = rows.Time(14),
                        .executor = ExecutorId(rows.Text(15)),
                        .error = rows.Text(17)};
    if (!rows.IsNull(16)) one.exit_code = static_cast<int>(rows.Int(16));
    letters.push_back(std::move(one));
  }
  return letters;
}

// Reads index entries, at most kLettersCountedMax.
Result<int64_t> CountUnpublished(Session& session, uint64_t first) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT COUNT(*) FROM (SELECT l.id FROM dead_letters l FORCE INDEX "
                               "(by_published) WHERE l.published = 0 AND l.id >= ? LIMIT ?) x",
                               {first, uint64_t{kLettersCountedMax}}));
  return rows.Next() ? rows.Int(1) : int64_t{0};
}

}  // namespace

Result<uint64_t> MysqlLetterStore::BeginPublishing(WallTime now) {
  return InTransaction(
      db_.pool(), {.operation = "begin publishing"}, [now](Session& session) -> Result<uint64_t> {
        CARILLON_TRY(session.Execute(
            "INSERT IGNORE INTO id_blocks (name, next_id) SELECT ?, COALESCE((SELECT d.id FROM "
            "dead_letters d FORCE INDEX (by_time) WHERE d.created_us < ? ORDER BY d.created_us "
            "DESC, d.id DESC LIMIT 1), 0) + 1",
            {kLetterSequence, ToUnixMicros(now - kLettersBeforeBegin)}));
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows,
            session.Query("SELECT next_id FROM id_blocks WHERE name = ?", {kLetterSequence}));
        if (rows.Next()) return rows.Unsigned(1);
        return {ErrorCode::kBrokenStore, "dead letters: id_blocks has no row"};
      });
}

Result<LettersToPublish> MysqlLetterStore::ScanUnpublished(uint64_t first, size_t limit) {
  return InRead(db_.pool(), "unpublished letters",
                [&](Session& session) -> Result<LettersToPublish> {
                  LettersToPublish page;
                  CARILLON_ASSIGN_OR_RETURN(page.letters, FetchUnpublished(session, first, limit));
                  page.waiting = static_cast<int64_t>(page.letters.size());
                  if (page.letters.size() < limit) return page;
                  CARILLON_ASSIGN_OR_RETURN(page.waiting, CountUnpublished(session, first));
                  return page;
                });
}

Result<LetterBacklog> MysqlLetterStore::GetBacklog() {
  return InRead(db_.pool(), "backlog of letters", [](Session& session) -> Result<LetterBacklog> {
    CARILLON_ASSIGN_OR_RETURN(
        Rows begun,
        session.Query("SELECT next_id FROM id_blocks WHERE name = ?", {kLetterSequence}));
    LetterBacklog backlog;
    if (!begun.Next()) return backlog;
    const uint64_t first = begun.Unsigned(1);
    CARILLON_ASSIGN_OR_RETURN(backlog.waiting, CountUnpublished(session, first));
    if (backlog.waiting == 0) return backlog;
    CARILLON_ASSIGN_OR_RETURN(
        Rows oldest, session.Query("SELECT l.created_us FROM dead_letters l FORCE INDEX "
                                   "(by_published) WHERE l.published = 0 AND l.id >= ? ORDER "
                                   "BY l.id LIMIT 1",
                                   {first}));
    if (!oldest.Next()) return LetterBacklog{};  // published meanwhile
    backlog.oldest = oldest.Time(1);
    return backlog;
  });
}

Status MysqlLetterStore::MarkPublished(const std::vector<uint64_t>& ids) {
  if (ids.empty()) return {};
  return InTransaction(
      db_.pool(), {.operation = "mark published"}, [&](Session& session) -> Status {
        JsonRows rows;
        for (const uint64_t id : ids) rows.Begin().Add(id);
        CARILLON_TRY(
            session.Execute("UPDATE JSON_TABLE(" CARILLON_JSON
                            ", '$[*]' COLUMNS (i BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN "
                            "dead_letters d FORCE INDEX (PRIMARY) ON d.id = k.i SET d.published = "
                            "1",
                            {rows.Take()}));
        return {};
      });
}

}  // namespace carillon::mysql
