#include "scheduler/api/tokens.h"

#include <sodium.h>

#include <array>

#include "common/base/check.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kTokenRandomBytes = 32;
constexpr size_t kTokenLengthMax = 512;  // characters; longer ones are not even hashed
constexpr std::string_view kPrefix = "carillon_";
constexpr size_t kShownOfToken = kPrefix.size() + 6;  // characters; 36 bits of 256
constexpr std::string_view kScheme = "bearer ";

void RequireSodium() {
  static const int ready = sodium_init();
  CARILLON_CHECK(ready >= 0, "sodium_init");
}

std::optional<std::string> BearerToken(const HttpRequest& request) {
  if (request.CountHeader("authorization") != 1) return std::nullopt;
  std::string_view value = *request.Header("authorization");
  if (LowerCase(value.substr(0, kScheme.size())) != kScheme) return std::nullopt;
  value.remove_prefix(kScheme.size());
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (value.empty() || value.size() > kTokenLengthMax) return std::nullopt;
  return std::string(value);
}

bool SameText(const std::string& a, const std::string& b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::string TokenIdOf(const std::string& token_hash) { return "tok-" + token_hash.substr(0, 16); }

std::string NewToken() {
  RequireSodium();
  std::array<unsigned char, kTokenRandomBytes> random{};
  randombytes_buf(random.data(), random.size());
  std::array<char, kTokenRandomBytes * 2> text{};
  sodium_bin2base64(text.data(), text.size(), random.data(), random.size(),
                    sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  return std::string(kPrefix) + text.data();
}

std::string HashToken(std::string_view token) {
  RequireSodium();
  std::array<unsigned char, crypto_generichash_BYTES> hash{};
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(token.data()),
                     token.size(), nullptr, 0);
  std::array<char, crypto_generichash_BYTES * 2 + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  return hex.data();
}

TokenRecord FirstToken(const std::string& token, WallTime now) {
  TokenRecord record{
      .token_hash = HashToken(token), .name = "admin", .role = "admin", .created = now};
  record.token_id = TokenIdOf(record.token_hash);
  record.prefix = token.substr(0, kShownOfToken);
  return record;
}

Result<std::string> CreateAdminToken(AuthStore& store, WallTime now) {
  const std::string token = NewToken();
  CARILLON_TRY(store.CreateFirstToken(FirstToken(token, now)));
  return token;
}

Result<std::optional<Caller>> Authenticator::Authenticate(const HttpRequest& request) {
  const auto token = BearerToken(request);
  if (!token) return std::optional<Caller>();
  const std::string hash = HashToken(*token);
  const auto known = Recall(hash);
  const SteadyTime now = clock_.Steady();
  if (known && now - known->seen <= kFresh) return std::optional(known->caller);
  const bool believable = known && now - known->seen <= kStale;
  const Lookup found = Find(hash);
  if (!found.ok()) {
    if (believable) return std::optional(known->caller);
    return found.error();
  }
  if (!found->has_value() || !SameText((*found)->token.token_hash, hash)) {
    const MutexLock lock(mu_);
    known_.erase(hash);
    return std::optional<Caller>();
  }
  Caller caller{.name = (*found)->token.name, .role = (*found)->token.role};
  Remember(hash, caller);
  return std::optional(std::move(caller));
}

Authenticator::Lookup Authenticator::Find(const std::string& hash) {
  auto answer = aside_.Ask<Lookup>(patience_, [this, hash] { return store_.FindToken(hash); });
  if (answer) return *std::move(answer);
  return Error{ErrorCode::kUnavailable, "find token: no answer in time"};
}

std::optional<Authenticator::Known> Authenticator::Recall(const std::string& hash) {
  const MutexLock lock(mu_);
  const auto it = known_.find(hash);
  if (it == known_.end()) return std::nullopt;
  return it->second;
}

void Authenticator::Remember(const std::string& hash, const Caller& caller) {
  const MutexLock lock(mu_);
  if (known_.size() >= kCachedMax && !known_.contains(hash)) known_.clear();
  known_[hash] = {.caller = caller, .seen = clock_.Steady()};
}

}  // namespace carillon::scheduler
