// Requests about bulk actions, executors, logs, and other records beside jobs and runs.
#include <fmt/format.h>

#include "tests/histories/explorer.h"

namespace carillon::test {

void Explorer::BeginBulk() {
  std::vector<std::string> ids;
  for (const StoredJob& job : Some(Jobs(), 0.4)) ids.push_back(job.job_id.value());
  if (ids.empty()) return;
  BulkOrder order{.bulk_id = fmt::format("b-{}", ++made_), .action = "run", .kind = "job"};
  if (Chance(0.3)) order.reason = "spring";
  order.user_id = Chance(0.5) ? "anna" : "bert";
  order.created = now_;
  static_cast<void>(s_.bulk.CreateBulk(order, ids, {}).ok());
}

void Explorer::WorkOnBulk() {
  const WallTime until = now_ + 1ms * Below(4'000);
  const auto taken = s_.bulk.TakeBulk(now_, until);
  if (!taken.ok() || !*taken) return;
  const BulkLease lease = (*taken)->lease;
  const auto items = s_.bulk.BeginBulkItems(lease, static_cast<int64_t>(Below(6)), now_, until);
  if (!items.ok()) return;
  std::vector<BulkItem> done;
  for (BulkItem item : *items) {
    if (Chance(0.2)) continue;
    item.result = Chance(0.8) ? BulkResult::kDone : BulkResult::kError;
    if (item.result == BulkResult::kError) item.error_json = R"({"code":"conflict"})";
    done.push_back(item);
  }
  static_cast<void>(s_.bulk.RecordBulkItems(lease, done, now_, until).ok());
  if (Chance(0.1)) static_cast<void>(s_.bulk.StopBulk(lease, "role", "{}", now_).ok());
  if (Chance(0.5)) static_cast<void>(s_.bulk.ReleaseBulk(lease).ok());
}

void Explorer::ReadBulk() {
  BulkFilter filter{.limit = 4};
  filter.open = Chance(0.3);
  if (Chance(0.3)) filter.state = BulkState::kDone;
  if (Chance(0.3)) filter.user_id = "anna";
  const auto found = s_.bulk.ListBulk(filter);
  static_cast<void>(s_.bulk.CountBulk(filter).ok());
  if (!found.ok() || found->empty()) return;
  const BulkAction& action = Pick(*found);
  BulkItemFilter items{.limit = 3};
  if (Chance(0.5)) items.result = Chance(0.5) ? BulkResult::kDone : BulkResult::kPending;
  static_cast<void>(s_.bulk.GetBulk(action.order.bulk_id).ok());
  static_cast<void>(s_.bulk.ListBulkItems(action.order.bulk_id, items).ok());
  static_cast<void>(s_.bulk.CountBulkItems(action.order.bulk_id, items).ok());
  if (Chance(0.3)) static_cast<void>(s_.bulk.CancelBulk(action.order.bulk_id, now_).ok());
}

void Explorer::ChangeExecutor() {
  const auto executors = s_.executors.ListExecutors();
  if (!executors.ok() || executors->empty()) return;
  const ExecutorRecord& record = Pick(*executors);
  switch (Below(4)) {
    // More often on than off, so that runs go on.
    case 0: static_cast<void>(s_.executors.SetExecutorEnabled(record.id, Chance(0.8)).ok()); break;
    case 1: static_cast<void>(s_.executors.SetExecutorDraining(record.id, Chance(0.2)).ok()); break;
    default:
      static_cast<void>(s_.executors
                            .SetExecutorLabels({.id = record.id,
                                                .labels = {{"zone", Chance(0.5) ? "a" : "b"}},
                                                .expected = record.labels})
                            .ok());
      break;
  }
  static_cast<void>(s_.executors.GetExecutor(record.id).ok());
}

void Explorer::Logs() {
  const std::vector<RunDetail> runs = Runs();
  if (runs.empty()) return;
  const RunRow& row = Pick(runs).row;
  LogChunk chunk{.first_seq = 1 + Below(3), .count = 1, .last = Chance(0.3)};
  AppendEntry(chunk.entries, {.time = now_, .text = fmt::format("line {}\n", made_)});
  static_cast<void>(s_.logs.AppendLogs({{row.key, row.attempt, chunk}}).ok());
  static_cast<void>(s_.logs.ReadLog(row.key, row.attempt, 1 + Below(2), 100).ok());
  static_cast<void>(s_.logs.GetLogExtent(row.key, row.attempt).ok());
}

void Explorer::Audits() {
  const std::string actor = Chance(0.5) ? "anna" : "anna/token";
  static_cast<void>(
      s_.audit
          .RecordAudits({{.at = now_,
                          .actor = actor,
                          .action = "job.pause",
                          .object_id = "x-1",
                          .reason = "so"},
                         {.at = now_, .actor = "bert", .action = "run.cancel", .object_id = "x-2"}})
          .ok());
  AuditFilter filter{.limit = 4};
  if (Chance(0.5)) filter.actor = "anna";
  if (Chance(0.3)) filter.actions = {"job.pause"};
  if (Chance(0.3)) filter.object_id = "x-2";
  if (Chance(0.3)) filter.since = now_ - 5s;
  filter.oldest_first = Chance(0.5);
  static_cast<void>(s_.audit.ListAudit(filter).ok());
  static_cast<void>(s_.audit.CountAudit(filter).ok());
}

void Explorer::Secrets() {
  const std::string name = fmt::format("secret-{}", Below(4));
  const auto stored = s_.secrets.GetSecret(name);
  SealedValue value{.key_id = "k1", .nonce = "nonce", .ciphertext = std::to_string(++made_)};
  StoredSecret wanted{
      .record = {.name = name, .user_id = "anna", .key_id = "k1", .created = now_, .updated = now_},
      .value = value};
  if (stored.ok()) {
    wanted.record.version = stored->record.version - (Chance(0.2) ? 1 : 0);
    switch (Below(3)) {
      case 0: static_cast<void>(s_.secrets.UpdateSecret(wanted, now_).ok()); break;
      case 1: static_cast<void>(s_.secrets.DeleteSecret(name, wanted.record.version).ok()); break;
      default:
        value.key_id = "k2";
        static_cast<void>(s_.secrets.RewrapSecret(name, stored->value, value).ok());
        break;
    }
  } else {
    static_cast<void>(s_.secrets.CreateSecret(wanted).ok());
  }
  static_cast<void>(s_.secrets.ListSecrets({.after_name = Chance(0.5) ? "secret-1" : ""}).ok());
  static_cast<void>(s_.secrets.FindSecrets({"secret-2", "secret-0", "nobody"}).ok());
  static_cast<void>(s_.secrets.CountSecrets().ok());
}

void Explorer::Users() {
  const std::string id = fmt::format("u-{}", Below(4));
  auto stored = s_.auth.GetUser(id);
  if (!stored.ok()) {
    const UserRecord user{.user_id = id,
                          .name = fmt::format("Name{}", Below(5)),
                          .role = Chance(0.5) ? "admin" : "user",
                          .password_hash = "hash",
                          .created = now_,
                          .updated = now_};
    static_cast<void>(s_.auth.CreateUser(user).ok());
  } else if (Chance(0.5)) {
    UserRecord next = *stored;
    next.display_name = fmt::format("Anna {}", made_);
    next.disabled = Chance(0.3);
    if (Chance(0.3)) next.role = "user";
    if (Chance(0.2)) --next.version;
    static_cast<void>(s_.auth.UpdateUser(next, now_).ok());
  } else {
    static_cast<void>(s_.auth.DeleteUser(id, stored->version).ok());
  }
  const std::string hash = fmt::format("t-{}", ++made_);
  static_cast<void>(s_.auth
                        .CreateSession({.token_hash = hash,
                                        .family = "f" + hash,
                                        .user_id = id,
                                        .created = now_,
                                        .expires = now_ + 1h})
                        .ok());
  static_cast<void>(s_.auth.RotateSession(hash, hash + "x", now_, now_ + 1h).ok());
  static_cast<void>(s_.auth.FindSession("f" + hash, now_).ok());
  if (Chance(0.5)) static_cast<void>(s_.auth.EndSession(hash).ok());
  static_cast<void>(s_.auth.FindUser("NAME1").ok());
  static_cast<void>(s_.auth.ListUsers({.by_name = Chance(0.5), .descending = Chance(0.5)}).ok());
  static_cast<void>(s_.auth.CountUsers().ok());
  static_cast<void>(s_.auth.NeedsSetup().ok());
}

void Explorer::Notices() {
  DeliveryFilter filter{.limit = 5};
  if (Chance(0.3)) filter.state = DeliveryState::kPending;
  if (Chance(0.3)) filter.kind = NoticeKind::kFailed;
  const auto deliveries = s_.notices.ListDeliveries(filter);
  static_cast<void>(s_.notices.CountDeliveries(filter).ok());
  if (!deliveries.ok() || deliveries->empty()) return;
  const Delivery& delivery = Pick(*deliveries);
  filter.before_id = delivery.id;
  static_cast<void>(s_.notices.ListDeliveries(filter).ok());
  if (Chance(0.5)) static_cast<void>(s_.notices.ResendDelivery(delivery.id, now_).ok());
}

}  // namespace carillon::test
