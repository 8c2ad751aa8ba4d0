// Columns of users and API tokens, and functions that read and write their values.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/auth_store.h"

namespace carillon::mysql {

// The columns that ReadUserRow reads. The query must give their table the alias u. `first` is the
// position of user_id.
inline constexpr const char* kUserColumns =
    "u.user_id, u.name, u.display_name, u.role, u.password_hash, u.disabled, u.version, "
    "u.session_epoch, u.created_us, u.updated_us, u.shares, u.preferences";
inline constexpr uint32_t kUserColumnCount = 12;
// Returns the user without shares if the shares cannot be read.
UserRecord ReadUserRow(const Session& session, const Rows& rows, uint32_t first = 1);

// Convert preferences from and to the text of the column. PreferencesOf omits malformed values.
Preferences PreferencesOf(const std::string& text);
std::string PreferencesText(const Preferences& preferences);

// The columns that ReadApiTokenRow reads, from column 1 on. The query must give their table the
// alias t.
inline constexpr const char* kApiTokenColumns =
    "t.token_hash, t.name, t.role, t.created_us, t.token_id, t.prefix, t.user_id, t.expires_us, "
    "t.last_used_us, t.scopes";
inline constexpr uint32_t kApiTokenColumnCount = 10;
TokenRecord ReadApiTokenRow(const Rows& rows);
std::string ScopesText(const TokenRecord& token);

// Locks the row of the store's identity. A caller locks this row before it changes administrators,
// or before it creates something that a store has only once. So these callers run one at a time.
Status LockIdentity(Session& session);

}  // namespace carillon::mysql
