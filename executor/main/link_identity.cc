#include "executor/main/link_identity.h"

#include <utility>

#include "common/base/log.h"
#include "common/process/process.h"
#include "common/tls/join_token.h"

namespace carillon::executor {
namespace {

constexpr const char* kFile = "link.pem";
constexpr Duration kAskAgainEvery = 1s;      // while there is no certificate
constexpr Duration kRenewAgainEvery = 1min;  // also the longest pause between two checks

// Returns the next PEM block of `text` from `at`, and moves `at` behind it; empty if there is none.
std::string NextBlock(const std::string& text, size_t& at) {
  const size_t begin = text.find("-----BEGIN ", at);
  const size_t end = begin == text.npos ? text.npos : text.find("-----END ", begin);
  const size_t line = end == text.npos ? text.npos : text.find('\n', end);
  if (line == text.npos) return {};
  at = line + 1;
  return text.substr(begin, at - begin);
}

}  // namespace

LinkIdentity::LinkIdentity(Options options, const process::DataDirectory& directory,
                           const Clock& clock, Members members)
    : options_(std::move(options)),
      directory_(directory),
      clock_(clock),
      members_(std::move(members)) {}

tls::Identity LinkIdentity::current() const {
  MutexLock lock(mu_);
  return identity_;
}

Status LinkIdentity::Open(const process::Interrupted& interrupted) {
  Status loaded = Load();
  if (loaded.ok()) return {};
  if (options_.token_file.empty()) {
    // A certificate that is not valid now may be valid once the clock of this host is corrected, so
    // a later start may succeed.
    const bool may_pass = loaded.code() == ErrorCode::kDenied;
    return {may_pass ? ErrorCode::kUnavailable : ErrorCode::kInvalid,
            "link.tls is mutual: " + loaded.error().message +
                "; link.join_token_file has to name a join token (carillon "
                "executor join-token)"};
  }
  log::Info("link", "joins with a token: {}", loaded.error().message);
  return JoinWithToken(interrupted);
}

Status LinkIdentity::Load() {
  CARILLON_ASSIGN_OR_RETURN(const std::string text, directory_.ReadSecret(kFile));
  if (text.empty()) return {ErrorCode::kInvalid, "this executor has no certificate yet"};
  size_t at = 0;
  tls::Identity stored;
  stored.key = NextBlock(text, at);
  stored.certificate = NextBlock(text, at);
  stored.authority = NextBlock(text, at);
  CARILLON_TRY(tls::CheckPair(stored.certificate, stored.key));
  CARILLON_TRY(tls::CheckIssued(stored.certificate, stored.authority, clock_.Wall()));
  CARILLON_ASSIGN_OR_RETURN(const auto info, tls::Describe(stored.certificate));
  if (info.common_name != options_.executor.value()) {
    return {ErrorCode::kInvalid, "the certificate is for " + info.common_name};
  }
  MutexLock lock(mu_);
  identity_ = std::move(stored);
  return {};
}

Status LinkIdentity::JoinWithToken(const process::Interrupted& interrupted) {
  CARILLON_ASSIGN_OR_RETURN(const std::string text,
                            process::ReadSecretFile(options_.token_file, "link.join_token_file"));
  const auto token = tls::JoinToken::Parse(text);
  if (!token.ok()) {
    return {ErrorCode::kInvalid, "link.join_token_file: " + token.error().message};
  }
  SteadyTime patient_until = clock_.Steady() + options_.refused_after;
  while (!interrupted()) {
    Status joined = AskMembers({.authority = token->authority}, token->secret);
    if (joined.ok() || joined.code() == ErrorCode::kDenied) return joined;
    const SteadyTime now = clock_.Steady();
    if (joined.code() != ErrorCode::kConflict) patient_until = now + options_.refused_after;
    if (now > patient_until) return joined;
    log::Warn("link", "not joined yet: {}", joined.error().message);
    process::Await(clock_, kAskAgainEvery, interrupted);
  }
  return process::InterruptedError();
}

Status LinkIdentity::AskMembers(const tls::Identity& shown, const std::string& token) {
  const std::string key = tls::NewKey();
  CARILLON_ASSIGN_OR_RETURN(const std::string request,
                            tls::NewRequest(key, options_.executor.value()));
  Status last{ErrorCode::kUnavailable, "no member of the scheduler is visible"};
  CARILLON_ASSIGN_OR_RETURN(const std::vector<MemberInfo> members, members_());
  for (const MemberInfo& member : members) {
    if (member.grpc_address.empty()) continue;
    const auto issued =
        rpc::Join({.member = member.id, .address = member.grpc_address}, shown,
                  {.executor = options_.executor, .token = token, .request = request});
    if (issued.ok()) {
      return Keep({.authority = shown.authority, .certificate = *issued, .key = key});
    }
    last = issued.error();
    if (issued.code() == ErrorCode::kDenied) break;
  }
  return last;
}

Status LinkIdentity::Keep(const tls::Identity& identity) {
  CARILLON_TRY(tls::CheckPair(identity.certificate, identity.key));
  CARILLON_TRY(
      directory_.WriteSecret(kFile, identity.key + identity.certificate + identity.authority));
  MutexLock lock(mu_);
  identity_ = identity;
  return {};
}

WallTime LinkIdentity::RenewAt(const tls::Identity& identity) const {
  const auto info = tls::Describe(identity.certificate);
  if (!info.ok()) return clock_.Wall();
  return info->from + (info->until - info->from) * 2 / 3;
}

SteadyTime LinkIdentity::Step(SteadyTime now) {
  const tls::Identity identity = current();
  if (clock_.Wall() < RenewAt(identity)) return now + kRenewAgainEvery;
  const Status renewed = AskMembers(identity, "");
  if (renewed.ok()) {
    log::Info("link", "the certificate of this executor was renewed");
  } else {
    log::Warn("link", "the certificate of this executor was not renewed: {}",
              renewed.error().message);
  }
  return now + kRenewAgainEvery;
}

}  // namespace carillon::executor
