#include "common/adapters/http/forwarded_for.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

TEST(ForwardedForTest, IsReadFromItsEndAsFarAsItsWritersAreTrusted) {
  const auto trusted = ParseNetworks("10.0.0.0/8, fd00::/8").value();
  const auto client = [&](const std::string& peer, std::vector<std::string> values) {
    HttpHeaders headers = {{"host", "x"}};
    for (std::string& value : values) headers.emplace_back("x-forwarded-for", std::move(value));
    return http::ClientOf(peer, headers, trusted);
  };
  EXPECT_EQ(client("10.0.0.1", {"192.0.2.7"}), "192.0.2.7");
  EXPECT_EQ(client("10.0.0.1", {"1.2.3.4, 192.0.2.7, 10.0.0.2"}), "192.0.2.7");
  EXPECT_EQ(client("10.0.0.1", {"1.2.3.4", "192.0.2.7", "10.0.0.2"}), "192.0.2.7");
  EXPECT_EQ(client("[fd00::1]", {"[2001:DB8::7]:4711"}), "[2001:db8::7]");
  EXPECT_EQ(client("10.0.0.1", {"192.0.2.7:80"}), "192.0.2.7");
  EXPECT_EQ(client("10.0.0.1", {"10.0.0.3"}), "10.0.0.3");
  // An address that is not a proxy's cannot name another client.
  EXPECT_EQ(client("192.0.2.9", {"192.0.2.7"}), "192.0.2.9");
  EXPECT_EQ(client("10.0.0.1", {}), "10.0.0.1");
  EXPECT_EQ(client("10.0.0.1", {"192.0.2.7, unknown"}), "10.0.0.1");
  EXPECT_EQ(client("10.0.0.1", {"unknown, 10.0.0.2"}), "10.0.0.2");
  EXPECT_EQ(client("10.0.0.1", {""}), "10.0.0.1");
}

}  // namespace
}  // namespace carillon::test
