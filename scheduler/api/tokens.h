// Bearer tokens: made, hashed, looked up.
//
// Threads  Thread-safe.
// Always   The store sees only hashes; a whole token exists once, in the hands of its maker.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/adapters/http/http_message.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/ports/auth_store.h"
#include "scheduler/api/aside.h"

namespace carillon::scheduler {

// "carillon_" and 256 random bits in base64url.
std::string NewToken();
// Hex of BLAKE2b-256 of the whole token: what the store keeps.
std::string HashToken(std::string_view token);

// The id of a token in lists and in the audit; says nothing that helps to guess it.
std::string TokenIdOf(const std::string& token_hash);

// Makes the first token of an empty store and returns it. kExists: there is one already.
Result<std::string> CreateAdminToken(AuthStore& store, WallTime now);
// What the store keeps of `token` when it is the first one.
TokenRecord FirstToken(const std::string& token, WallTime now);

struct Caller {
  std::string name;
  std::string role;
};

class Authenticator {
 public:
  Authenticator(AuthStore& store, const Clock& clock, Aside& aside, Duration patience)
      : store_(store), clock_(clock), aside_(aside), patience_(patience) {}

  // nullopt: no token, several, or none that is known. An error: the store could not say within
  // `patience`. Tokens that the store confirmed within kFresh are not looked up again; within
  // kStale they are believed when the store cannot say, so that status can be read then.
  Result<std::optional<Caller>> Authenticate(const HttpRequest& request);

  static constexpr Duration kFresh = 5s;
  static constexpr Duration kStale = 15min;
  static constexpr size_t kCachedMax = 1024;  // tokens

 private:
  struct Known {
    Caller caller;
    SteadyTime seen;
  };
  using Lookup = Result<std::optional<FoundToken>>;
  Lookup Find(const std::string& hash);
  std::optional<Known> Recall(const std::string& hash);
  void Remember(const std::string& hash, const Caller& caller);

  AuthStore& store_;
  const Clock& clock_;
  Aside& aside_;
  const Duration patience_;
  Mutex mu_;
  // Keyed by hash: a comparison that leaks its time tells nothing about the token.
  std::map<std::string, Known> known_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
