// Rows of users and tokens: their columns, and how they are read.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/auth_store.h"

namespace carillon::mysql {

// Of the table under the alias u; `first` is the column that user_id is in.
inline constexpr const char* kUserColumns =
    "u.user_id, u.name, u.display_name, u.role, u.password_hash, u.disabled, u.version, "
    "u.session_epoch, u.created_us, u.updated_us, u.shares, u.preferences";
inline constexpr uint32_t kUserColumnCount = 12;
// Shares that cannot be read are none.
UserRecord ReadUserRow(const Session& session, const Rows& rows, uint32_t first = 1);

// As the column has them; what is not text of that form is left out.
Preferences PreferencesOf(const std::string& text);
std::string PreferencesText(const Preferences& preferences);

// Of the table under the alias t, from column 1 on.
inline constexpr const char* kApiTokenColumns =
    "t.token_hash, t.name, t.role, t.created_us, t.token_id, t.prefix, t.user_id, t.expires_us, "
    "t.last_used_us, t.scopes";
inline constexpr uint32_t kApiTokenColumnCount = 10;
TokenRecord ReadApiTokenRow(const Rows& rows);
// As the columns have them. The role of a token with scopes is none that members from before scopes
// know: to them it may do nothing, rather than everything.
std::string ScopesText(const TokenRecord& token);
std::string RoleText(const TokenRecord& token);

// Waits for whoever else changes who may administrate, or makes a first thing of the store.
Status LockIdentity(Session& session);

}  // namespace carillon::mysql
