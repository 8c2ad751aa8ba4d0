// Port of accounts and credentials: users, their sessions, API tokens, the signing key.
//
// Always   Only hashes of passwords and tokens are stored. A write that takes permissions away
//          takes effect at once: a change of role, password or `disabled` ends every session.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/job/share.h"
#include "common/ports/store/bounded_count.h"

namespace carillon {

// A user's console preferences, by name; a preference never set is absent.
using Preferences = std::map<std::string, std::string>;

// A user account.
struct UserRecord {
  std::string user_id;  // at most 63 ASCII characters; never reused
  std::string name;     // for signing in; unique, case-insensitive
  std::string display_name = {};
  std::string role;           // "admin", "user", "read_only"
  std::string password_hash;  // an Argon2id string
  std::vector<Share> shares = {};
  bool disabled = false;
  int64_t version = 1;        // increases with each change
  int64_t session_epoch = 1;  // increases with each change that ends the sessions
  WallTime created = WallTime{};
  WallTime updated = WallTime{};
  Preferences preferences = {};
  bool operator==(const UserRecord&) const = default;
};

// One page of the users, strictly after the cursor.
struct UserListing {
  bool by_name = false;  // case-insensitive; otherwise by user_id
  bool descending = false;
  std::string after = {};  // a user_id, or a name if by_name; empty = from the start
  size_t limit = 50;
};

struct PreferenceChange {
  std::string user_id;
  std::map<std::string, std::optional<std::string>> changes;  // nullopt: unset the preference
};

// An API token, without its secret.
struct TokenRecord {
  std::string token_hash;  // hex, hash of the whole token
  std::string name;
  std::string role;
  WallTime created;
  std::string token_id = {};
  std::string prefix = {};                 // the visible part of the token
  std::string user_id = {};                // owner; empty = none
  std::optional<WallTime> expires = {};    // nullopt = never
  std::optional<WallTime> last_used = {};  // rounded to minutes
  std::vector<std::string> scopes = {};    // only these permissions; empty = all of `role`
};

// A token with the current record of its owner. Tokens of deleted users are not found.
struct FoundToken {
  TokenRecord token;
  std::optional<UserRecord> owner = {};
};

struct TokenFilter {
  std::optional<std::string> user_id = {};  // id of the owner; nullopt = tokens of all users
  std::string after_token_id = {};          // cursor, ascending
  size_t limit = 50;
};

// One refresh token of a session. The successive tokens of a session form a family.
struct RefreshRecord {
  std::string token_hash;
  std::string family;
  std::string user_id;
  int64_t session_epoch = 1;  // the user's session_epoch at sign-in
  WallTime created = WallTime{};
  WallTime expires = WallTime{};
};

enum class RefreshVerdict {
  kRotated,  // the new token is valid
  kUnknown,  // never issued, or its session has ended
  kExpired,
  // The token was exchanged before, and a lost response cannot explain that. The whole family has
  // been ended.
  kReused,
};
struct Rotation {
  RefreshVerdict verdict = RefreshVerdict::kUnknown;
  std::string family = {};
  std::optional<UserRecord> user = {};  // the owner; set for kRotated and kReused
};

// The session that a sign-out ended.
struct EndedSession {
  std::string family;
  std::string user_id;
};

class AuthStore {
 public:
  virtual ~AuthStore() = default;

  // True while no enabled administrator can sign in.
  virtual Result<bool> NeedsSetup() = 0;
  // Replaces an earlier link. kConflict: an administrator exists.
  virtual Status PutSetupLink(const std::string& token_hash, WallTime expires) = 0;
  // Creates the first administrator and consumes the link. kDenied: wrong or expired link;
  // kConflict: an administrator exists; kExists: the name is taken.
  virtual Status Setup(const std::string& token_hash, const UserRecord& user, WallTime now) = 0;

  // kExists: the name is taken.
  virtual Status CreateUser(const UserRecord& user) = 0;
  virtual Result<UserRecord> GetUser(const std::string& user_id) = 0;
  virtual Result<std::optional<UserRecord>> FindUser(const std::string& name) = 0;
  virtual Result<std::vector<UserRecord>> ListUsers(const UserListing& listing) = 0;
  virtual Result<BoundedCount> CountUsers() = 0;
  // Writes display_name, role, shares, disabled and password_hash if the stored version is
  // `wanted.version`; returns the new record. kConflict: another version; kDenied: no enabled
  // administrator would be left.
  virtual Result<UserRecord> UpdateUser(const UserRecord& wanted, WallTime now) = 0;
  // Idempotent; returns all preferences after the change. The version and update time of the user
  // stay the same.
  virtual Result<Preferences> ChangePreferences(const PreferenceChange& change) = 0;
  // Deletes the user with sessions and tokens. Errors as UpdateUser.
  virtual Status DeleteUser(const std::string& user_id, int64_t expected_version) = 0;

  virtual Status CreateSession(const RefreshRecord& first) = 0;
  // Exchanges `used_hash` for the new token, with the same family, user and session epoch. A token
  // that was used before is exchanged again if the response may have been lost (refresh_family.h).
  // Also kUnknown if the user was disabled or changed after the sign-in, because that
  // ends the sessions.
  virtual Result<Rotation> RotateSession(const std::string& used_hash, const std::string& new_hash,
                                         WallTime now, WallTime expires) = 0;
  // Ends the family of this token, even if the token was already used. nullopt: no such family.
  virtual Result<std::optional<EndedSession>> EndSession(const std::string& token_hash) = 0;
  // The user of a live session; nullopt if the session has ended.
  virtual Result<std::optional<UserRecord>> FindSession(const std::string& family,
                                                        WallTime now) = 0;

  // kExists if any token exists: the first one is created only once, in an empty store.
  virtual Status CreateFirstToken(const TokenRecord& token) = 0;
  virtual Status CreateToken(const TokenRecord& token) = 0;
  // Expired tokens are found too.
  virtual Result<std::optional<FoundToken>> FindToken(const std::string& token_hash) = 0;
  virtual Result<std::vector<TokenRecord>> ListTokens(const TokenFilter& filter) = 0;
  virtual Result<BoundedCount> CountTokens(const TokenFilter& filter) = 0;
  virtual Result<TokenRecord> GetToken(const std::string& token_id) = 0;
  virtual Status DeleteToken(const std::string& token_id) = 0;
  virtual Status TouchToken(const std::string& token_id, WallTime used) = 0;

  // The signing key of this store; sets it to `fresh` if there is none.
  virtual Result<std::string> EnsureSigningKey(const std::string& fresh) = 0;
};

}  // namespace carillon
