#include "scheduler/server/link_authority.h"

#include <utility>

#include "common/process/process.h"
#include "scheduler/auth/enrollment.h"

namespace carillon::scheduler {
namespace {

constexpr const char* kAuthorityFile = "link-ca.pem";  // certificate and key
constexpr Duration kAuthorityLife = 3650 * 24h;
constexpr std::string_view kBeginKey = "-----BEGIN PRIVATE KEY-----";

}  // namespace

Result<tls::Authority> ReadLinkAuthority(const config::Config& config) {
  CARILLON_ASSIGN_OR_RETURN(
      const std::string certificate,
      process::ReadPemFile(config.Text("link.tls_ca_file"), "link.tls_ca_file"));
  CARILLON_ASSIGN_OR_RETURN(
      const std::string key,
      process::ReadPemFile(config.Text("link.tls_ca_key_file"), "link.tls_ca_key_file"));
  auto authority = tls::Authority::Load(certificate, key);
  if (authority.ok()) return authority;
  return Error{authority.code(), "link.tls_ca_file: " + authority.error().message};
}

Result<tls::Authority> EnsureLinkAuthority(const process::DataDirectory& directory, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const std::string text, directory.ReadSecret(kAuthorityFile));
  if (text.empty()) {
    tls::Authority created = tls::Authority::Create(
        "Carillon control link", {.from = now - kClockTolerance, .until = now + kAuthorityLife});
    CARILLON_TRY(directory.WriteSecret(kAuthorityFile, created.certificate() + created.key()));
    return created;
  }
  const size_t key = text.find(kBeginKey);
  if (key == text.npos) {
    return Error{ErrorCode::kInvalid, directory.Sub(kAuthorityFile) + " has no private key"};
  }
  auto authority = tls::Authority::Load(text.substr(0, key), text.substr(key));
  if (authority.ok()) return authority;
  return Error{authority.code(), directory.Sub(kAuthorityFile) + ": " + authority.error().message};
}

Result<tls::Identity> NewMemberIdentity(const tls::Authority& authority, const MemberId& member,
                                        WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const auto info, tls::Describe(authority.certificate()));
  if (info.until <= now) {
    return Error{ErrorCode::kUnavailable, "the authority of the control link has expired"};
  }
  const std::string key = tls::NewKey();
  CARILLON_ASSIGN_OR_RETURN(std::string certificate,
                            authority.IssueFor(key, {.common_name = member.value(),
                                                     .dns = {std::string(tls::kAnyMember)},
                                                     .purpose = tls::Purpose::kServer,
                                                     .from = now - kClockTolerance,
                                                     .until = info.until}));
  return tls::Identity{
      .authority = authority.certificate(), .certificate = std::move(certificate), .key = key};
}

}  // namespace carillon::scheduler
