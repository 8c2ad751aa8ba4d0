// Authenticates requests: bearer tokens of programs, access tokens of users who signed in.
//
// Threads  Thread-safe.
// Always   The store sees only hashes; a whole token exists once, in the hands of its maker. Role
//          and name are the store's, never what a token says of itself.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/bounded_call.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/worker_pool.h"
#include "common/domain/share.h"
#include "common/ports/auth_store.h"
#include "scheduler/auth/roles.h"

namespace carillon::scheduler {

// "carillon_" and 256 random bits in base64url.
std::string NewToken();
// True if `text` has the form of one.
bool IsToken(std::string_view text);
// Hex of BLAKE2b-256 of the whole token: what the store keeps.
std::string HashToken(std::string_view token);
// The id of a token in lists and in the audit; says nothing that helps to guess it.
std::string TokenIdOf(const std::string& token_hash);
// What the store keeps of a new `token`.
TokenRecord DescribeToken(const std::string& token, WallTime now);

// What the store keeps of `token` when it is the first one.
TokenRecord FirstToken(const std::string& token, WallTime now);
// Makes the first token of an empty store and returns it. kExists: there is one already.
Result<std::string> CreateAdminToken(AuthStore& store, WallTime now);

enum class CallerKind { kNobody, kUser, kToken };

struct Caller {
  CallerKind kind = CallerKind::kNobody;
  std::string name = {};
  std::string role = {};
  std::string user_id = {};  // of the owner, when it is a token; empty = nobody's
  std::string display_name = {};
  std::string credential = {};           // the session, or the token's id
  std::optional<WallTime> expires = {};  // of the token
  SharedJobs shared = {};                // with the user
  std::vector<std::string> scopes = {};  // of the token; none = all that the role may
  Preferences preferences = {};          // of one who signed in

  Reach ReachFor(Permission permission) const { return ReachOf(role, scopes, permission); }

  // As in the audit: "anna", "anna/ci", "token/admin".
  std::string Actor() const;
  // Nobody else has it, whatever the names.
  std::string Subject() const;
  // The same for all sessions and tokens of a user.
  std::string Account() const;
  // The owner of the jobs they create.
  std::string OwnerId() const { return user_id.empty() ? name : user_id; }
};

// Who comes with `session`.
Caller CallerOf(const UserRecord& user, const std::string& session);

// What is stored of a caller whose request continues in the background.
struct Grant {
  std::string user_id = {};   // of one who had signed in
  std::string token_id = {};  // empty: they had signed in
  std::string role = {};      // at that time
};

// The caller with their current rights, or a sentence that says why there is none any more.
struct Resumed {
  std::optional<Caller> caller = {};
  std::string ended = {};
};

class Authenticator {
 public:
  using Now = std::function<Result<WallTime>()>;  // the cluster's time, if it is known
  Authenticator(AuthStore& store, const Clock& clock, BoundedCall& aside, Duration patience,
                Now now)
      : store_(store), clock_(clock), aside_(aside), patience_(patience), now_(std::move(now)) {}

  // `bearer` is the token as the caller sent it. nullopt: it is empty or not known. An error: the
  // store could not answer within `patience`. What the store confirmed within kFresh is not looked
  // up again; within kStale it is believed while the store cannot answer, so that status can be
  // read then.
  Result<std::optional<Caller>> Authenticate(const std::string& bearer);
  // True for an API token that is not cached, so that only the store can tell it from a guess. The
  // access token of a session is signed.
  bool MayBeAGuess(const std::string& bearer);
  // As the store has him at this moment, with no more rights than he had. An error: the store could
  // not say.
  Result<Resumed> Resume(const Grant& grant);
  // For streams: whether the caller's credential is still valid; nullopt: the store could not say.
  std::optional<bool> Stands(const Caller& caller);
  // The key that access tokens are signed with; made when there is none.
  Result<std::string> SigningKey();
  // The next request with this credential is checked with the store again.
  void Forget(const std::string& credential);
  void ForgetUser(const std::string& user_id);
  // The time by which credentials expire.
  WallTime Wall() const;
  // After the uses in progress are noted.
  void Stop() { uses_.Stop(); }

  static constexpr Duration kFresh = 5s;
  static constexpr Duration kStale = 15min;
  static constexpr Duration kKeyFresh = 1min;
  static constexpr Duration kUseNoted = 1min;  // how often the last use of a token is written
  static constexpr size_t kCachedMax = 1024;   // tokens and sessions

 private:
  struct Known {
    Caller caller;
    SteadyTime seen;
  };
  using Answer = Result<std::optional<Caller>>;
  // `key` is what the answer is remembered under.
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
  // Keyed by hash: a comparison that leaks its time tells nothing about the token.
  std::map<std::string, Known> known_ GUARDED_BY(mu_);
  std::string signing_key_ GUARDED_BY(mu_);
  SteadyTime key_seen_ GUARDED_BY(mu_){};
  // Of writes that nobody waits for.
  WorkerPool uses_{{.threads = 1, .queue_max = 64}};
};

}  // namespace carillon::scheduler
