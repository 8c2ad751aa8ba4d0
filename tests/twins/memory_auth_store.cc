#include "tests/twins/memory_auth_store.h"

#include <algorithm>
#include <map>

#include "tests/twins/memory_counts.h"

namespace carillon::memory {
namespace {

bool SameName(const std::string& a, const std::string& b) { return Lower(a) == Lower(b); }

bool IsAdministrator(const UserRecord& user) { return user.role == "admin" && !user.disabled; }

}  // namespace

bool MemoryAuthStore::HasAdministrator(const std::string& beside) const {
  return std::any_of(tables_.users.begin(), tables_.users.end(), [&](const auto& entry) {
    return entry.first != beside && IsAdministrator(entry.second);
  });
}

Status MemoryAuthStore::CheckAdministratorLeft(const std::string& without) {
  if (HasAdministrator(without)) return {};
  return {ErrorCode::kDenied, "user " + without + " is the last enabled administrator"};
}

Status MemoryAuthStore::InsertUser(const UserRecord& user) {
  for (const auto& [id, other] : tables_.users) {
    if (id == user.user_id || SameName(other.name, user.name)) {
      return {ErrorCode::kExists, "there is a user " + user.name};
    }
  }
  tables_.users[user.user_id] = user;
  return {};
}

Result<UserRecord*> MemoryAuthStore::FindUserAt(const std::string& user_id, int64_t version) {
  const auto it = tables_.users.find(user_id);
  if (it == tables_.users.end()) return {ErrorCode::kNotFound, "no user " + user_id};
  if (it->second.version != version) {
    return {ErrorCode::kConflict, "user " + user_id + " was changed meanwhile"};
  }
  return &it->second;
}

Result<bool> MemoryAuthStore::NeedsSetup() {
  MutexLock lock(tables_.mu);
  return !HasAdministrator("");
}

Status MemoryAuthStore::PutSetupLink(const std::string& token_hash, WallTime expires) {
  MutexLock lock(tables_.mu);
  if (HasAdministrator("")) return {ErrorCode::kConflict, "an administrator already exists"};
  tables_.setup_link = {token_hash, expires};
  return {};
}

Status MemoryAuthStore::Setup(const std::string& token_hash, const UserRecord& user, WallTime now) {
  MutexLock lock(tables_.mu);
  if (HasAdministrator("")) return {ErrorCode::kConflict, "an administrator already exists"};
  const auto& link = tables_.setup_link;
  if (!link || link->first != token_hash || link->second <= now) {
    return {ErrorCode::kDenied, "this setup link is not valid"};
  }
  CARILLON_TRY(InsertUser(user));
  tables_.setup_link.reset();
  return {};
}

Status MemoryAuthStore::CreateUser(const UserRecord& user) {
  MutexLock lock(tables_.mu);
  return InsertUser(user);
}

Result<UserRecord> MemoryAuthStore::GetUser(const std::string& user_id) {
  MutexLock lock(tables_.mu);
  const auto it = tables_.users.find(user_id);
  if (it == tables_.users.end()) return {ErrorCode::kNotFound, "no user " + user_id};
  return it->second;
}

Result<std::optional<UserRecord>> MemoryAuthStore::FindUser(const std::string& name) {
  MutexLock lock(tables_.mu);
  for (const auto& [id, user] : tables_.users) {
    if (SameName(user.name, name)) return std::optional(user);
  }
  return std::optional<UserRecord>();
}

Result<std::vector<UserRecord>> MemoryAuthStore::ListUsers(const UserListing& listing) {
  MutexLock lock(tables_.mu);
  const auto place = [&](const std::string& text) { return listing.by_name ? Lower(text) : text; };
  std::map<std::string, const UserRecord*> users;
  for (const auto& [id, user] : tables_.users)
    users[place(listing.by_name ? user.name : id)] = &user;
  const std::string after = place(listing.after);
  std::vector<UserRecord> page;
  if (listing.descending) {
    auto it = after.empty() ? users.end() : users.lower_bound(after);
    while (it != users.begin() && page.size() < listing.limit) page.push_back(*(--it)->second);
    return page;
  }
  for (auto it = users.upper_bound(after); it != users.end() && page.size() < listing.limit; ++it) {
    page.push_back(*it->second);
  }
  return page;
}

Result<UserRecord> MemoryAuthStore::UpdateUser(const UserRecord& wanted, WallTime now) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(UserRecord * user, FindUserAt(wanted.user_id, wanted.version));
  if (IsAdministrator(*user) && !IsAdministrator(wanted)) {
    CARILLON_TRY(CheckAdministratorLeft(user->user_id));
  }
  const bool ends_sessions = user->role != wanted.role || user->disabled != wanted.disabled ||
                             user->password_hash != wanted.password_hash;
  user->display_name = wanted.display_name;
  user->role = wanted.role;
  user->shares = wanted.shares;
  user->disabled = wanted.disabled;
  user->password_hash = wanted.password_hash;
  ++user->version;
  user->updated = now;
  if (ends_sessions) {
    ++user->session_epoch;
    std::erase_if(tables_.refreshes,
                  [&](const auto& entry) { return entry.second.record.user_id == wanted.user_id; });
  }
  return *user;
}

Result<Preferences> MemoryAuthStore::ChangePreferences(const PreferenceChange& change) {
  MutexLock lock(tables_.mu);
  const auto it = tables_.users.find(change.user_id);
  if (it == tables_.users.end()) return {ErrorCode::kNotFound, "no user " + change.user_id};
  Preferences& preferences = it->second.preferences;
  for (const auto& [name, value] : change.changes) {
    if (value) preferences[name] = *value;
    if (!value) preferences.erase(name);
  }
  return preferences;
}

Status MemoryAuthStore::DeleteUser(const std::string& user_id, int64_t expected_version) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(const UserRecord* user, FindUserAt(user_id, expected_version));
  if (IsAdministrator(*user)) CARILLON_TRY(CheckAdministratorLeft(user_id));
  std::erase_if(tables_.refreshes,
                [&](const auto& entry) { return entry.second.record.user_id == user_id; });
  std::erase_if(tables_.tokens, [&](const auto& entry) { return entry.second.user_id == user_id; });
  tables_.users.erase(user_id);
  return {};
}

Status MemoryAuthStore::CreateSession(const RefreshRecord& first) {
  MutexLock lock(tables_.mu);
  if (tables_.refreshes.contains(first.token_hash)) {
    return {ErrorCode::kExists, "there is such a refresh token"};
  }
  tables_.refreshes[first.token_hash] = {.record = first};
  return {};
}

std::vector<LaterRefresh> MemoryAuthStore::LaterThan(const RefreshRecord& record) const {
  std::vector<LaterRefresh> later;
  for (const auto& [hash, entry] : tables_.refreshes) {
    if (entry.record.family != record.family || entry.record.created <= record.created) continue;
    later.push_back({hash, entry.record.created, entry.use});
  }
  return later;
}

void MemoryAuthStore::EndFamily(const std::string& family) {
  std::erase_if(tables_.refreshes,
                [&](const auto& entry) { return entry.second.record.family == family; });
}

Result<Rotation> MemoryAuthStore::RotateSession(const std::string& used_hash,
                                                const std::string& new_hash, WallTime now,
                                                WallTime expires) {
  MutexLock lock(tables_.mu);
  const auto it = tables_.refreshes.find(used_hash);
  if (it == tables_.refreshes.end()) return Rotation{};
  RefreshRecord next = it->second.record;
  LaterRefresh spent{used_hash, next.created, RefreshUse::kPresented};
  const auto user = tables_.users.find(next.user_id);
  if (user == tables_.users.end()) return Rotation{};
  if (it->second.use != RefreshUse::kNone) {
    const std::optional<LaterRefresh> lost = LostAnswer(LaterThan(next), now);
    if (!lost) {
      EndFamily(next.family);
      return Rotation{RefreshVerdict::kReused, next.family, user->second};
    }
    spent = {lost->token_hash, lost->created, RefreshUse::kReplaced};
  }
  if (next.expires <= now) return Rotation{.verdict = RefreshVerdict::kExpired};
  if (user->second.disabled || user->second.session_epoch != next.session_epoch) return Rotation{};
  tables_.refreshes[spent.token_hash].use = spent.use;
  next.token_hash = new_hash;
  next.created = CreatedAfter(spent.created, now);
  next.expires = expires;
  tables_.refreshes[new_hash] = {.record = next};
  return Rotation{RefreshVerdict::kRotated, next.family, user->second};
}

Result<std::optional<EndedSession>> MemoryAuthStore::EndSession(const std::string& token_hash) {
  MutexLock lock(tables_.mu);
  const auto it = tables_.refreshes.find(token_hash);
  if (it == tables_.refreshes.end()) return std::optional<EndedSession>();
  EndedSession ended{it->second.record.family, it->second.record.user_id};
  EndFamily(ended.family);
  return std::optional(std::move(ended));
}

Result<std::optional<UserRecord>> MemoryAuthStore::FindSession(const std::string& family,
                                                               WallTime now) {
  MutexLock lock(tables_.mu);
  for (const auto& [hash, entry] : tables_.refreshes) {
    if (entry.record.family != family || entry.use != RefreshUse::kNone ||
        entry.record.expires <= now)
      continue;
    const auto user = tables_.users.find(entry.record.user_id);
    const bool alive = user != tables_.users.end() && !user->second.disabled &&
                       user->second.session_epoch == entry.record.session_epoch;
    if (alive) return std::optional(user->second);
  }
  return std::optional<UserRecord>();
}

Status MemoryAuthStore::CreateFirstToken(const TokenRecord& token) {
  MutexLock lock(tables_.mu);
  if (!tables_.tokens.empty()) return {ErrorCode::kExists, "there is a token already"};
  tables_.tokens[token.token_hash] = token;
  return {};
}

Status MemoryAuthStore::CreateToken(const TokenRecord& token) {
  MutexLock lock(tables_.mu);
  for (const auto& [hash, other] : tables_.tokens) {
    if (hash == token.token_hash || other.token_id == token.token_id) {
      return {ErrorCode::kExists, "there is a token " + token.token_id};
    }
  }
  tables_.tokens[token.token_hash] = token;
  return {};
}

Result<std::optional<FoundToken>> MemoryAuthStore::FindToken(const std::string& token_hash) {
  MutexLock lock(tables_.mu);
  const auto it = tables_.tokens.find(token_hash);
  if (it == tables_.tokens.end()) return std::optional<FoundToken>();
  FoundToken found{.token = it->second};
  if (found.token.user_id.empty()) return std::optional(std::move(found));
  const auto owner = tables_.users.find(found.token.user_id);
  if (owner == tables_.users.end()) return std::optional<FoundToken>();
  found.owner = owner->second;
  return std::optional(std::move(found));
}

Result<std::vector<TokenRecord>> MemoryAuthStore::ListTokens(const TokenFilter& filter) {
  MutexLock lock(tables_.mu);
  std::map<std::string, const TokenRecord*> by_id;
  for (const auto& [hash, token] : tables_.tokens) {
    if (filter.user_id && token.user_id != *filter.user_id) continue;
    if (token.token_id > filter.after_token_id) by_id[token.token_id] = &token;
  }
  std::vector<TokenRecord> page;
  for (const auto& [id, token] : by_id) {
    if (page.size() == filter.limit) break;
    page.push_back(*token);
  }
  return page;
}

Result<TokenRecord> MemoryAuthStore::GetToken(const std::string& token_id) {
  MutexLock lock(tables_.mu);
  for (const auto& [hash, token] : tables_.tokens) {
    if (token.token_id == token_id) return token;
  }
  return {ErrorCode::kNotFound, "no token " + token_id};
}

Status MemoryAuthStore::DeleteToken(const std::string& token_id) {
  MutexLock lock(tables_.mu);
  const size_t deleted = std::erase_if(
      tables_.tokens, [&](const auto& entry) { return entry.second.token_id == token_id; });
  if (deleted == 0) return {ErrorCode::kNotFound, "no token " + token_id};
  return {};
}

Status MemoryAuthStore::TouchToken(const std::string& token_id, WallTime used) {
  MutexLock lock(tables_.mu);
  for (auto& [hash, token] : tables_.tokens) {
    if (token.token_id == token_id) token.last_used = used;
  }
  return {};
}

Result<std::string> MemoryAuthStore::EnsureSigningKey(const std::string& fresh) {
  MutexLock lock(tables_.mu);
  if (tables_.signing_key.empty()) tables_.signing_key = fresh;
  return tables_.signing_key;
}

Result<BoundedCount> MemoryAuthStore::CountUsers() {
  return Bounded(ListUsers({.limit = kOneMore}));
}

Result<BoundedCount> MemoryAuthStore::CountTokens(const TokenFilter& filter) {
  TokenFilter all = WithLimit(filter);
  all.after_token_id.clear();
  return Bounded(ListTokens(all));
}

}  // namespace carillon::memory
