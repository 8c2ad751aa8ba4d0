#include "common/adapters/mysql/access/mysql_audit_store.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "common/adapters/mysql/client/ascii.h"
#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/run_rows/count_rows.h"

namespace carillon::mysql {
namespace {

// The database numbers the records, but members set their times. A member uses cluster time, or the
// host's clock while cluster time is unknown. If the times of two records differ by more than this,
// the later record has the higher number.
constexpr Duration kClocksApart = 1h;

// A range of one index in which rows are ordered by id, and nearly all rows are wanted.
struct Lane {
  std::string table;
  Conditions wanted;
};

bool CanBeAnyones(const AuditFilter& filter) {
  return IsAscii(filter.object_id) && std::ranges::all_of(filter.actions, IsAscii);
}

// Returns the id of the last record before the time `at` (if `condition` is "<"), or of the first
// record from `at` on (">="). Returns `none` if there is no such record.
Result<uint64_t> IdNextTo(Session& session, std::string_view condition, WallTime at,
                          uint64_t none) {
  const std::string_view order = condition == "<" ? "DESC" : "ASC";
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(fmt::format("SELECT id FROM audit_log WHERE at_us {} ? ORDER BY "
                                           "at_us {}, id {} LIMIT 1",
                                           condition, order, order),
                               {ToUnixMicros(at)}));
  return rows.Next() ? rows.Unsigned(1) : none;
}

// Turns a filter into ranges of indexes. Not copyable, because the conditions refer to variables of
// this object.
class Search {
 public:
  explicit Search(const AuditFilter& filter)
      : filter_(filter), tokens_from_(filter.actor + "/"), tokens_to_(filter.actor + "0") {}
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // Returns one lane for each wanted value of an indexed column. An index range over several values
  // would not be ordered by id.
  Result<std::vector<Lane>> Lanes(Session& session) {
    CARILLON_TRY(SetRange(session));
    std::vector<Lane> lanes;
    if (!filter_.object_id.empty()) {
      AddActions();
      if (!filter_.actor.empty()) {
        wanted_.Add("(a.actor = ? OR (a.actor > ? AND a.actor < ?))",
                    {filter_.actor, tokens_from_, tokens_to_});
      }
      lanes.push_back(LaneOf("by_object", "a.object_id = ?", filter_.object_id));
    } else if (!filter_.actor.empty()) {
      AddActions();
      CARILLON_TRY(ReadActors(session));
      for (const std::string& actor : actors_) {
        lanes.push_back(LaneOf("by_actor", "a.actor = ?", actor));
      }
    } else if (!filter_.actions.empty()) {
      const std::set<std::string_view> actions(filter_.actions.begin(), filter_.actions.end());
      for (const std::string_view action : actions) {
        lanes.push_back(LaneOf("by_action", "a.action = ?", action));
      }
    } else {
      lanes.push_back({.table = TableBy("PRIMARY"), .wanted = wanted_});
    }
    return lanes;
  }

 private:
  // Forces the index, because the optimizer does not know how soon a page is full.
  static std::string TableBy(std::string_view index) {
    return fmt::format("audit_log a FORCE INDEX ({})", index);
  }
  Status SetRange(Session& session) {
    uint64_t after = filter_.after_id;
    uint64_t before = filter_.before_id;
    if (filter_.since) {
      CARILLON_ASSIGN_OR_RETURN(const uint64_t earlier,
                                IdNextTo(session, "<", *filter_.since - kClocksApart, 0));
      after = std::max(after, earlier);
      wanted_.Add("a.at_us >= ?", {ToUnixMicros(*filter_.since)});
    }
    if (filter_.until) {
      CARILLON_ASSIGN_OR_RETURN(const uint64_t later,
                                IdNextTo(session, ">=", *filter_.until + kClocksApart, UINT64_MAX));
      before = std::min(before, later);
      wanted_.Add("a.at_us < ?", {ToUnixMicros(*filter_.until)});
    }
    wanted_.Add("a.id > ?", {after});
    wanted_.Add("a.id < ?", {before});
    return {};
  }
  void AddActions() {
    if (!filter_.actions.empty()) wanted_.AddAnyOf("a.action", filter_.actions);
  }
  // Collects the user and those of the user's tokens that have records. Reads one index entry for
  // each token.
  Status ReadActors(Session& session) {
    actors_.push_back(filter_.actor);
    for (std::string last = tokens_from_;;) {
      CARILLON_ASSIGN_OR_RETURN(
          Rows rows, session.Query("SELECT actor FROM audit_log FORCE INDEX (by_actor) WHERE actor "
                                   "> ? AND actor < ? ORDER BY actor LIMIT 1",
                                   {last, tokens_to_}));
      if (!rows.Next()) return {};
      last = rows.Text(1);
      actors_.push_back(last);
    }
  }
  Lane LaneOf(std::string_view index, std::string_view condition, std::string_view value) const {
    Lane lane{.table = TableBy(index), .wanted = wanted_};
    lane.wanted.Add(condition, {value});
    return lane;
  }

  const AuditFilter& filter_;
  const std::string tokens_from_;
  const std::string tokens_to_;  // end of the range: '0' is the character after '/'
  std::vector<std::string> actors_;
  Conditions wanted_;
};

Status ReadLane(Session& session, const Lane& lane, const AuditFilter& filter,
                std::vector<AuditRecord>& page) {
  Params params = lane.wanted.params();
  params.push_back(static_cast<uint64_t>(filter.limit));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(fmt::format("SELECT a.id, a.at_us, a.actor, a.action, a.object_id, "
                                "a.reason, a.trace_id, a.changes FROM {} WHERE {} "
                                "ORDER BY a.id{} LIMIT ?",
                                lane.table, lane.wanted.text(), filter.oldest_first ? "" : " DESC"),
                    params));
  while (rows.Next()) {
    page.push_back({.id = rows.Unsigned(1),
                    .at = rows.Time(2),
                    .actor = rows.Text(3),
                    .action = rows.Text(4),
                    .object_id = rows.Text(5),
                    .reason = rows.Text(6),
                    .trace_id = rows.Text(7),
                    .changes_json = rows.IsNull(8) ? std::string() : rows.Text(8)});
  }
  return {};
}

}  // namespace

Status MysqlAuditStore::RecordAudit(const AuditRecord& record) {
  return InTransaction(db_.pool(), {.operation = "audit"}, [&](Session& session) -> Status {
    CARILLON_TRY(
        session.Execute("INSERT INTO audit_log (at_us, actor, action, object_id, reason, trace_id, "
                        "changes) VALUES (?, ?, ?, ?, ?, ?, ?)",
                        {ToUnixMicros(record.at), record.actor, record.action, record.object_id,
                         record.reason, record.trace_id, record.changes_json}));
    return {};
  });
}

Status MysqlAuditStore::RecordAudits(const std::vector<AuditRecord>& records) {
  static const std::string statement =
      "INSERT INTO audit_log (at_us, actor, action, object_id, reason, trace_id, changes) "
      "SELECT k.a, k.w, k.d, k.o, k.r, k.t, k.c FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS ("
      "a BIGINT PATH '$[0]', w VARCHAR(512) PATH '$[1]', d VARCHAR(128) PATH '$[2]', "
      "o VARCHAR(128) PATH '$[3]', t VARCHAR(64) PATH '$[4]', r MEDIUMTEXT PATH '$[5]', "
      "c LONGTEXT PATH '$[6]')) k";
  if (records.empty()) return {};
  JsonRows json;
  for (const AuditRecord& record : records) {
    json.Begin()
        .Add(record.at)
        .Add(record.actor)
        .Add(record.action)
        .Add(record.object_id)
        .Add(record.trace_id)
        .Add(record.reason)
        .Add(record.changes_json);
  }
  const std::string rows = json.Take();
  return InTransaction(db_.pool(), {.operation = "audit"}, [&](Session& session) -> Status {
    CARILLON_TRY(session.Execute(statement, {rows}));
    return {};
  });
}

Result<std::vector<AuditRecord>> MysqlAuditStore::ListAudit(const AuditFilter& filter) {
  if (!CanBeAnyones(filter)) return std::vector<AuditRecord>();
  return InRead(db_.pool(), "audit", [&](Session& session) -> Result<std::vector<AuditRecord>> {
    Search search(filter);
    CARILLON_ASSIGN_OR_RETURN(const std::vector<Lane> lanes, search.Lanes(session));
    std::vector<AuditRecord> page;
    for (const Lane& lane : lanes) CARILLON_TRY(ReadLane(session, lane, filter, page));
    if (filter.oldest_first) {
      std::ranges::sort(page, std::less(), &AuditRecord::id);
    } else {
      std::ranges::sort(page, std::greater(), &AuditRecord::id);
    }
    if (page.size() > filter.limit) page.resize(filter.limit);
    return page;
  });
}

Result<BoundedCount> MysqlAuditStore::CountAudit(const AuditFilter& filter) {
  if (!CanBeAnyones(filter)) return BoundedCount{.seen = 0, .all = true};
  return InCount(db_.pool(), [&](Session& session) -> Result<BoundedCount> {
    BoundedCount count{.seen = 0, .all = true};
    Search search(filter);
    CARILLON_ASSIGN_OR_RETURN(const std::vector<Lane> lanes, search.Lanes(session));
    for (const Lane& lane : lanes) {
      CARILLON_ASSIGN_OR_RETURN(
          const BoundedCount one,
          CountRows(session, {.from = lane.table, .order = "a.id DESC", .within = lane.wanted}));
      count.seen += one.seen;
      count.all = count.all && one.all;
    }
    if (count.seen > kListedCountMax) count = {.seen = kListedCountMax, .all = false};
    return count;
  });
}

}  // namespace carillon::mysql
