#include "scheduler/auth/authenticator.h"

#include "scheduler/auth/access_token.h"
#include "scheduler/auth/random_token.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kTokenLengthMax = kAccessTokenLengthMax;  // longer tokens are not hashed
constexpr std::string_view kPrefix = "carillon_";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr size_t kRandomOfToken = (kSecretBytes * 8 + 5) / 6;  // characters of base64url
constexpr size_t kShownOfToken = kPrefix.size() + 6;           // characters; 36 bits of 256

bool IsTooLong(const std::string& bearer) { return bearer.size() > kTokenLengthMax; }

Caller CallerOf(const FoundToken& found) {
  const TokenRecord& token = found.token;
  Caller caller{.kind = CallerKind::kToken,
                .name = token.name,
                .role = token.role,
                .user_id = token.user_id,
                .credential = token.token_id,
                .expires = token.expires,
                .scopes = token.scopes};
  if (!found.owner) return caller;
  caller.role = LesserRole(token.role, found.owner->role);
  caller.display_name = found.owner->name;
  caller.shared = SharedJobs(found.owner->shares);
  return caller;
}

}  // namespace

Caller CallerOf(const UserRecord& user, const std::string& session) {
  return {.kind = CallerKind::kUser,
          .name = user.name,
          .role = user.role,
          .user_id = user.user_id,
          .display_name = user.display_name,
          .credential = session,
          .shared = SharedJobs(user.shares),
          .preferences = user.preferences};
}

std::string TokenIdOf(const std::string& token_hash) { return "tok-" + token_hash.substr(0, 16); }

std::string NewToken() { return std::string(kPrefix) + RandomText(kSecretBytes); }

bool IsToken(std::string_view text) {
  return text.size() == kPrefix.size() + kRandomOfToken && text.starts_with(kPrefix) &&
         text.find_first_not_of(kBase64Url) == std::string_view::npos;
}

std::string HashToken(std::string_view token) { return HashSecret(token); }

TokenRecord DescribeToken(const std::string& token, WallTime now) {
  TokenRecord record{.token_hash = HashToken(token), .name = {}, .role = {}, .created = now};
  record.token_id = TokenIdOf(record.token_hash);
  record.prefix = token.substr(0, kShownOfToken);
  return record;
}

TokenRecord FirstToken(const std::string& token, WallTime now) {
  TokenRecord record = DescribeToken(token, now);
  record.name = "admin";
  record.role = "admin";
  return record;
}

Result<std::string> CreateAdminToken(AuthStore& store, WallTime now) {
  const std::string token = NewToken();
  CARILLON_TRY(store.CreateFirstToken(FirstToken(token, now)));
  return token;
}

std::string Caller::Actor() const {
  if (kind != CallerKind::kToken) return name;
  return (user_id.empty() ? "token" : display_name) + "/" + name;
}

std::string Caller::Account() const { return user_id.empty() ? credential : "user " + user_id; }

std::string Caller::Subject() const {
  return kind == CallerKind::kToken ? credential : "user " + user_id;
}

WallTime Authenticator::Wall() const { return now_().value_or(clock_.Wall()); }

Result<std::optional<Caller>> Authenticator::Authenticate(const std::string& bearer) {
  if (bearer.empty() || IsTooLong(bearer)) return std::optional<Caller>();
  return LooksLikeAccessToken(bearer) ? AuthenticateSession(bearer) : AuthenticateToken(bearer);
}

bool Authenticator::MayBeAGuess(const std::string& bearer) {
  if (bearer.empty() || IsTooLong(bearer)) return false;
  return !LooksLikeAccessToken(bearer) && !Recall(HashToken(bearer));
}

Authenticator::Answer Authenticator::AuthenticateToken(const std::string& token) {
  const std::string hash = HashToken(token);
  auto caller = Confirm(hash, [this, hash] { return FindToken(hash); });
  // Checked here, because the cached token may have expired after it was cached.
  const bool expired =
      caller.ok() && *caller && (*caller)->expires && *(*caller)->expires <= Wall();
  if (expired) return std::optional<Caller>();
  return caller;
}

Authenticator::Answer Authenticator::AuthenticateSession(const std::string& token) {
  CARILLON_ASSIGN_OR_RETURN(const std::string key, SigningKey());
  const auto claims = ReadAccessToken(key, token, Wall());
  if (!claims) return std::optional<Caller>();
  Answer caller =
      Confirm(claims->session, [this, session = claims->session, user_id = claims->user_id] {
        return FindSession(session, user_id);
      });
  // The cache is keyed by session alone, so the token's user must be compared here as well.
  const bool another = caller.ok() && *caller && (*caller)->user_id != claims->user_id;
  if (another) return std::optional<Caller>();
  return caller;
}

Authenticator::Answer Authenticator::Confirm(const std::string& key,
                                             const std::function<Answer()>& question) {
  const auto known = Recall(key);
  const SteadyTime now = clock_.Steady();
  if (known && now - known->seen <= kFresh) return std::optional(known->caller);
  const bool believable = known && now - known->seen <= kStale;
  auto asked = aside_.Ask<Answer>(patience_, question);
  const Answer answer =
      asked ? *std::move(asked)
            : Answer(Error{ErrorCode::kUnavailable, "find credentials: no answer in time"});
  if (!answer.ok()) {
    if (believable) return std::optional(known->caller);
    return answer;
  }
  if (answer->has_value()) {
    Remember(key, **answer);
  } else {
    Forget(key);
  }
  return answer;
}

Authenticator::Answer Authenticator::FindToken(const std::string& hash) {
  CARILLON_ASSIGN_OR_RETURN(const auto found, store_.FindToken(hash));
  if (!found || !SameText(found->token.token_hash, hash)) return std::optional<Caller>();
  if (found->owner && found->owner->disabled) return std::optional<Caller>();
  NoteUse(found->token, Wall());
  return std::optional(CallerOf(*found));
}

Authenticator::Answer Authenticator::FindSession(const std::string& session,
                                                 const std::string& user_id) {
  CARILLON_ASSIGN_OR_RETURN(const auto user, store_.FindSession(session, Wall()));
  if (!user || user->user_id != user_id) return std::optional<Caller>();
  return std::optional(CallerOf(*user, session));
}

Result<Resumed> Authenticator::Resume(const Grant& grant) {
  std::optional<FoundToken> token;
  std::string user_id = grant.user_id;
  if (!grant.token_id.empty()) {
    auto found = store_.GetToken(grant.token_id);
    if (!found.ok() && found.code() != ErrorCode::kNotFound) return found.error();
    if (!found.ok()) return Resumed{.ended = "The API token that started it was deleted."};
    if (found->expires && *found->expires <= Wall()) {
      return Resumed{.ended = "The API token that started it has expired."};
    }
    token = FoundToken{.token = std::move(found).value()};
    user_id = token->token.user_id;
  }
  std::optional<UserRecord> user;
  if (!user_id.empty()) {
    auto found = store_.GetUser(user_id);
    if (!found.ok() && found.code() != ErrorCode::kNotFound) return found.error();
    if (!found.ok()) return Resumed{.ended = "The user who started it was deleted."};
    if (found->disabled) return Resumed{.ended = "The user who started it was disabled."};
    user = std::move(found).value();
  }
  if (token) token->owner = user;
  Caller caller = token ? CallerOf(*token) : CallerOf(user.value_or(UserRecord{}), "");
  caller.role = LesserRole(grant.role, caller.role);
  return Resumed{.caller = std::move(caller)};
}

std::optional<bool> Authenticator::StillValid(const Caller& caller) {
  if (caller.kind == CallerKind::kToken) {
    const auto resumed =
        Resume({.user_id = caller.user_id, .token_id = caller.credential, .role = caller.role});
    if (!resumed.ok()) return std::nullopt;
    return resumed->caller.has_value();
  }
  const auto user = store_.FindSession(caller.credential, Wall());
  if (!user.ok()) return std::nullopt;
  return *user && (*user)->user_id == caller.user_id;
}

// Records the use in the background. If the queue is full, a later use is recorded instead.
void Authenticator::NoteUse(const TokenRecord& token, WallTime now) {
  if (token.last_used && now - *token.last_used < kUseNoted) return;
  uses_.TryPost([this, id = token.token_id, now] { (void)store_.TouchToken(id, now); });
}

Result<std::string> Authenticator::SigningKey() {
  std::string known;
  {
    const MutexLock lock(mu_);
    known = signing_key_;
    if (!known.empty() && clock_.Steady() - key_seen_ <= kKeyFresh) return known;
  }
  auto asked = aside_.Ask<Result<std::string>>(
      patience_, [this] { return store_.EnsureSigningKey(RandomBytes(kSigningKeyBytes)); });
  if (asked && asked->ok()) {
    const MutexLock lock(mu_);
    signing_key_ = **asked;
    key_seen_ = clock_.Steady();
    return signing_key_;
  }
  if (!known.empty()) return known;
  if (asked) return asked->error();
  return Error{ErrorCode::kUnavailable, "signing key: no answer in time"};
}

void Authenticator::Forget(const std::string& credential) {
  const MutexLock lock(mu_);
  known_.erase(credential);
  std::erase_if(known_,
                [&](const auto& entry) { return entry.second.caller.credential == credential; });
}

void Authenticator::ForgetUser(const std::string& user_id) {
  const MutexLock lock(mu_);
  std::erase_if(known_, [&](const auto& entry) { return entry.second.caller.user_id == user_id; });
}

std::optional<Authenticator::Known> Authenticator::Recall(const std::string& key) {
  const MutexLock lock(mu_);
  const auto it = known_.find(key);
  if (it == known_.end()) return std::nullopt;
  return it->second;
}

void Authenticator::Remember(const std::string& key, const Caller& caller) {
  const MutexLock lock(mu_);
  if (known_.size() >= kCachedMax && !known_.contains(key)) known_.clear();
  known_[key] = {.caller = caller, .seen = clock_.Steady()};
}

}  // namespace carillon::scheduler
