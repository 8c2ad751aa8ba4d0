#include "common/adapters/mysql/backfill/backfill_rows.h"

#include <nlohmann/json.hpp>

#include "common/adapters/mysql/client/json_rows.h"

namespace carillon::mysql {
namespace {

constexpr std::string_view kColumns =
    "b.backfill_no, b.job_no, b.segment, j.job_id, b.schedule_id, b.from_us, b.to_us, "
    "b.descending, b.rerun, b.concurrency, b.priority, b.parameters, b.state, b.cursor_us, "
    "b.run_keys, b.fires, b.created, b.rerun_count, b.existing, b.refused, b.succeeded, b.failed, "
    "b.error, b.actor, b.created_us, b.ended_us";

Error NoBackfill(uint64_t number) {
  return {ErrorCode::kNotFound, "no backfill " + std::to_string(number)};
}

Result<std::vector<RunKey>> KeysOf(const std::string& text) {
  const nlohmann::json rows = nlohmann::json::parse(text, nullptr, false);
  if (!rows.is_array()) return {ErrorCode::kCorrupt, "backfill: run_keys is no array"};
  std::vector<RunKey> keys;
  for (const nlohmann::json& row : rows) {
    const bool valid = row.is_array() && row.size() == 3 && row[0].is_number_integer() &&
                       row[1].is_number_unsigned() && row[2].is_number_unsigned();
    if (!valid) return {ErrorCode::kCorrupt, "backfill: run_keys has no keys"};
    keys.push_back({.fire = FromUnixMicros(row[0].get<int64_t>()),
                    .schedule_id = ScheduleId(row[1].get<uint64_t>()),
                    .shard = row[2].get<uint32_t>()});
  }
  return keys;
}

Result<Backfill> ReadRow(const Rows& rows) {
  Backfill backfill{
      .number = rows.Unsigned(1),
      .job_no = JobNo(rows.Unsigned(2)),
      .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(3))),
      .terms = {.job_id = JobId(rows.Text(4)),
                .schedule_id = ScheduleId(rows.Unsigned(5)),
                .from = rows.Time(6),
                .to = rows.Time(7),
                .order = rows.Int(8) != 0 ? BackfillOrder::kDescending : BackfillOrder::kAscending,
                .concurrency = rows.Int(10),
                .parameters_json = rows.Text(12)},
      .fires = rows.Int(16),
      .counts = {.created = rows.Int(17),
                 .rerun = rows.Int(18),
                 .existing = rows.Int(19),
                 .refused = rows.Int(20),
                 .succeeded = rows.Int(21),
                 .failed = rows.Int(22)},
      .cursor = rows.Time(14),
      .error = rows.Text(23),
      .actor = rows.Text(24),
      .created = rows.Time(25),
      .ended = rows.Time(26)};
  if (!rows.IsNull(11)) backfill.terms.priority = static_cast<int>(rows.Int(11));
  CARILLON_ASSIGN_OR_RETURN(backfill.terms.rerun, ParseBackfillRerun(rows.Text(9)));
  CARILLON_ASSIGN_OR_RETURN(backfill.state, ParseBackfillState(rows.Text(13)));
  CARILLON_ASSIGN_OR_RETURN(backfill.runs, KeysOf(rows.Text(15)));
  return backfill;
}

std::string Select(std::string_view where) {
  return "SELECT " + std::string(kColumns) +
         " FROM backfills b STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = b.job_no "
         "WHERE " +
         std::string(where);
}

}  // namespace

std::string KeysText(const std::vector<RunKey>& keys) {
  if (keys.empty()) return "[]";
  JsonRows rows;
  for (const RunKey& key : keys) rows.Begin().Add(key);
  return rows.Take();
}

Result<std::vector<Backfill>> ReadBackfills(Session& session, const std::string& where,
                                            const Params& params, size_t limit) {
  Params all = params;
  all.emplace_back(static_cast<uint64_t>(limit));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(Select(where) + " ORDER BY b.backfill_no DESC LIMIT ?", all));
  std::vector<Backfill> found;
  while (rows.Next()) {
    Result<Backfill> backfill = ReadRow(rows);
    if (backfill.ok()) {
      found.push_back(std::move(backfill).value());
    } else {
      session.NoteUnreadable("backfills", std::to_string(rows.Unsigned(1)),
                             backfill.error().message);
    }
  }
  return found;
}

Result<Backfill> ReadBackfill(Session& session, uint64_t number) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(Select("b.backfill_no = ?"), {number}));
  if (!rows.Next()) return NoBackfill(number);
  return ReadRow(rows);
}

// The row is locked first by itself, because a join would lock the row of the job too.
Result<Backfill> LockBackfill(Session& session, uint64_t number) {
  {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT backfill_no FROM backfills WHERE backfill_no = ? FOR "
                                 "UPDATE",
                                 {number}));
    if (!rows.Next()) return NoBackfill(number);
  }
  return ReadBackfill(session, number);
}

Status InsertBackfill(Session& session, Backfill* backfill) {
  const BackfillTerms& terms = backfill->terms;
  const Param priority = terms.priority ? Param(int64_t{*terms.priority}) : Param(nullptr);
  const Param parameters = terms.parameters_json.empty()
                               ? Param(nullptr)
                               : Param(std::string_view(terms.parameters_json));
  CARILLON_TRY(session.Execute(
      "INSERT INTO backfills (job_no, segment, open_segment, schedule_id, from_us, to_us, "
      "descending, rerun, concurrency, priority, parameters, state, cursor_us, run_keys, fires, "
      "actor, created_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', ?, ?, ?)",
      {backfill->job_no.value(), uint64_t{backfill->segment.value()},
       uint64_t{backfill->segment.value()}, terms.schedule_id.value(), ToUnixMicros(terms.from),
       ToUnixMicros(terms.to), int64_t{terms.order == BackfillOrder::kDescending},
       Name(terms.rerun), terms.concurrency, priority, parameters, Name(backfill->state),
       ToUnixMicros(backfill->cursor), backfill->fires, backfill->actor,
       ToUnixMicros(backfill->created)}));
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT LAST_INSERT_ID()"));
  rows.Next();
  backfill->number = rows.Unsigned(1);
  return {};
}

Status UpdateBackfill(Session& session, const Backfill& backfill) {
  const std::string keys = KeysText(backfill.runs);
  const Param open =
      HasEnded(backfill) ? Param(nullptr) : Param(uint64_t{backfill.segment.value()});
  const BackfillCounts& counts = backfill.counts;
  CARILLON_TRY(session.Execute(
      "UPDATE backfills SET open_segment = ?, state = ?, cursor_us = ?, run_keys = ?, created = ?, "
      "rerun_count = ?, existing = ?, refused = ?, succeeded = ?, failed = ?, error = ?, "
      "ended_us = ? WHERE backfill_no = ?",
      {open, Name(backfill.state), ToUnixMicros(backfill.cursor), keys, counts.created,
       counts.rerun, counts.existing, counts.refused, counts.succeeded, counts.failed,
       backfill.error, ToUnixMicros(backfill.ended), backfill.number}));
  return {};
}

Result<bool> HasOpenBackfill(Session& session, JobNo job_no) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT 1 FROM backfills b FORCE INDEX (by_job) WHERE b.job_no = ? "
                               "AND b.state IN ('RUNNING', 'PAUSED') LIMIT 1",
                               {job_no.value()}));
  return rows.Next();
}

}  // namespace carillon::mysql
