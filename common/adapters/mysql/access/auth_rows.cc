#include "common/adapters/mysql/access/auth_rows.h"

#include <iterator>
#include <sstream>

#include <fmt/ranges.h>

#include "common/wire/json/job/share_json.h"

namespace carillon::mysql {
namespace {

std::optional<WallTime> TimeOrNone(const Rows& rows, uint32_t column) {
  return rows.Int(column) == 0 ? std::nullopt : std::optional(rows.Time(column));
}

std::vector<Share> ReadShares(const Session& session, const Rows& rows, uint32_t first) {
  if (rows.IsNull(first + 10)) return {};
  auto shares = SharesFromText(rows.Text(first + 10));
  if (shares.ok()) return std::move(shares).value();
  session.NoteUnreadable("users", rows.Text(first), shares.error().message);
  return {};
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace

UserRecord ReadUserRow(const Session& session, const Rows& rows, uint32_t first) {
  return {.user_id = rows.Text(first),
          .name = rows.Text(first + 1),
          .display_name = rows.Text(first + 2),
          .role = rows.Text(first + 3),
          .password_hash = rows.Text(first + 4),
          .shares = ReadShares(session, rows, first),
          .disabled = rows.Int(first + 5) != 0,
          .version = rows.Int(first + 6),
          .session_epoch = rows.Int(first + 7),
          .created = rows.Time(first + 8),
          .updated = rows.Time(first + 9),
          .preferences = PreferencesOf(rows.Text(first + 11))};
}

Preferences PreferencesOf(const std::string& text) {
  Preferences preferences;
  for (const std::string& word : Words(text)) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    preferences[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return preferences;
}

std::string PreferencesText(const Preferences& preferences) {
  std::vector<std::string> words;
  for (const auto& [name, value] : preferences) words.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string ScopesText(const TokenRecord& token) {
  return fmt::format("{}", fmt::join(token.scopes, " "));
}

TokenRecord ReadApiTokenRow(const Rows& rows) {
  return {.token_hash = rows.Text(1),
          .name = rows.Text(2),
          .role = rows.Text(3),
          .created = rows.Time(4),
          .token_id = rows.Text(5),
          .prefix = rows.Text(6),
          .user_id = rows.Text(7),
          .expires = TimeOrNone(rows, 8),
          .last_used = TimeOrNone(rows, 9),
          .scopes = Words(rows.Text(10))};
}

Status LockIdentity(Session& session) {
  CARILLON_TRY(session.Query("SELECT id FROM store_identity WHERE id = 1 FOR UPDATE"));
  return {};
}

}  // namespace carillon::mysql
