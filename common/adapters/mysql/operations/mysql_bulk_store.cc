#include "common/adapters/mysql/operations/mysql_bulk_store.h"

#include "common/adapters/mysql/client/ascii.h"
#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/job_rows/request_keys.h"
#include "common/adapters/mysql/run_rows/count_rows.h"

namespace carillon::mysql {
namespace {

constexpr const char* kActionColumns =
    "id, bulk_id, action, kind, reason, confirm_overlap, actor, user_id, token_id, role, trace_id, "
    "created_us, state, total, done, failed, skipped, error, updated_us, ended_us, kills, lease";
constexpr uint32_t kLeaseColumn = 22;

struct ActionRow {
  BulkAction action;
  int64_t lease = 0;
};

Error NoBulk(const std::string& id) { return {ErrorCode::kNotFound, "no bulk action " + id}; }

std::string SelectActions(const std::string& where) {
  return std::string("SELECT ") + kActionColumns + " FROM bulk_actions b WHERE " + where;
}

// Returns the actions of a list and of its count, without the cursor. There is an index with the
// state, but no index with both user and state.
CountedRows ActionsOf(const BulkFilter& filter) {
  const auto& [state, user_id, open, before_number, limit] = filter;  // names every field
  CountedRows rows{.from = "bulk_actions b", .order = "b.id DESC", .within = {}};
  if (user_id) rows.within.Add("b.user_id = ?", {*user_id});
  Conditions& of_state = user_id ? rows.wanted : rows.within;
  if (state) of_state.Add("b.state = ?", {Name(*state)});
  if (open) rows.wanted.Add("b.is_open = 1");
  return rows;
}

Result<ActionRow> ReadAction(const Rows& rows) {
  BulkAction action{
      .number = rows.Unsigned(1),
      .order = {.bulk_id = rows.Text(2),
                .action = rows.Text(3),
                .kind = rows.Text(4),
                .reason = rows.Text(5),
                .confirm_overlap = rows.Int(6) != 0,
                .cancel_mode = rows.Int(21) != 0 ? CancelMode::kKill : CancelMode::kGraceful,
                .actor = rows.Text(7),
                .user_id = rows.Text(8),
                .token_id = rows.Text(9),
                .role = rows.Text(10),
                .trace_id = rows.Text(11),
                .created = rows.Time(12)},
      .total = rows.Int(14),
      .done = rows.Int(15),
      .failed = rows.Int(16),
      .skipped = rows.Int(17),
      .error = rows.Text(18),
      .updated = rows.Time(19),
      .ended = rows.Time(20)};
  CARILLON_ASSIGN_OR_RETURN(action.state, ParseBulkState(rows.Text(13)));
  return ActionRow{.action = std::move(action), .lease = rows.Int(kLeaseColumn)};
}

Result<ActionRow> LockAction(Session& session, const std::string& bulk_id) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Query(SelectActions("bulk_id = ? FOR UPDATE"), {bulk_id}));
  if (!rows.Next()) return NoBulk(bulk_id);
  return ReadAction(rows);
}

Result<ActionRow> LockLeased(Session& session, const BulkLease& lease) {
  const Error fenced{ErrorCode::kFenced,
                     "bulk action " + lease.bulk_id + " is another member's by now"};
  auto row = LockAction(session, lease.bulk_id);
  if (!row.ok()) return row.code() == ErrorCode::kNotFound ? fenced : row.error();
  if (row->lease != lease.number) return fenced;
  return row;
}

Status Renew(Session& session, const BulkAction& action, WallTime until) {
  CARILLON_TRY(session.Execute("UPDATE bulk_actions SET leased_until_us = ? WHERE id = ?",
                               {ToUnixMicros(until), action.number}));
  return {};
}

// Writes the counts and the state of an action after items got their results.
Status WriteTally(Session& session, BulkAction& action, WallTime now) {
  action.updated = now;
  if (action.done + action.failed + action.skipped >= action.total) {
    action.ended = now;
    if (action.state == BulkState::kRunning) action.state = BulkState::kDone;
  }
  CARILLON_TRY(session.Execute(
      "UPDATE bulk_actions SET state = ?, done = ?, failed = ?, skipped = ?, error = ?, "
      "updated_us = ?, ended_us = ?, is_open = IF(? = 0, 1, NULL) WHERE id = ?",
      {Name(action.state), action.done, action.failed, action.skipped, action.error,
       ToUnixMicros(action.updated), ToUnixMicros(action.ended), ToUnixMicros(action.ended),
       action.number}));
  return {};
}

// Sets the result of the pending items that match `condition`. Returns the number of items.
Result<int64_t> GiveResult(Session& session, const BulkAction& action, std::string_view condition,
                           BulkResult result, const std::string& error_json) {
  return session.Execute(
      "UPDATE bulk_items SET result = ?, error = NULLIF(?, '') WHERE action_id = ? AND result = "
      "'pending' AND " +
          std::string(condition),
      {Name(result), error_json, action.number});
}

// Records those of `items` whose result is `result`, if they are still pending in the store.
// Returns the number of recorded items.
Result<int64_t> RecordSome(Session& session, const BulkAction& action,
                           const std::vector<BulkItem>& items, BulkResult result) {
  JsonRows rows;
  for (const BulkItem& item : items) {
    if (item.result != result) continue;
    rows.Begin().Add(item.position).Add(item.run_id).AddBytes(item.error_json);
  }
  if (rows.empty()) return int64_t{0};
  return session.Execute(
      "UPDATE JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (p INT UNSIGNED PATH '$[0]', r VARCHAR(255) PATH "
      "'$[1]', e LONGTEXT PATH '$[2]')) k STRAIGHT_JOIN bulk_items i FORCE INDEX (PRIMARY) ON "
      "i.action_id = ? AND i.position = k.p SET i.result = ?, i.run_id = k.r, i.error = "
      "NULLIF(CONVERT(FROM_BASE64(k.e) USING utf8mb4), '') WHERE i.result = 'pending'",
      {rows.Take(), action.number, Name(result)});
}

Status InsertItems(Session& session, uint64_t number, const std::vector<std::string>& ids) {
  JsonRows rows;
  int64_t position = 0;
  for (const std::string& id : ids) rows.Begin().Add(position++).AddBytes(id);
  CARILLON_TRY(
      session.Execute("INSERT INTO bulk_items (action_id, position, item_id) SELECT ?, k.p, "
                      "CONVERT(FROM_BASE64(k.i) USING utf8mb4) FROM JSON_TABLE(" CARILLON_JSON
                      ", '$[*]' COLUMNS (p INT UNSIGNED "
                      "PATH '$[0]', i VARCHAR(512) PATH '$[1]')) k",
                      {number, rows.Take()}));
  return {};
}

BulkItem ReadItem(const Rows& rows, BulkResult result) {
  return {.position = rows.Int(1),
          .id = rows.Text(2),
          .result = result,
          .begun = rows.Int(4) != 0,
          .run_id = rows.Text(5),
          .error_json = rows.Text(6)};
}

Result<std::vector<BulkItem>> ReadItems(Rows rows) {
  std::vector<BulkItem> items;
  while (rows.Next()) {
    CARILLON_ASSIGN_OR_RETURN(const BulkResult result, ParseBulkResult(rows.Text(3)));
    items.push_back(ReadItem(rows, result));
  }
  return items;
}

constexpr const char* kSelectItems =
    "SELECT position, item_id, result, begun, run_id, error FROM bulk_items WHERE action_id = ? ";

}  // namespace

Result<BulkAction> MysqlBulkStore::CreateBulk(const BulkOrder& order,
                                              const std::vector<std::string>& ids,
                                              const std::optional<KeyedAnswer<BulkAction>>& keyed) {
  return InTransaction(
      db_.pool(), {.operation = "create bulk action"}, [&](Session& session) -> Result<BulkAction> {
        {
          CARILLON_ASSIGN_OR_RETURN(Rows rows,
                                    session.Query("SELECT COUNT(*) FROM bulk_actions WHERE is_open "
                                                  "= 1 AND user_id = ?",
                                                  {order.user_id}));
          rows.Next();
          if (rows.Int(1) >= kBulkOpenMax) {
            return Error{ErrorCode::kExhausted, "bulk actions of " + order.user_id};
          }
        }
        CARILLON_TRY(session.Execute(
            "INSERT INTO bulk_actions (bulk_id, action, kind, state, is_open, reason, "
            "confirm_overlap, actor, user_id, token_id, role, trace_id, total, error, created_us, "
            "updated_us, kills) VALUES (?, ?, ?, 'RUNNING', 1, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, "
            "?)",
            {order.bulk_id, order.action, order.kind, order.reason, int64_t{order.confirm_overlap},
             order.actor, order.user_id, order.token_id, order.role, order.trace_id,
             static_cast<int64_t>(ids.size()), ToUnixMicros(order.created),
             ToUnixMicros(order.created), int64_t{order.cancel_mode == CancelMode::kKill}}));
        CARILLON_ASSIGN_OR_RETURN(ActionRow row, LockAction(session, order.bulk_id));
        if (ids.empty()) {
          CARILLON_TRY(WriteTally(session, row.action, order.created));
        } else {
          CARILLON_TRY(InsertItems(session, row.action.number, ids));
        }
        if (keyed) {
          CARILLON_TRY(SettleRequest(session, keyed->scope, keyed->key, keyed->answer(row.action)));
        }
        return std::move(row.action);
      });
}

Result<BulkAction> MysqlBulkStore::GetBulk(const std::string& bulk_id) {
  if (!IsAscii(bulk_id)) return NoBulk(bulk_id);
  return InRead(db_.pool(), "bulk action", [&](Session& session) -> Result<BulkAction> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(SelectActions("bulk_id = ?"), {bulk_id}));
    if (!rows.Next()) return NoBulk(bulk_id);
    CARILLON_ASSIGN_OR_RETURN(ActionRow row, ReadAction(rows));
    return std::move(row.action);
  });
}

Result<std::vector<BulkAction>> MysqlBulkStore::ListBulk(const BulkFilter& filter) {
  const CountedRows all = ActionsOf(filter);
  Conditions where;
  where.Add("b.id < ?", {filter.before_number});
  where.Add(all.within);
  where.Add(all.wanted);
  Params params = where.params();
  params.emplace_back(static_cast<uint64_t>(filter.limit));
  return InRead(
      db_.pool(), "bulk actions", [&](Session& session) -> Result<std::vector<BulkAction>> {
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows,
            session.Query(SelectActions(where.text() + " ORDER BY b.id DESC LIMIT ?"), params));
        std::vector<BulkAction> page;
        while (rows.Next()) {
          CARILLON_ASSIGN_OR_RETURN(ActionRow row, ReadAction(rows));
          page.push_back(std::move(row.action));
        }
        return page;
      });
}

Result<std::vector<BulkItem>> MysqlBulkStore::ListBulkItems(const std::string& bulk_id,
                                                            const BulkItemFilter& filter) {
  CARILLON_ASSIGN_OR_RETURN(const BulkAction action, GetBulk(bulk_id));
  std::string statement = std::string(kSelectItems) + "AND position > ?";
  Params params = {action.number, filter.after_position};
  if (filter.result) {
    statement += " AND result = ?";
    params.emplace_back(Name(*filter.result));
  }
  params.emplace_back(static_cast<uint64_t>(filter.limit));
  return InRead(db_.pool(), "bulk items", [&](Session& session) -> Result<std::vector<BulkItem>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query(statement + " ORDER BY position LIMIT ?", params));
    return ReadItems(std::move(rows));
  });
}

Result<BulkAction> MysqlBulkStore::CancelBulk(const std::string& bulk_id, WallTime now) {
  if (!IsAscii(bulk_id)) return NoBulk(bulk_id);
  return InTransaction(
      db_.pool(), {.operation = "cancel bulk action"}, [&](Session& session) -> Result<BulkAction> {
        CARILLON_ASSIGN_OR_RETURN(ActionRow row, LockAction(session, bulk_id));
        BulkAction& action = row.action;
        if (action.state != BulkState::kRunning) return std::move(action);
        CARILLON_ASSIGN_OR_RETURN(const int64_t skipped, GiveResult(session, action, "begun = 0",
                                                                    BulkResult::kSkipped, ""));
        action.state = BulkState::kCancelled;
        action.skipped += skipped;
        CARILLON_TRY(WriteTally(session, action, now));
        return std::move(action);
      });
}

Result<std::optional<LeasedBulk>> MysqlBulkStore::TakeBulk(WallTime now, WallTime until) {
  // Reads without locks first, because most calls find nothing to take.
  CARILLON_ASSIGN_OR_RETURN(
      const std::string found,
      InRead(db_.pool(), "open bulk actions", [&](Session& session) -> Result<std::string> {
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows,
            session.Query("SELECT bulk_id FROM bulk_actions WHERE is_open = 1 AND leased_until_us "
                          "<= ? ORDER BY updated_us, id LIMIT 1",
                          {ToUnixMicros(now)}));
        return rows.Next() ? rows.Text(1) : std::string();
      }));
  if (found.empty()) return std::optional<LeasedBulk>();
  return InTransaction(
      db_.pool(), {.operation = "take bulk action"},
      [&](Session& session) -> Result<std::optional<LeasedBulk>> {
        CARILLON_ASSIGN_OR_RETURN(
            const int64_t taken,
            session.Execute("UPDATE bulk_actions SET lease = lease + 1, leased_until_us = ? WHERE "
                            "bulk_id = ? AND is_open = 1 AND leased_until_us <= ?",
                            {ToUnixMicros(until), found, ToUnixMicros(now)}));
        if (taken == 0) return std::optional<LeasedBulk>();  // another member took it first
        CARILLON_ASSIGN_OR_RETURN(ActionRow row, LockAction(session, found));
        return std::optional(
            LeasedBulk{.action = std::move(row.action), .lease = {found, row.lease}});
      });
}

Result<std::vector<BulkItem>> MysqlBulkStore::BeginBulkItems(const BulkLease& lease,
                                                             int64_t last_position,
                                                             WallTime /*now*/, WallTime until) {
  return InTransaction(
      db_.pool(), {.operation = "begin bulk items"},
      [&](Session& session) -> Result<std::vector<BulkItem>> {
        CARILLON_ASSIGN_OR_RETURN(const ActionRow row, LockLeased(session, lease));
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows,
            session.Query(std::string(kSelectItems) +
                              "AND result = 'pending' AND position <= ? ORDER BY position",
                          {row.action.number, last_position}));
        CARILLON_ASSIGN_OR_RETURN(std::vector<BulkItem> items, ReadItems(std::move(rows)));
        CARILLON_TRY(
            session.Execute("UPDATE bulk_items SET begun = 1 WHERE action_id = ? AND result = "
                            "'pending' AND position <= ?",
                            {row.action.number, last_position}));
        CARILLON_TRY(Renew(session, row.action, until));
        return items;
      });
}

Result<BulkAction> MysqlBulkStore::RecordBulkItems(const BulkLease& lease,
                                                   const std::vector<BulkItem>& items, WallTime now,
                                                   WallTime until) {
  return InTransaction(
      db_.pool(), {.operation = "bulk results"}, [&](Session& session) -> Result<BulkAction> {
        CARILLON_ASSIGN_OR_RETURN(ActionRow row, LockLeased(session, lease));
        BulkAction& action = row.action;
        CARILLON_TRY(Renew(session, action, until));
        if (items.empty()) return std::move(action);
        CARILLON_ASSIGN_OR_RETURN(const int64_t done,
                                  RecordSome(session, action, items, BulkResult::kDone));
        CARILLON_ASSIGN_OR_RETURN(const int64_t failed,
                                  RecordSome(session, action, items, BulkResult::kError));
        action.done += done;
        action.failed += failed;
        CARILLON_TRY(WriteTally(session, action, now));
        return std::move(action);
      });
}

Result<BulkAction> MysqlBulkStore::StopBulk(const BulkLease& lease, const std::string& error,
                                            const std::string& begun_error_json, WallTime now) {
  return InTransaction(
      db_.pool(), {.operation = "stop bulk action"}, [&](Session& session) -> Result<BulkAction> {
        CARILLON_ASSIGN_OR_RETURN(ActionRow row, LockLeased(session, lease));
        BulkAction& action = row.action;
        if (HasEnded(action)) return std::move(action);
        CARILLON_ASSIGN_OR_RETURN(
            const int64_t failed,
            GiveResult(session, action, "begun = 1", BulkResult::kError, begun_error_json));
        CARILLON_ASSIGN_OR_RETURN(const int64_t skipped, GiveResult(session, action, "begun = 0",
                                                                    BulkResult::kSkipped, ""));
        if (action.state == BulkState::kRunning) action.state = BulkState::kStopped;
        action.failed += failed;
        action.skipped += skipped;
        action.error = error;
        CARILLON_TRY(WriteTally(session, action, now));
        return std::move(action);
      });
}

Status MysqlBulkStore::ReleaseBulk(const BulkLease& lease) {
  return InTransaction(db_.pool(), {.operation = "release bulk action"},
                       [&](Session& session) -> Status {
                         CARILLON_TRY(
                             session.Execute("UPDATE bulk_actions SET leased_until_us = 0 WHERE "
                                             "bulk_id = ? AND lease = ?",
                                             {lease.bulk_id, lease.number}));
                         return {};
                       });
}

Result<Upkeep> DeleteOldBulk(Pool& pool, WallTime before, int64_t items_max) {
  // The action is deleted in the same transaction as its last items. So after an interruption, the
  // next call finds the action and deletes the remaining items.
  for (int64_t deleted = 0; deleted < items_max;) {
    CARILLON_ASSIGN_OR_RETURN(
        const std::optional<uint64_t> old,
        InRead(pool, "retention", [&](Session& session) -> Result<std::optional<uint64_t>> {
          CARILLON_ASSIGN_OR_RETURN(
              Rows rows, session.Query("SELECT id FROM bulk_actions WHERE ended_us > 0 AND "
                                       "ended_us < ? ORDER BY ended_us, id LIMIT 1",
                                       {ToUnixMicros(before)}));
          return rows.Next() ? std::optional(rows.Unsigned(1)) : std::nullopt;
        }));
    if (!old) return Upkeep::kDone;
    CARILLON_ASSIGN_OR_RETURN(
        const int64_t items,
        InTransaction(pool, {.operation = "retention"}, [&](Session& session) -> Result<int64_t> {
          const int64_t left = items_max - deleted;
          CARILLON_ASSIGN_OR_RETURN(
              const int64_t gone,
              session.Execute("DELETE FROM bulk_items WHERE action_id = ? LIMIT ?", {*old, left}));
          if (gone < left) {
            CARILLON_TRY(session.Execute("DELETE FROM bulk_actions WHERE id = ?", {*old}));
          }
          return gone;
        }));
    deleted += items + 1;
  }
  return Upkeep::kBehind;
}

Result<BoundedCount> MysqlBulkStore::CountBulk(const BulkFilter& filter) {
  return CountIn(db_.pool(), ActionsOf(filter));
}

Result<BoundedCount> MysqlBulkStore::CountBulkItems(const std::string& bulk_id,
                                                    const BulkItemFilter& filter) {
  if (!IsAscii(bulk_id)) return kNoneCounted;
  CountedRows rows{.from = "bulk_items i", .order = "i.position", .within = {}};
  rows.within.Add("i.action_id = (SELECT b.id FROM bulk_actions b WHERE b.bulk_id = ?)", {bulk_id});
  if (filter.result) rows.within.Add("i.result = ?", {Name(*filter.result)});
  return CountIn(db_.pool(), rows);
}

}  // namespace carillon::mysql
