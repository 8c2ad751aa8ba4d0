// Authenticates requests, by API tokens of programs and by access tokens of signed-in users.
//
// Threads  Thread-safe.
// Always   The store has only the hashes of API tokens. A full token is shown once, to the user who
//          creates it. Role and name come from the store, never from the token.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/loops/bounded_call.h"
#include "common/base/loops/worker_pool.h"
#include "common/base/mutex.h"
#include "common/domain/access/roles.h"
#include "common/domain/job/share.h"
#include "common/ports/store/auth_store.h"

namespace carillon::scheduler {

// A new API token: "carillon_" and 256 random bits in base64url.
std::string NewToken();
// True if `text` has the form of an API token.
bool IsToken(std::string_view text);
// Returns the BLAKE2b-256 hash of the whole token, in hex. The store has only this hash.
std::string HashToken(std::string_view token);
// The id of a token in lists and in the audit. The token cannot be derived from it.
std::string TokenIdOf(const std::string& token_hash);
// Returns the record to store for a new `token`. Name and role are left empty.
TokenRecord DescribeToken(const std::string& token, WallTime now);

// Returns the record to store for `token` if it is the first token. The role is `admin`.
TokenRecord FirstToken(const std::string& token, WallTime now);
// Creates the first token of an empty store and returns it. kExists: the store already has a token.
Result<std::string> CreateAdminToken(AuthStore& store, WallTime now);

enum class CallerKind { kNobody, kUser, kToken };

// The authenticated sender of a request: a signed-in user, or a program with an API token.
struct Caller {
  CallerKind kind = CallerKind::kNobody;
  std::string name = {};                 // of the user, or of the token
  std::string role = {};                 // for a token: the lesser of its role and its owner's
  std::string user_id = {};              // of the user, or of the token's owner; empty = no owner
  std::string display_name = {};         // of the user, or of the token's owner
  std::string credential = {};           // the id of the session or of the token
  std::optional<WallTime> expires = {};  // when the token expires; nullopt = never
  SharedJobs shared = {};                // jobs shared with the user
  std::vector<std::string> scopes = {};  // of a token; empty = everything that the role allows
  Preferences preferences = {};          // of a signed-in user; empty for a token

  Reach ReachFor(Permission permission) const { return ReachOf(role, scopes, permission); }

  // The name in the audit: "anna", "anna/ci", "token/admin".
  std::string Actor() const;
  // Identifies the user or the token. Unique, because it is made of ids and not of names.
  std::string Subject() const;
  // Identifies the account: the same for all sessions and tokens of a user.
  std::string Account() const;
  // The owner of the jobs that this caller creates.
  std::string OwnerId() const { return user_id.empty() ? name : user_id; }
};

// Returns the caller of a request with `session`. The session belongs to `user`.
Caller CallerOf(const UserRecord& user, const std::string& session);

// The credentials with which a bulk action was ordered. With them it continues after the request.
struct Grant {
  std::string user_id = {};   // of a signed-in user
  std::string token_id = {};  // empty: ordered by a signed-in user
  std::string role = {};      // the role when the action was ordered
};

// The result of resuming a Grant. If the grant is still valid, it is the caller with the present
// rights. Otherwise `ended` is a sentence that says why the grant is no longer valid.
struct Resumed {
  std::optional<Caller> caller = {};
  std::string ended = {};
};

class Authenticator {
 public:
  using Now = std::function<Result<WallTime>()>;  // cluster time, if it is known
  // Calls to the store are made through `aside`. A request waits at most `patience` for each call.
  Authenticator(AuthStore& store, const Clock& clock, BoundedCall& aside, Duration patience,
                Now now)
      : store_(store), clock_(clock), aside_(aside), patience_(patience), now_(std::move(now)) {}

  // `bearer` is the token as the caller sent it. nullopt: the token is empty or not valid. Error:
  // the store did not answer within `patience`. A credential that the store confirmed less than
  // kFresh ago is not looked up again. While the store does not answer, a credential that it
  // confirmed less than kStale ago is accepted, so that the status page still works.
  Result<std::optional<Caller>> Authenticate(const std::string& bearer);
  // True for an API token that is not cached, because only the store can tell whether the token
  // was guessed. False for the access token of a session, because its signature proves that it
  // was not guessed.
  bool MayBeAGuess(const std::string& bearer);
  // Reads the caller from the store. The caller has no more rights than the grant had. Errors:
  // the store's errors.
  Result<Resumed> Resume(const Grant& grant);
  // Returns whether the caller's credential is still valid, for live streams. nullopt if
  // the store failed.
  std::optional<bool> StillValid(const Caller& caller);
  // The key that signs access tokens. Creates it if the store has none.
  Result<std::string> SigningKey();
  // Drops the credential from the cache, so that its next use is looked up in the store.
  void Forget(const std::string& credential);
  void ForgetUser(const std::string& user_id);
  // The time with which expiries are compared. This is cluster time, or the clock of this host
  // while cluster time is unknown.
  WallTime Wall() const;
  // Waits until no write of a token's last use is in progress.
  void Stop() { uses_.Stop(); }

  static constexpr Duration kFresh = 5s;
  static constexpr Duration kStale = 15min;
  static constexpr Duration kKeyFresh = 1min;
  static constexpr Duration kUseNoted = 1min;  // between two writes of a token's last use
  static constexpr size_t kCachedMax = 1024;   // tokens and sessions in the cache

 private:
  struct Known {
    Caller caller;
    SteadyTime seen;
  };
  using Answer = Result<std::optional<Caller>>;
  // Answers from the cache under `key`. If the cache has no answer, asks the store with `question`.
  Answer Confirm(const std::string& key, const std::function<Answer()>& question);
  Answer AuthenticateToken(const std::string& token);
  Answer AuthenticateSession(const std::string& token);
  Answer FindToken(const std::string& hash);
  Answer FindSession(const std::string& session, const std::string& user_id);
  void NoteUse(const TokenRecord& token, WallTime now);
  std::optional<Known> Recall(const std::string& key);
  void Remember(const std::string& key, const Caller& caller);

  AuthStore& store_;
  const Clock& clock_;
  BoundedCall& aside_;
  const Duration patience_;
  const Now now_;
  Mutex mu_;
  // The keys are hashes and session ids, not tokens. So the timing of comparisons reveals nothing
  // about a token.
  std::map<std::string, Known> known_ GUARDED_BY(mu_);
  std::string signing_key_ GUARDED_BY(mu_);
  SteadyTime key_seen_ GUARDED_BY(mu_){};
  // Writes the last use of tokens in the background, so that no request waits for it.
  WorkerPool uses_{{.threads = 1, .queue_max = 64}};
};

}  // namespace carillon::scheduler
