#include "common/adapters/mysql/access/mysql_secret_store.h"

#include "common/adapters/mysql/client/ascii.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/run_rows/count_rows.h"

namespace carillon::mysql {
namespace {

constexpr const char* kRecordColumns =
    "name, description, user_id, shared, version, key_id, created_us, updated_us";
constexpr uint32_t kRecordColumnCount = 8;
// The number of names in a statement. It is fixed, because prepared statements must come from a
// bounded set of texts.
constexpr size_t kNamesPerRead = 32;

Error NoSecret(const std::string& name) { return {ErrorCode::kNotFound, "no secret " + name}; }

SecretRecord ReadRecord(const Rows& rows) {
  return {.name = rows.Text(1),
          .description = rows.Text(2),
          .user_id = rows.Text(3),
          .shared = rows.Int(4) != 0,
          .version = rows.Int(5),
          .key_id = rows.Text(6),
          .created = rows.Time(7),
          .updated = rows.Time(8)};
}

// Reads the columns of the record, followed by those of the value.
StoredSecret ReadSecret(const Rows& rows) {
  StoredSecret secret{.record = ReadRecord(rows), .value = {}};
  secret.value = {.key_id = secret.record.key_id,
                  .nonce = rows.Text(kRecordColumnCount + 1),
                  .ciphertext = rows.Text(kRecordColumnCount + 2)};
  return secret;
}

std::string SelectSecrets(const std::string& where) {
  return std::string("SELECT ") + kRecordColumns + ", nonce, ciphertext FROM secrets WHERE " +
         where;
}

Result<StoredSecret> LockSecret(Session& session, const std::string& name) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(SelectSecrets("name = ? FOR UPDATE"), {name}));
  if (!rows.Next()) return NoSecret(name);
  return ReadSecret(rows);
}

Result<StoredSecret> LockAtVersion(Session& session, const std::string& name, int64_t version) {
  CARILLON_ASSIGN_OR_RETURN(StoredSecret secret, LockSecret(session, name));
  if (secret.record.version == version) return secret;
  return {ErrorCode::kConflict, "secret " + name + " is at another version"};
}

// Reads the secrets of up to kNamesPerRead names, beginning at `from`. Always uses the same number
// of placeholders. The last name fills the unused placeholders.
Result<std::vector<StoredSecret>> FindSome(Session& session, const std::vector<std::string>& names,
                                           size_t from) {
  std::string marks = "?";
  for (size_t i = 1; i < kNamesPerRead; ++i) marks += ", ?";
  Params params;
  for (size_t i = 0; i < kNamesPerRead; ++i) {
    params.emplace_back(names[std::min(from + i, names.size() - 1)]);
  }
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(SelectSecrets("name IN (" + marks + ") ORDER BY name"), params));
  std::vector<StoredSecret> found;
  while (rows.Next()) found.push_back(ReadSecret(rows));
  return found;
}

}  // namespace

Status MysqlSecretStore::CreateSecret(const StoredSecret& secret) {
  const SecretRecord& record = secret.record;
  const SealedValue& value = secret.value;
  return InTransaction(db_.pool(), {.operation = "create secret"}, [&](Session& session) -> Status {
    const auto found = LockSecret(session, record.name);
    if (found.ok()) return {ErrorCode::kExists, "there is a secret " + record.name};
    if (found.code() != ErrorCode::kNotFound) return found.error();
    CARILLON_TRY(session.Execute(
        "INSERT INTO secrets (name, description, user_id, shared, version, key_id, nonce, "
        "ciphertext, created_us, updated_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {record.name, record.description, record.user_id, int64_t{record.shared}, record.version,
         value.key_id, value.nonce, value.ciphertext, ToUnixMicros(record.created),
         ToUnixMicros(record.updated)}));
    return {};
  });
}

Result<StoredSecret> MysqlSecretStore::GetSecret(const std::string& name) {
  if (!IsAscii(name)) return NoSecret(name);
  return InRead(db_.pool(), "secret", [&](Session& session) -> Result<StoredSecret> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(SelectSecrets("name = ?"), {name}));
    if (!rows.Next()) return NoSecret(name);
    return ReadSecret(rows);
  });
}

Result<std::vector<StoredSecret>> MysqlSecretStore::FindSecrets(
    const std::vector<std::string>& names) {
  std::vector<StoredSecret> secrets;
  if (names.empty()) return secrets;
  return InRead(db_.pool(), "secrets", [&](Session& session) -> Result<std::vector<StoredSecret>> {
    for (size_t from = 0; from < names.size(); from += kNamesPerRead) {
      CARILLON_ASSIGN_OR_RETURN(auto some, FindSome(session, names, from));
      for (StoredSecret& secret : some) secrets.push_back(std::move(secret));
    }
    return std::move(secrets);
  });
}

Result<std::vector<SecretRecord>> MysqlSecretStore::ListSecrets(const SecretFilter& filter) {
  if (!IsAscii(filter.after_name)) return std::vector<SecretRecord>();
  std::string statement = std::string("SELECT ") + kRecordColumns + " FROM secrets WHERE name > ?";
  Params params = {filter.after_name};
  if (filter.not_under_key) {
    statement += " AND key_id <> ?";
    params.emplace_back(*filter.not_under_key);
  }
  params.emplace_back(static_cast<uint64_t>(filter.limit));
  return InRead(db_.pool(), "secrets", [&](Session& session) -> Result<std::vector<SecretRecord>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query(statement + " ORDER BY name LIMIT ?", params));
    std::vector<SecretRecord> page;
    while (rows.Next()) page.push_back(ReadRecord(rows));
    return page;
  });
}

Result<SecretRecord> MysqlSecretStore::UpdateSecret(const StoredSecret& wanted, WallTime now) {
  const std::string& name = wanted.record.name;
  return InTransaction(
      db_.pool(), {.operation = "update secret"}, [&](Session& session) -> Result<SecretRecord> {
        CARILLON_ASSIGN_OR_RETURN(const StoredSecret found,
                                  LockAtVersion(session, name, wanted.record.version));
        SecretRecord record = found.record;
        record.description = wanted.record.description;
        record.shared = wanted.record.shared;
        record.key_id = wanted.value.key_id;
        record.updated = now;
        ++record.version;
        CARILLON_TRY(session.Execute(
            "UPDATE secrets SET description = ?, shared = ?, version = ?, key_id = ?, nonce = ?, "
            "ciphertext = ?, updated_us = ? WHERE name = ?",
            {record.description, int64_t{record.shared}, record.version, record.key_id,
             wanted.value.nonce, wanted.value.ciphertext, ToUnixMicros(now), name}));
        return record;
      });
}

Status MysqlSecretStore::DeleteSecret(const std::string& name, int64_t expected_version) {
  return InTransaction(db_.pool(), {.operation = "delete secret"}, [&](Session& session) -> Status {
    CARILLON_TRY(LockAtVersion(session, name, expected_version));
    CARILLON_TRY(session.Execute("DELETE FROM secrets WHERE name = ?", {name}));
    return {};
  });
}

Status MysqlSecretStore::RewrapSecret(const std::string& name, const SealedValue& from,
                                      const SealedValue& to) {
  return InTransaction(db_.pool(), {.operation = "rewrap secret"}, [&](Session& session) -> Status {
    CARILLON_ASSIGN_OR_RETURN(const StoredSecret found, LockSecret(session, name));
    if (found.value != from) {
      return {ErrorCode::kConflict, "secret " + name + " was changed meanwhile"};
    }
    CARILLON_TRY(
        session.Execute("UPDATE secrets SET key_id = ?, nonce = ?, ciphertext = ? WHERE name = ?",
                        {to.key_id, to.nonce, to.ciphertext, name}));
    return {};
  });
}

Result<BoundedCount> MysqlSecretStore::CountSecrets() {
  return CountIn(db_.pool(), {.from = "secrets s", .order = "s.name", .within = {}});
}

}  // namespace carillon::mysql
