// Users, the setup link and the signing key.
#include "common/adapters/mysql/ascii.h"
#include "common/adapters/mysql/auth_rows.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/transaction.h"
#include "common/wire/share_json.h"

namespace carillon::mysql {
namespace {

bool IsAdministrator(const UserRecord& user) { return user.role == "admin" && !user.disabled; }

// `beside`: a user who does not count.
Result<bool> HasAdministrator(Session& session, const std::string& beside) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT 1 FROM users WHERE role = 'admin' AND disabled = 0 AND "
                               "user_id <> ? LIMIT 1",
                               {beside}));
  return rows.Next();
}

Status CheckNoAdministrator(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const bool there, HasAdministrator(session, ""));
  if (!there) return {};
  return {ErrorCode::kConflict, "an administrator already exists"};
}

Status CheckAdministratorLeft(Session& session, const std::string& without) {
  CARILLON_ASSIGN_OR_RETURN(const bool left, HasAdministrator(session, without));
  if (left) return {};
  return {ErrorCode::kDenied, "user " + without + " is the last enabled administrator"};
}

Status InsertUser(Session& session, const UserRecord& user) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT 1 FROM users WHERE name = ? OR user_id = ? FOR UPDATE",
                               {user.name, user.user_id}));
  if (rows.Next()) return {ErrorCode::kExists, "there is a user " + user.name};
  CARILLON_TRY(session.Execute(
      "INSERT INTO users (user_id, name, display_name, role, password_hash, disabled, version, "
      "session_epoch, created_us, updated_us, shares) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {user.user_id, user.name, user.display_name, user.role, user.password_hash,
       int64_t{user.disabled}, user.version, user.session_epoch, ToUnixMicros(user.created),
       ToUnixMicros(user.updated), SharesToText(user.shares)}));
  return {};
}

Result<UserRecord> LockUserAt(Session& session, const std::string& user_id, int64_t version) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Query(std::string("SELECT ") + kUserColumns +
                                              " FROM users u WHERE u.user_id = ? FOR UPDATE",
                                          {user_id}));
  if (!rows.Next()) return {ErrorCode::kNotFound, "no user " + user_id};
  UserRecord user = ReadUserRow(session, rows);
  if (user.version == version) return user;
  return {ErrorCode::kConflict, "user " + user_id + " was changed meanwhile"};
}

Status DeleteSessionsOf(Session& session, const std::string& user_id) {
  CARILLON_TRY(session.Execute("DELETE FROM refresh_tokens WHERE user_id = ?", {user_id}));
  return {};
}

Status CheckLink(Session& session, const std::string& token_hash, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT 1 FROM setup_links WHERE id = 1 AND token_hash = ? AND "
                               "expires_us > ? FOR UPDATE",
                               {token_hash, ToUnixMicros(now)}));
  if (rows.Next()) return {};
  return {ErrorCode::kDenied, "this setup link is not valid"};
}

}  // namespace

Result<bool> MysqlStore::NeedsSetup() {
  return InRead(*pool_, "setup state", [](Session& session) -> Result<bool> {
    CARILLON_ASSIGN_OR_RETURN(const bool there, HasAdministrator(session, ""));
    return !there;
  });
}

Status MysqlStore::PutSetupLink(const std::string& token_hash, WallTime expires) {
  return InTransaction(*pool_, {.operation = "setup link"}, [&](Session& session) -> Status {
    CARILLON_TRY(LockIdentity(session));
    CARILLON_TRY(CheckNoAdministrator(session));
    CARILLON_TRY(session.Execute("DELETE FROM setup_links WHERE id = 1"));
    CARILLON_TRY(
        session.Execute("INSERT INTO setup_links (id, token_hash, expires_us) VALUES (1, ?, ?)",
                        {token_hash, ToUnixMicros(expires)}));
    return {};
  });
}

Status MysqlStore::Setup(const std::string& token_hash, const UserRecord& user, WallTime now) {
  return InTransaction(*pool_, {.operation = "setup"}, [&](Session& session) -> Status {
    CARILLON_TRY(LockIdentity(session));
    CARILLON_TRY(CheckNoAdministrator(session));
    CARILLON_TRY(CheckLink(session, token_hash, now));
    CARILLON_TRY(InsertUser(session, user));
    CARILLON_TRY(session.Execute("DELETE FROM setup_links WHERE id = 1"));
    return {};
  });
}

// Two of one name at once: the second insert is a duplicate, and finds the first one then.
Status MysqlStore::CreateUser(const UserRecord& user) {
  return InTransaction(*pool_, {.operation = "create user", .retry_duplicates = true},
                       [&](Session& session) { return InsertUser(session, user); });
}

Result<UserRecord> MysqlStore::GetUser(const std::string& user_id) {
  if (!IsAscii(user_id)) return {ErrorCode::kNotFound, "no user " + user_id};
  return InRead(*pool_, "user", [&](Session& session) -> Result<UserRecord> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(std::string("SELECT ") + kUserColumns +
                                                           " FROM users u WHERE u.user_id = ?",
                                                       {user_id}));
    if (!rows.Next()) return {ErrorCode::kNotFound, "no user " + user_id};
    return ReadUserRow(session, rows);
  });
}

Result<std::optional<UserRecord>> MysqlStore::FindUser(const std::string& name) {
  if (!IsAscii(name)) return std::optional<UserRecord>();
  return InRead(*pool_, "find user", [&](Session& session) -> Result<std::optional<UserRecord>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(std::string("SELECT ") + kUserColumns +
                                                           " FROM users u WHERE u.name = ?",
                                                       {name}));
    if (!rows.Next()) return std::optional<UserRecord>();
    return std::optional(ReadUserRow(session, rows));
  });
}

Result<std::vector<UserRecord>> MysqlStore::ListUsers(const UserListing& listing) {
  if (!IsAscii(listing.after)) return std::vector<UserRecord>();
  const std::string column = listing.by_name ? "u.name" : "u.user_id";
  std::string statement = std::string("SELECT ") + kUserColumns + " FROM users u";
  Params params;
  if (!listing.after.empty()) {
    statement += " WHERE " + column + (listing.descending ? " < ?" : " > ?");
    params.push_back(listing.after);
  }
  statement += " ORDER BY " + column + (listing.descending ? " DESC" : "") + " LIMIT ?";
  params.push_back(static_cast<uint64_t>(listing.limit));
  return InRead(*pool_, "users", [&](Session& session) -> Result<std::vector<UserRecord>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, params));
    std::vector<UserRecord> page;
    while (rows.Next()) page.push_back(ReadUserRow(session, rows));
    return page;
  });
}

Result<UserRecord> MysqlStore::UpdateUser(const UserRecord& wanted, WallTime now) {
  return InTransaction(
      *pool_, {.operation = "update user"}, [&](Session& session) -> Result<UserRecord> {
        CARILLON_TRY(LockIdentity(session));
        CARILLON_ASSIGN_OR_RETURN(UserRecord user,
                                  LockUserAt(session, wanted.user_id, wanted.version));
        if (IsAdministrator(user) && !IsAdministrator(wanted)) {
          CARILLON_TRY(CheckAdministratorLeft(session, user.user_id));
        }
        const bool ends_sessions = user.role != wanted.role || user.disabled != wanted.disabled ||
                                   user.password_hash != wanted.password_hash;
        user.display_name = wanted.display_name;
        user.role = wanted.role;
        // What a newer member wrote and this one cannot read stays what it is.
        const bool same_shares = user.shares == wanted.shares;
        user.shares = wanted.shares;
        user.disabled = wanted.disabled;
        user.password_hash = wanted.password_hash;
        ++user.version;
        user.session_epoch += ends_sessions ? 1 : 0;
        user.updated = now;
        CARILLON_TRY(session.Execute(
            "UPDATE users SET display_name = ?, role = ?, shares = IF(?, shares, ?), disabled = ?, "
            "password_hash = ?, version = ?, session_epoch = ?, updated_us = ? WHERE user_id = ?",
            {user.display_name, user.role, int64_t{same_shares}, SharesToText(user.shares),
             int64_t{user.disabled}, user.password_hash, user.version, user.session_epoch,
             ToUnixMicros(now), user.user_id}));
        if (ends_sessions) CARILLON_TRY(DeleteSessionsOf(session, user.user_id));
        return user;
      });
}

Result<Preferences> MysqlStore::ChangePreferences(const PreferenceChange& change) {
  const Error none(ErrorCode::kNotFound, "no user " + change.user_id);
  if (!IsAscii(change.user_id)) return none;
  return InTransaction(
      *pool_, {.operation = "preferences"}, [&](Session& session) -> Result<Preferences> {
        Preferences preferences;
        {
          CARILLON_ASSIGN_OR_RETURN(
              Rows rows, session.Query("SELECT preferences FROM users WHERE user_id = ? FOR UPDATE",
                                       {change.user_id}));
          if (!rows.Next()) return none;
          preferences = PreferencesOf(rows.Text(1));
        }
        for (const auto& [name, value] : change.changes) {
          if (value) preferences[name] = *value;
          if (!value) preferences.erase(name);
        }
        CARILLON_TRY(session.Execute("UPDATE users SET preferences = ? WHERE user_id = ?",
                                     {PreferencesText(preferences), change.user_id}));
        return preferences;
      });
}

Status MysqlStore::DeleteUser(const std::string& user_id, int64_t expected_version) {
  return InTransaction(*pool_, {.operation = "delete user"}, [&](Session& session) -> Status {
    CARILLON_TRY(LockIdentity(session));
    CARILLON_ASSIGN_OR_RETURN(const UserRecord user,
                              LockUserAt(session, user_id, expected_version));
    if (IsAdministrator(user)) CARILLON_TRY(CheckAdministratorLeft(session, user_id));
    CARILLON_TRY(DeleteSessionsOf(session, user_id));
    CARILLON_TRY(session.Execute("DELETE FROM tokens WHERE user_id = ?", {user_id}));
    CARILLON_TRY(session.Execute("DELETE FROM users WHERE user_id = ?", {user_id}));
    return {};
  });
}

Result<std::string> MysqlStore::EnsureSigningKey(const std::string& fresh) {
  const std::string read = "SELECT secret FROM signing_keys WHERE id = 1";
  CARILLON_ASSIGN_OR_RETURN(
      const std::string known,
      InRead(*pool_, "signing key", [&](Session& session) -> Result<std::string> {
        CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(read));
        return rows.Next() ? rows.Text(1) : std::string();
      }));
  if (!known.empty()) return known;
  return InTransaction(
      *pool_, {.operation = "signing key"}, [&](Session& session) -> Result<std::string> {
        CARILLON_TRY(LockIdentity(session));
        {
          CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(read));
          if (rows.Next()) return rows.Text(1);
        }
        CARILLON_TRY(
            session.Execute("INSERT INTO signing_keys (id, secret) VALUES (1, ?)", {fresh}));
        return fresh;
      });
}

}  // namespace carillon::mysql
