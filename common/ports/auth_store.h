// Port of accounts and credentials: users, their sessions, API tokens, the signing key.
//
// Always   Of passwords and tokens only hashes come here. What a user may no longer do ends with
//          the write that says so: a change of role, password or `disabled` ends every session.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/share.h"

namespace carillon {

// What a person has chosen for himself, by its name; what is not chosen is absent.
using Preferences = std::map<std::string, std::string>;

struct UserRecord {
  std::string user_id;  // at most 63 ASCII characters; never given to anybody else
  std::string name;     // to sign in with; unique, whatever its case
  std::string display_name = {};
  std::string role;           // "admin", "user", "read_only"
  std::string password_hash;  // an Argon2id string
  std::vector<Share> shares = {};
  bool disabled = false;
  int64_t version = 1;        // moves with each change
  int64_t session_epoch = 1;  // moves with each change that ends the sessions
  WallTime created = WallTime{};
  WallTime updated = WallTime{};
  Preferences preferences = {};
  bool operator==(const UserRecord&) const = default;
};

// One page of the users, strictly after the cursor.
struct UserListing {
  bool by_name = false;  // whatever its case; otherwise by user_id
  bool descending = false;
  std::string after = {};  // a user_id or, by name, a name; empty = from the start
  size_t limit = 50;
};

struct PreferenceChange {
  std::string user_id;
  std::map<std::string, std::optional<std::string>> changes;  // nullopt: not chosen any more
};

struct TokenRecord {
  std::string token_hash;  // hex of a hash of the whole token
  std::string name;
  std::string role;
  WallTime created;
  std::string token_id = {};
  std::string prefix = {};                 // what is shown of the token
  std::string user_id = {};                // of its owner; empty = nobody's
  std::optional<WallTime> expires = {};    // nullopt = never
  std::optional<WallTime> last_used = {};  // to the minute
  std::vector<std::string> scopes = {};    // no more than these permissions; none = all of its role
};

// A token with its owner as he is now; a token whose owner was deleted is not found.
struct FoundToken {
  TokenRecord token;
  std::optional<UserRecord> owner = {};
};

struct TokenFilter {
  std::optional<std::string> user_id = {};  // of the owner
  std::string after_token_id = {};          // cursor, ascending
  size_t limit = 50;
};

// One refresh token of a session; those that follow each other are a family.
struct RefreshRecord {
  std::string token_hash;
  std::string family;
  std::string user_id;
  int64_t session_epoch = 1;  // of the user when he signed in
  WallTime created = WallTime{};
  WallTime expires = WallTime{};
};

enum class RefreshVerdict {
  kRotated,  // the new token is in force
  kUnknown,  // never given out, or its session has ended
  kExpired,
  kReused,  // it was used before, and no answer was lost: the whole family has ended
};
struct Rotation {
  RefreshVerdict verdict = RefreshVerdict::kUnknown;
  std::string family = {};
  std::optional<UserRecord> user = {};  // whose it is; when rotated or reused
};

struct EndedSession {
  std::string family;
  std::string user_id;
};

class AuthStore {
 public:
  virtual ~AuthStore() = default;

  // Whether no enabled administrator can sign in yet.
  virtual Result<bool> NeedsSetup() = 0;
  // Takes the place of an earlier link. kConflict: an administrator is there.
  virtual Status PutSetupLink(const std::string& token_hash, WallTime expires) = 0;
  // Makes the first administrator and uses the link up. kDenied: not the link, or it has expired;
  // kConflict: an administrator is there; kExists: the name is taken.
  virtual Status Setup(const std::string& token_hash, const UserRecord& user, WallTime now) = 0;

  // kExists: the name is taken.
  virtual Status CreateUser(const UserRecord& user) = 0;
  virtual Result<UserRecord> GetUser(const std::string& user_id) = 0;
  virtual Result<std::optional<UserRecord>> FindUser(const std::string& name) = 0;
  virtual Result<std::vector<UserRecord>> ListUsers(const UserListing& listing) = 0;
  // Writes display_name, role, shares, disabled and password_hash of a user whose version is still
  // `wanted.version`; returns him as he is then. kConflict: another version is; kDenied: no enabled
  // administrator would be left.
  virtual Result<UserRecord> UpdateUser(const UserRecord& wanted, WallTime now) = 0;
  // Nobody else's business: version and update time stay. Idempotent; returns all there are then.
  virtual Result<Preferences> ChangePreferences(const PreferenceChange& change) = 0;
  // With his sessions and tokens. Errors as UpdateUser.
  virtual Status DeleteUser(const std::string& user_id, int64_t expected_version) = 0;

  virtual Status CreateSession(const RefreshRecord& first) = 0;
  // Exchanges `used_hash` for the new token: family, user and epoch stay. One that was used before
  // is exchanged again when the answer may have been lost (refresh_family.h). A user who was
  // disabled or changed since has no session any more (kUnknown).
  virtual Result<Rotation> RotateSession(const std::string& used_hash, const std::string& new_hash,
                                         WallTime now, WallTime expires) = 0;
  // The family of this token, whether it was used or not. nullopt: there is none.
  virtual Result<std::optional<EndedSession>> EndSession(const std::string& token_hash) = 0;
  // The user of a session that is alive.
  virtual Result<std::optional<UserRecord>> FindSession(const std::string& family,
                                                        WallTime now) = 0;

  // kExists when there is any token already: the first one is made once, on an empty store.
  virtual Status CreateFirstToken(const TokenRecord& token) = 0;
  virtual Status CreateToken(const TokenRecord& token) = 0;
  // Also an expired one.
  virtual Result<std::optional<FoundToken>> FindToken(const std::string& token_hash) = 0;
  virtual Result<std::vector<TokenRecord>> ListTokens(const TokenFilter& filter) = 0;
  virtual Result<TokenRecord> GetToken(const std::string& token_id) = 0;
  virtual Status DeleteToken(const std::string& token_id) = 0;
  virtual Status TouchToken(const std::string& token_id, WallTime used) = 0;

  // The key of this store; `fresh` becomes it if there is none.
  virtual Result<std::string> EnsureSigningKey(const std::string& fresh) = 0;
};

}  // namespace carillon
