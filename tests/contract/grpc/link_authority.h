// A certificate authority for both ends of the control link.
#pragma once

#include <gtest/gtest.h>

#include "common/adapters/system/system_clock.h"
#include "common/tls/certificates.h"

namespace carillon::test {

// A certificate authority that signs certificates of members and of executors.
class LinkAuthority {
 public:
  LinkAuthority()
      : authority_(
            tls::Authority::Create("carillon link", {.from = Now() - 1h, .until = Now() + 24h})) {}

  tls::Identity Member(const std::string& name) const { return Issue(name, tls::Purpose::kServer); }
  tls::Identity Executor(const std::string& name, Duration life = 1h) const {
    return Issue(name, tls::Purpose::kClient, life);
  }

 private:
  static WallTime Now() { return SystemClock().Wall(); }
  tls::Identity Issue(const std::string& name, tls::Purpose purpose, Duration life = 1h) const {
    const std::string key = tls::NewKey();
    auto issued = authority_.IssueFor(
        key, {.common_name = name,
              .dns = purpose == tls::Purpose::kServer
                         ? std::vector<std::string>{std::string(tls::kAnyMember)}
                         : std::vector<std::string>{},
              .purpose = purpose,
              .from = Now() - 30min,
              .until = Now() + life});
    EXPECT_TRUE(issued.ok()) << issued.error().message;
    return {.authority = authority_.certificate(), .certificate = *issued, .key = key};
  }

  const tls::Authority authority_;
};

// The authority that all tests trust.
inline const LinkAuthority& TheAuthority() {
  static const LinkAuthority authority;
  return authority;
}

}  // namespace carillon::test
