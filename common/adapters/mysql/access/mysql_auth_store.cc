#include "common/adapters/mysql/access/mysql_auth_store.h"

#include "common/adapters/mysql/access/auth_rows.h"
#include "common/adapters/mysql/client/ascii.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/run_rows/count_rows.h"
#include "common/domain/refresh_family.h"
#include "common/wire/json/job/share_json.h"

namespace carillon::mysql {
namespace {

// ---- users -------------------------------------------------------------------------------------

bool IsAdministrator(const UserRecord& user) { return user.role == "admin" && !user.disabled; }

// True if there is an enabled administrator other than the user with the id `beside`.
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
  return {ErrorCode::kConflict, "an administrator is there"};
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

// ---- sessions (refresh tokens in families) and API tokens --------------------------------------

Status InsertRefresh(Session& session, const RefreshRecord& record) {
  CARILLON_TRY(session.Execute(
      "INSERT INTO refresh_tokens (token_hash, family, user_id, session_epoch, created_us, "
      "expires_us) VALUES (?, ?, ?, ?, ?, ?)",
      {record.token_hash, record.family, record.user_id, record.session_epoch,
       ToUnixMicros(record.created), ToUnixMicros(record.expires)}));
  return {};
}

struct LockedRefresh {
  RefreshRecord record;
  bool used = false;
  UserRecord user;
};

Result<std::optional<LockedRefresh>> LockRefresh(Session& session, const std::string& hash) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(std::string("SELECT ") + kUserColumns +
                        ", r.family, r.session_epoch, r.created_us, r.expires_us, r.used "
                        "FROM refresh_tokens r "
                        "JOIN users u ON u.user_id = r.user_id WHERE r.token_hash = ? FOR UPDATE",
                    {hash}));
  if (!rows.Next()) return std::optional<LockedRefresh>();
  LockedRefresh locked{.record = {.token_hash = hash, .family = rows.Text(kUserColumnCount + 1)},
                       .used = rows.Int(kUserColumnCount + 5) != 0,
                       .user = ReadUserRow(session, rows)};
  locked.record.user_id = locked.user.user_id;
  locked.record.session_epoch = rows.Int(kUserColumnCount + 2);
  locked.record.created = rows.Time(kUserColumnCount + 3);
  locked.record.expires = rows.Time(kUserColumnCount + 4);
  return std::optional(std::move(locked));
}

// Returns the tokens of the family later than `than`. Earlier tokens are not read, because a long
// session has thousands of tokens.
Result<std::vector<LaterRefresh>> LockLater(Session& session, const RefreshRecord& than) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Query("SELECT token_hash, created_us, used FROM refresh_tokens "
                                          "WHERE family = ? AND created_us > ? FOR UPDATE",
                                          {than.family, ToUnixMicros(than.created)}));
  std::vector<LaterRefresh> later;
  while (rows.Next()) {
    later.push_back({rows.Text(1), rows.Time(2), static_cast<RefreshUse>(rows.Int(3))});
  }
  return later;
}

Status MarkUsed(Session& session, const std::string& hash, RefreshUse use) {
  CARILLON_TRY(session.Execute("UPDATE refresh_tokens SET used = ? WHERE token_hash = ?",
                               {static_cast<int64_t>(use), hash}));
  return {};
}

Status DeleteFamily(Session& session, const std::string& family) {
  CARILLON_TRY(session.Execute("DELETE FROM refresh_tokens WHERE family = ?", {family}));
  return {};
}

Status InsertToken(Session& session, const TokenRecord& token) {
  const auto micros = [](const std::optional<WallTime>& time) {
    return time ? ToUnixMicros(*time) : 0;
  };
  CARILLON_TRY(session.Execute(
      "INSERT INTO tokens (token_hash, name, role, created_us, token_id, prefix, user_id, "
      "expires_us, last_used_us, scopes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {token.token_hash, token.name, token.role, ToUnixMicros(token.created), token.token_id,
       token.prefix, token.user_id, micros(token.expires), micros(token.last_used),
       ScopesText(token)}));
  return {};
}

}  // namespace

Result<bool> MysqlAuthStore::NeedsSetup() {
  return InRead(db_.pool(), "setup state", [](Session& session) -> Result<bool> {
    CARILLON_ASSIGN_OR_RETURN(const bool there, HasAdministrator(session, ""));
    return !there;
  });
}

Status MysqlAuthStore::PutSetupLink(const std::string& token_hash, WallTime expires) {
  return InTransaction(db_.pool(), {.operation = "setup link"}, [&](Session& session) -> Status {
    CARILLON_TRY(LockIdentity(session));
    CARILLON_TRY(CheckNoAdministrator(session));
    CARILLON_TRY(session.Execute("DELETE FROM setup_links WHERE id = 1"));
    CARILLON_TRY(
        session.Execute("INSERT INTO setup_links (id, token_hash, expires_us) VALUES (1, ?, ?)",
                        {token_hash, ToUnixMicros(expires)}));
    return {};
  });
}

Status MysqlAuthStore::Setup(const std::string& token_hash, const UserRecord& user, WallTime now) {
  return InTransaction(db_.pool(), {.operation = "setup"}, [&](Session& session) -> Status {
    CARILLON_TRY(LockIdentity(session));
    CARILLON_TRY(CheckNoAdministrator(session));
    CARILLON_TRY(CheckLink(session, token_hash, now));
    CARILLON_TRY(InsertUser(session, user));
    CARILLON_TRY(session.Execute("DELETE FROM setup_links WHERE id = 1"));
    return {};
  });
}

// If two users of one name are created at the same time, the second insert fails as a duplicate.
// The transaction then runs again and finds the first user.
Status MysqlAuthStore::CreateUser(const UserRecord& user) {
  return InTransaction(db_.pool(), {.operation = "create user", .retry_duplicates = true},
                       [&](Session& session) { return InsertUser(session, user); });
}

Result<UserRecord> MysqlAuthStore::GetUser(const std::string& user_id) {
  if (!IsAscii(user_id)) return {ErrorCode::kNotFound, "no user " + user_id};
  return InRead(db_.pool(), "user", [&](Session& session) -> Result<UserRecord> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(std::string("SELECT ") + kUserColumns +
                                                           " FROM users u WHERE u.user_id = ?",
                                                       {user_id}));
    if (!rows.Next()) return {ErrorCode::kNotFound, "no user " + user_id};
    return ReadUserRow(session, rows);
  });
}

Result<std::optional<UserRecord>> MysqlAuthStore::FindUser(const std::string& name) {
  if (!IsAscii(name)) return std::optional<UserRecord>();
  return InRead(
      db_.pool(), "find user", [&](Session& session) -> Result<std::optional<UserRecord>> {
        CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(std::string("SELECT ") + kUserColumns +
                                                               " FROM users u WHERE u.name = ?",
                                                           {name}));
        if (!rows.Next()) return std::optional<UserRecord>();
        return std::optional(ReadUserRow(session, rows));
      });
}

Result<std::vector<UserRecord>> MysqlAuthStore::ListUsers(const UserListing& listing) {
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
  return InRead(db_.pool(), "users", [&](Session& session) -> Result<std::vector<UserRecord>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, params));
    std::vector<UserRecord> page;
    while (rows.Next()) page.push_back(ReadUserRow(session, rows));
    return page;
  });
}

Result<UserRecord> MysqlAuthStore::UpdateUser(const UserRecord& wanted, WallTime now) {
  return InTransaction(
      db_.pool(), {.operation = "update user"}, [&](Session& session) -> Result<UserRecord> {
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
        // Unchanged shares are kept as stored. A newer member may have written shares that this
        // version cannot read.
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

Result<Preferences> MysqlAuthStore::ChangePreferences(const PreferenceChange& change) {
  const Error none{ErrorCode::kNotFound, "no user " + change.user_id};
  if (!IsAscii(change.user_id)) return none;
  return InTransaction(
      db_.pool(), {.operation = "preferences"}, [&](Session& session) -> Result<Preferences> {
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

Status MysqlAuthStore::DeleteUser(const std::string& user_id, int64_t expected_version) {
  return InTransaction(db_.pool(), {.operation = "delete user"}, [&](Session& session) -> Status {
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

Result<std::string> MysqlAuthStore::EnsureSigningKey(const std::string& fresh) {
  const std::string read = "SELECT secret FROM signing_keys WHERE id = 1";
  CARILLON_ASSIGN_OR_RETURN(
      const std::string known,
      InRead(db_.pool(), "signing key", [&](Session& session) -> Result<std::string> {
        CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(read));
        return rows.Next() ? rows.Text(1) : std::string();
      }));
  if (!known.empty()) return known;
  return InTransaction(
      db_.pool(), {.operation = "signing key"}, [&](Session& session) -> Result<std::string> {
        CARILLON_TRY(LockIdentity(session));
        {
          // Reads again under the lock, because another member may have created the key.
          CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(read));
          if (rows.Next()) return rows.Text(1);
        }
        CARILLON_TRY(
            session.Execute("INSERT INTO signing_keys (id, secret) VALUES (1, ?)", {fresh}));
        return fresh;
      });
}

Result<BoundedCount> MysqlAuthStore::CountUsers() {
  return CountIn(db_.pool(), {.from = "users u", .order = "u.user_id", .within = {}});
}

Status MysqlAuthStore::CreateSession(const RefreshRecord& first) {
  return InTransaction(db_.pool(), {.operation = "create session"},
                       [&](Session& session) { return InsertRefresh(session, first); });
}

Result<Rotation> MysqlAuthStore::RotateSession(const std::string& used_hash,
                                               const std::string& new_hash, WallTime now,
                                               WallTime expires) {
  return InTransaction(
      db_.pool(), {.operation = "rotate session"}, [&](Session& session) -> Result<Rotation> {
        CARILLON_ASSIGN_OR_RETURN(const auto found, LockRefresh(session, used_hash));
        if (!found) return Rotation{};
        RefreshRecord next = found->record;
        const UserRecord& user = found->user;
        LaterRefresh spent{used_hash, next.created, RefreshUse::kPresented};
        // Checks for reuse first, because reuse ends the family even if the token has expired or
        // its user has changed.
        if (found->used) {
          CARILLON_ASSIGN_OR_RETURN(const auto later, LockLater(session, next));
          const std::optional<LaterRefresh> lost = LostAnswer(later, now);
          if (!lost) {
            CARILLON_TRY(DeleteFamily(session, next.family));
            return Rotation{RefreshVerdict::kReused, next.family, user};
          }
          spent = {lost->token_hash, lost->created, RefreshUse::kReplaced};
        }
        if (next.expires <= now) return Rotation{.verdict = RefreshVerdict::kExpired};
        if (user.disabled || user.session_epoch != next.session_epoch) return Rotation{};
        CARILLON_TRY(MarkUsed(session, spent.token_hash, spent.use));
        next.token_hash = new_hash;
        next.created = CreatedAfter(spent.created, now);
        next.expires = expires;
        CARILLON_TRY(InsertRefresh(session, next));
        return Rotation{RefreshVerdict::kRotated, next.family, user};
      });
}

Result<std::optional<EndedSession>> MysqlAuthStore::EndSession(const std::string& token_hash) {
  return InTransaction(
      db_.pool(), {.operation = "end session"},
      [&](Session& session) -> Result<std::optional<EndedSession>> {
        EndedSession ended;
        {
          CARILLON_ASSIGN_OR_RETURN(
              Rows rows,
              session.Query("SELECT family, user_id FROM refresh_tokens WHERE token_hash = ?",
                            {token_hash}));
          if (!rows.Next()) return std::optional<EndedSession>();
          ended = {rows.Text(1), rows.Text(2)};
        }
        CARILLON_TRY(DeleteFamily(session, ended.family));
        return std::optional(ended);
      });
}

Result<std::optional<UserRecord>> MysqlAuthStore::FindSession(const std::string& family,
                                                              WallTime now) {
  return InRead(
      db_.pool(), "find session", [&](Session& session) -> Result<std::optional<UserRecord>> {
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows,
            session.Query(std::string("SELECT ") + kUserColumns +
                              " FROM refresh_tokens r JOIN users u ON u.user_id = r.user_id AND "
                              "u.session_epoch = r.session_epoch WHERE r.family = ? AND r.used = 0 "
                              "AND r.expires_us > ? AND u.disabled = 0",
                          {family, ToUnixMicros(now)}));
        if (!rows.Next()) return std::optional<UserRecord>();
        return std::optional(ReadUserRow(session, rows));
      });
}

Status MysqlAuthStore::CreateFirstToken(const TokenRecord& token) {
  return InTransaction(db_.pool(), {.operation = "first token"}, [&](Session& session) -> Status {
    // Serialises members that start on an empty store at the same time.
    CARILLON_TRY(LockIdentity(session));
    {
      CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT 1 FROM tokens LIMIT 1"));
      if (rows.Next()) return {ErrorCode::kExists, "there is a token already"};
    }
    return InsertToken(session, token);
  });
}

Status MysqlAuthStore::CreateToken(const TokenRecord& token) {
  return InTransaction(db_.pool(), {.operation = "create token"}, [&](Session& session) -> Status {
    {
      CARILLON_ASSIGN_OR_RETURN(
          Rows rows,
          session.Query("SELECT 1 FROM tokens WHERE token_id = ? OR token_hash = ? FOR UPDATE",
                        {token.token_id, token.token_hash}));
      if (rows.Next()) return {ErrorCode::kExists, "there is a token " + token.token_id};
    }
    return InsertToken(session, token);
  });
}

Result<std::optional<FoundToken>> MysqlAuthStore::FindToken(const std::string& token_hash) {
  return InRead(
      db_.pool(), "find token", [&](Session& session) -> Result<std::optional<FoundToken>> {
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows,
            session.Query(std::string("SELECT ") + kApiTokenColumns + ", " + kUserColumns +
                              " FROM tokens t LEFT JOIN users u ON u.user_id = t.user_id "
                              "WHERE t.token_hash = ?",
                          {token_hash}));
        if (!rows.Next()) return std::optional<FoundToken>();
        FoundToken found{.token = ReadApiTokenRow(rows)};
        if (found.token.user_id.empty()) return std::optional(std::move(found));
        if (rows.IsNull(kApiTokenColumnCount + 1)) return std::optional<FoundToken>();
        found.owner = ReadUserRow(session, rows, kApiTokenColumnCount + 1);
        return std::optional(std::move(found));
      });
}

Result<std::vector<TokenRecord>> MysqlAuthStore::ListTokens(const TokenFilter& filter) {
  if (!IsAscii(filter.after_token_id) || !IsAscii(filter.user_id.value_or(""))) {
    return std::vector<TokenRecord>();
  }
  std::string statement =
      std::string("SELECT ") + kApiTokenColumns + " FROM tokens t WHERE t.token_id > ?";
  Params params = {filter.after_token_id};
  if (filter.user_id) {
    statement += " AND t.user_id = ?";
    params.emplace_back(*filter.user_id);
  }
  params.emplace_back(static_cast<uint64_t>(filter.limit));
  return InRead(db_.pool(), "tokens", [&](Session& session) -> Result<std::vector<TokenRecord>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query(statement + " ORDER BY t.token_id LIMIT ?", params));
    std::vector<TokenRecord> page;
    while (rows.Next()) page.push_back(ReadApiTokenRow(rows));
    return page;
  });
}

Result<TokenRecord> MysqlAuthStore::GetToken(const std::string& token_id) {
  if (!IsAscii(token_id)) return {ErrorCode::kNotFound, "no token " + token_id};
  return InRead(db_.pool(), "token", [&](Session& session) -> Result<TokenRecord> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(std::string("SELECT ") + kApiTokenColumns +
                                                           " FROM tokens t WHERE t.token_id = ?",
                                                       {token_id}));
    if (!rows.Next()) return {ErrorCode::kNotFound, "no token " + token_id};
    return ReadApiTokenRow(rows);
  });
}

Status MysqlAuthStore::DeleteToken(const std::string& token_id) {
  return InTransaction(db_.pool(), {.operation = "delete token"}, [&](Session& session) -> Status {
    CARILLON_ASSIGN_OR_RETURN(const int64_t deleted,
                              session.Execute("DELETE FROM tokens WHERE token_id = ?", {token_id}));
    if (deleted == 0) return {ErrorCode::kNotFound, "no token " + token_id};
    return {};
  });
}

Status MysqlAuthStore::TouchToken(const std::string& token_id, WallTime used) {
  return InTransaction(db_.pool(), {.operation = "touch token"}, [&](Session& session) -> Status {
    CARILLON_TRY(session.Execute("UPDATE tokens SET last_used_us = ? WHERE token_id = ?",
                                 {ToUnixMicros(used), token_id}));
    return {};
  });
}

Result<BoundedCount> MysqlAuthStore::CountTokens(const TokenFilter& filter) {
  if (!IsAscii(filter.user_id.value_or(""))) return kNoneCounted;
  CountedRows rows{.from = "tokens t", .order = "t.token_id", .within = {}};
  if (filter.user_id) rows.within.Add("t.user_id = ?", {*filter.user_id});
  return CountIn(db_.pool(), rows);
}

}  // namespace carillon::mysql
