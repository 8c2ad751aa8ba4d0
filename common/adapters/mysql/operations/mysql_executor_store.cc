#include "common/adapters/mysql/operations/mysql_executor_store.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"

namespace carillon::mysql {
namespace {

const std::string kColumns =
    "x.executor_id, x.incarnation, x.host, x.port, x.status, x.enabled, x.draining, x.labels, "
    "x.slots, x.running, x.load_cpu, x.load_memory, x.load_disk, x.load_io, "
    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', x.last_heartbeat_time), "
    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', x.register_time), x.version, x.features, "
    "x.handlers";

Result<ExecutorState> ParseState(const std::string& text) {
  for (const ExecutorState state : {ExecutorState::kOnline, ExecutorState::kUnhealthy,
                                    ExecutorState::kLost, ExecutorState::kOffline}) {
    if (Name(state) == text) return state;
  }
  return {ErrorCode::kCorrupt, "executor: unknown state " + text};
}

std::string LabelsText(const std::map<std::string, std::string>& labels) {
  return nlohmann::json(labels).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<std::map<std::string, std::string>> ParseLabels(const std::string& text) {
  std::map<std::string, std::string> labels;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return {ErrorCode::kCorrupt, "executor: labels are no object"};
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) labels[name] = value.get<std::string>();
  }
  return labels;
}

// Names of handlers contain no blanks.
std::string HandlersText(const std::set<std::string>& handlers) {
  return fmt::format("{}", fmt::join(handlers, " "));
}

std::set<std::string> ParseHandlers(const std::string& text) {
  std::set<std::string> handlers;
  std::istringstream names(text);
  for (std::string name; names >> name;) handlers.insert(name);
  return handlers;
}

Result<ExecutorRecord> ReadExecutor(const Rows& rows) {
  ExecutorRecord record;
  record.id = ExecutorId(rows.Text(1));
  record.incarnation = Incarnation(rows.Text(2));
  record.host = rows.Text(3);
  record.ops_port = static_cast<int>(rows.Int(4));
  CARILLON_ASSIGN_OR_RETURN(record.state, ParseState(rows.Text(5)));
  record.enabled = rows.Int(6) != 0;
  record.draining = rows.Int(7) != 0;
  CARILLON_ASSIGN_OR_RETURN(record.labels, ParseLabels(rows.Text(8)));
  record.slots = static_cast<int>(rows.Int(9));
  record.running = static_cast<int>(rows.Int(10));
  record.load = {rows.Double(11), rows.Double(12), rows.Double(13), rows.Double(14)};
  record.last_heartbeat = rows.Time(15);
  record.registered = rows.Time(16);
  record.version = rows.Text(17);
  record.abilities = {.features = Features::FromBits(rows.Unsigned(18)),
                      .handlers = ParseHandlers(rows.Text(19))};
  return record;
}

Result<ExecutorRecord> SelectExecutor(Session& session, const ExecutorId& id,
                                      const std::string& lock = "") {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT " + kColumns + " FROM executors x WHERE x.executor_id = ?" + lock,
                    {id.value()}));
  if (!rows.Next()) return {ErrorCode::kNotFound, "no executor " + id.value()};
  return ReadExecutor(rows);
}

// Returns the executors of a JSON array of rows with one id each.
Result<std::map<ExecutorId, ExecutorRecord>> SelectExecutors(Session& session,
                                                             const std::string& ids) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT " + kColumns +
                                   " FROM JSON_TABLE(" CARILLON_JSON
                                   ", '$[*]' COLUMNS (e VARCHAR(255) CHARACTER SET ascii "
                                   "COLLATE ascii_bin PATH '$[0]')) k STRAIGHT_JOIN executors x "
                                   "FORCE INDEX (PRIMARY) ON x.executor_id = k.e",
                               {ids}));
  std::map<ExecutorId, ExecutorRecord> found;
  while (rows.Next()) {
    CARILLON_ASSIGN_OR_RETURN(ExecutorRecord record, ReadExecutor(rows));
    found.emplace(record.id, std::move(record));
  }
  return found;
}

// In one order everywhere, so that two batches never wait for each other.
std::vector<const ExecutorRecord*> ById(const std::vector<ExecutorRecord>& records) {
  std::vector<const ExecutorRecord*> sorted;
  sorted.reserve(records.size());
  for (const ExecutorRecord& record : records) sorted.push_back(&record);
  std::sort(sorted.begin(), sorted.end(),
            [](const ExecutorRecord* a, const ExecutorRecord* b) { return a->id < b->id; });
  return sorted;
}

int64_t Millionths(double share) {
  return int64_t{std::lround(std::clamp(share, 0.0, 2'000.0) * 1'000'000)};
}

// Sets one column to an administrator's choice, and returns the resulting record.
Result<ExecutorRecord> SetColumn(Pool& pool, const ExecutorId& id, const std::string& column,
                                 const Param& value) {
  return InTransaction(
      pool, {.operation = "executor"}, [&](Session& session) -> Result<ExecutorRecord> {
        CARILLON_TRY(session.Execute(
            "UPDATE executors SET " + column + " = ? WHERE executor_id = ?", {value, id.value()}));
        return SelectExecutor(session, id);
      });
}

}  // namespace

Result<std::vector<ExecutorRecord>> MysqlExecutorStore::RegisterExecutors(
    const std::vector<ExecutorRecord>& records) {
  static const std::string statement =
      "INSERT INTO executors (executor_id, incarnation, host, port, status, slots, running, "
      "load_cpu, load_memory, load_disk, load_io, version, last_heartbeat_time, register_time, "
      "enabled, draining, labels) SELECT k.e, k.p, k.o, k.q, k.s, k.n, k.r, k.c / 1000000, "
      "k.m / 1000000, k.d / 1000000, k.i / 1000000, k.v, "
      "TIMESTAMPADD(MICROSECOND, k.h, '1970-01-01 00:00:00'), "
      "TIMESTAMPADD(MICROSECOND, k.t, '1970-01-01 00:00:00'), k.a, k.b, k.l "
      "FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (e VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]', "
      "p VARCHAR(255) PATH '$[1]', o VARCHAR(1024) PATH '$[2]', q INT PATH '$[3]', "
      "s VARCHAR(255) PATH '$[4]', n INT PATH '$[5]', r INT PATH '$[6]', c INT PATH '$[7]', "
      "m INT PATH '$[8]', d INT PATH '$[9]', i INT PATH '$[10]', v VARCHAR(1024) PATH '$[11]', "
      "h BIGINT PATH '$[12]', t BIGINT PATH '$[13]', a INT PATH '$[14]', b INT PATH '$[15]', "
      "l LONGTEXT PATH '$[16]')) k "
      "ON DUPLICATE KEY UPDATE incarnation = VALUES(incarnation), host = VALUES(host), "
      "port = VALUES(port), status = VALUES(status), slots = VALUES(slots), "
      "running = VALUES(running), load_cpu = VALUES(load_cpu), "
      "load_memory = VALUES(load_memory), load_disk = VALUES(load_disk), "
      "load_io = VALUES(load_io), version = VALUES(version), "
      "last_heartbeat_time = VALUES(last_heartbeat_time), register_time = VALUES(register_time)";
  if (records.empty()) return std::vector<ExecutorRecord>{};
  JsonRows rows;
  JsonRows ids;
  for (const ExecutorRecord* record : ById(records)) {
    rows.Begin()
        .Add(record->id.value())
        .Add(record->incarnation.value())
        .Add(record->host)
        .Add(record->ops_port)
        .Add(Name(record->state))
        .Add(record->slots)
        .Add(record->running)
        .Add(Millionths(record->load.cpu))
        .Add(Millionths(record->load.memory))
        .Add(Millionths(record->load.disk))
        .Add(Millionths(record->load.io))
        .Add(record->version)
        .Add(record->last_heartbeat)
        .Add(record->registered)
        .Add(record->enabled)
        .Add(record->draining)
        .Add(LabelsText(record->labels));
    ids.Begin().Add(record->id.value());
  }
  const std::string written = rows.Take();
  const std::string read = ids.Take();
  CARILLON_ASSIGN_OR_RETURN(
      const auto stored,
      InTransaction(db_.pool(), {.operation = "register"},
                    [&](Session& session) -> Result<std::map<ExecutorId, ExecutorRecord>> {
                      CARILLON_TRY(session.Execute(statement, {written}));
                      return SelectExecutors(session, read);
                    }));
  std::vector<ExecutorRecord> answers;
  for (const ExecutorRecord& record : records) {
    const auto found = stored.find(record.id);
    if (found == stored.end()) return {ErrorCode::kCorrupt, "no executor " + record.id.value()};
    answers.push_back(found->second);
  }
  return answers;
}

Status MysqlExecutorStore::UpdateExecutors(const std::vector<ExecutorRecord>& records) {
  static const std::string statement =
      "UPDATE JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (e VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin "
      "PATH '$[0]', s VARCHAR(255) PATH '$[1]', r INT PATH '$[2]', h BIGINT PATH '$[3]', "
      "c INT PATH '$[4]', m INT PATH '$[5]', d INT PATH '$[6]', i INT PATH '$[7]', "
      "n INT PATH '$[8]', p VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin PATH '$[9]')) k "
      "STRAIGHT_JOIN executors x FORCE INDEX (PRIMARY) ON x.executor_id = k.e "
      "AND x.incarnation = k.p SET x.status = k.s, "
      "x.slots = k.n, x.running = k.r, x.last_heartbeat_time = TIMESTAMPADD(MICROSECOND, k.h, "
      "'1970-01-01 "
      "00:00:00'), x.load_cpu = k.c / 1000000, x.load_memory = k.m / 1000000, "
      "x.load_disk = k.d / 1000000, x.load_io = k.i / 1000000";
  if (records.empty()) return {};
  JsonRows rows;
  for (const ExecutorRecord* record : ById(records)) {
    rows.Begin()
        .Add(record->id.value())
        .Add(Name(record->state))
        .Add(record->running)
        .Add(record->last_heartbeat)
        .Add(Millionths(record->load.cpu))
        .Add(Millionths(record->load.memory))
        .Add(Millionths(record->load.disk))
        .Add(Millionths(record->load.io))
        .Add(record->slots)
        .Add(record->incarnation.value());
  }
  const std::string json = rows.Take();
  return InTransaction(db_.pool(), {.operation = "heartbeats"}, [&](Session& session) -> Status {
    CARILLON_TRY(session.Execute(statement, {json}));
    return {};
  });
}

Status MysqlExecutorStore::UpdateAbilities(const std::vector<ExecutorRecord>& records) {
  static const std::string statement =
      "UPDATE JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (e VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]', "
      "p VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin PATH '$[1]', "
      "f BIGINT UNSIGNED PATH '$[2]', h LONGTEXT PATH '$[3]')) k STRAIGHT_JOIN executors x "
      "FORCE INDEX (PRIMARY) ON x.executor_id = k.e AND x.incarnation = k.p "
      "SET x.features = k.f, x.handlers = NULLIF(k.h, '')";
  if (records.empty()) return {};
  JsonRows rows;
  for (const ExecutorRecord* record : ById(records)) {
    rows.Begin()
        .Add(record->id.value())
        .Add(record->incarnation.value())
        .Add(record->abilities.features.bits())
        .Add(HandlersText(record->abilities.handlers));
  }
  const std::string json = rows.Take();
  return InTransaction(db_.pool(), {.operation = "abilities"}, [&](Session& session) -> Status {
    CARILLON_TRY(session.Execute(statement, {json}));
    return {};
  });
}

Result<std::vector<ExecutorRecord>> MysqlExecutorStore::ListExecutors() {
  return InRead(
      db_.pool(), "list executors", [](Session& session) -> Result<std::vector<ExecutorRecord>> {
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows,
            session.Query("SELECT " + kColumns + " FROM executors x ORDER BY x.executor_id"));
        std::vector<ExecutorRecord> all;
        while (rows.Next()) {
          Result<ExecutorRecord> record = ReadExecutor(rows);
          if (record.ok()) {
            all.push_back(std::move(record).value());
          } else {
            session.NoteUnreadable("executors", rows.Text(1), record.error().message);
          }
        }
        return all;
      });
}

Result<ExecutorRecord> MysqlExecutorStore::GetExecutor(const ExecutorId& id) {
  return InRead(db_.pool(), "get executor",
                [&](Session& session) { return SelectExecutor(session, id); });
}

Result<ExecutorRecord> MysqlExecutorStore::SetExecutorEnabled(const ExecutorId& id, bool enabled) {
  return SetColumn(db_.pool(), id, "enabled", int64_t{enabled});
}

Result<ExecutorRecord> MysqlExecutorStore::SetExecutorDraining(const ExecutorId& id,
                                                               bool draining) {
  return SetColumn(db_.pool(), id, "draining", int64_t{draining});
}

Result<ExecutorRecord> MysqlExecutorStore::SetExecutorLabels(const LabelEdit& edit) {
  const std::string text = LabelsText(edit.labels);
  return InTransaction(
      db_.pool(), {.operation = "executor"}, [&](Session& session) -> Result<ExecutorRecord> {
        CARILLON_ASSIGN_OR_RETURN(ExecutorRecord record,
                                  SelectExecutor(session, edit.id, " FOR UPDATE"));
        if (record.labels != edit.expected && record.labels != edit.labels) {
          return {ErrorCode::kConflict,
                  "the labels of " + edit.id.value() + " were changed meanwhile"};
        }
        CARILLON_TRY(session.Execute("UPDATE executors SET labels = ? WHERE executor_id = ?",
                                     {text, edit.id.value()}));
        record.labels = edit.labels;
        return record;
      });
}

}  // namespace carillon::mysql
