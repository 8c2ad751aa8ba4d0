// Sessions (refresh tokens in families) and API tokens.
#include "common/adapters/mysql/ascii.h"
#include "common/adapters/mysql/auth_rows.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/transaction.h"
#include "common/domain/refresh_family.h"

namespace carillon::mysql {
namespace {

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

// Reads only the end of the family: a session that lives for long has thousands of tokens.
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
      {token.token_hash, token.name, RoleText(token), ToUnixMicros(token.created), token.token_id,
       token.prefix, token.user_id, micros(token.expires), micros(token.last_used),
       ScopesText(token)}));
  return {};
}

}  // namespace

Status MysqlStore::CreateSession(const RefreshRecord& first) {
  return InTransaction(*pool_, {.operation = "create session"},
                       [&](Session& session) { return InsertRefresh(session, first); });
}

Result<Rotation> MysqlStore::RotateSession(const std::string& used_hash,
                                           const std::string& new_hash, WallTime now,
                                           WallTime expires) {
  return InTransaction(
      *pool_, {.operation = "rotate session"}, [&](Session& session) -> Result<Rotation> {
        CARILLON_ASSIGN_OR_RETURN(const auto found, LockRefresh(session, used_hash));
        if (!found) return Rotation{};
        RefreshRecord next = found->record;
        const UserRecord& user = found->user;
        LaterRefresh spent{used_hash, next.created, RefreshUse::kPresented};
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

Result<std::optional<EndedSession>> MysqlStore::EndSession(const std::string& token_hash) {
  return InTransaction(
      *pool_, {.operation = "end session"},
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

Result<std::optional<UserRecord>> MysqlStore::FindSession(const std::string& family, WallTime now) {
  return InRead(*pool_, "find session", [&](Session& session) -> Result<std::optional<UserRecord>> {
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

Status MysqlStore::CreateFirstToken(const TokenRecord& token) {
  return InTransaction(*pool_, {.operation = "first token"}, [&](Session& session) -> Status {
    // Serialises members that start on the empty store at once.
    CARILLON_TRY(LockIdentity(session));
    {
      CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT 1 FROM tokens LIMIT 1"));
      if (rows.Next()) return {ErrorCode::kExists, "there is a token already"};
    }
    return InsertToken(session, token);
  });
}

Status MysqlStore::CreateToken(const TokenRecord& token) {
  return InTransaction(*pool_, {.operation = "create token"}, [&](Session& session) -> Status {
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

Result<std::optional<FoundToken>> MysqlStore::FindToken(const std::string& token_hash) {
  return InRead(*pool_, "find token", [&](Session& session) -> Result<std::optional<FoundToken>> {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query(std::string("SELECT ") + kApiTokenColumns + ", " + kUserColumns +
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

Result<std::vector<TokenRecord>> MysqlStore::ListTokens(const TokenFilter& filter) {
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
  return InRead(*pool_, "tokens", [&](Session& session) -> Result<std::vector<TokenRecord>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query(statement + " ORDER BY t.token_id LIMIT ?", params));
    std::vector<TokenRecord> page;
    while (rows.Next()) page.push_back(ReadApiTokenRow(rows));
    return page;
  });
}

Result<TokenRecord> MysqlStore::GetToken(const std::string& token_id) {
  if (!IsAscii(token_id)) return {ErrorCode::kNotFound, "no token " + token_id};
  return InRead(*pool_, "token", [&](Session& session) -> Result<TokenRecord> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(std::string("SELECT ") + kApiTokenColumns +
                                                           " FROM tokens t WHERE t.token_id = ?",
                                                       {token_id}));
    if (!rows.Next()) return {ErrorCode::kNotFound, "no token " + token_id};
    return ReadApiTokenRow(rows);
  });
}

Status MysqlStore::DeleteToken(const std::string& token_id) {
  return InTransaction(*pool_, {.operation = "delete token"}, [&](Session& session) -> Status {
    CARILLON_ASSIGN_OR_RETURN(const int64_t deleted,
                              session.Execute("DELETE FROM tokens WHERE token_id = ?", {token_id}));
    if (deleted == 0) return {ErrorCode::kNotFound, "no token " + token_id};
    return {};
  });
}

Status MysqlStore::TouchToken(const std::string& token_id, WallTime used) {
  return InTransaction(*pool_, {.operation = "touch token"}, [&](Session& session) -> Status {
    CARILLON_TRY(session.Execute("UPDATE tokens SET last_used_us = ? WHERE token_id = ?",
                                 {ToUnixMicros(used), token_id}));
    return {};
  });
}

}  // namespace carillon::mysql
