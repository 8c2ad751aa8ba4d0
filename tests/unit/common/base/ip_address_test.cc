#include "common/base/ip_address.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

bool Within(std::string_view network, std::string_view address) {
  return IpNetwork::Parse(network).value().Contains(IpAddress::Parse(address).value());
}

TEST(IpAddressTest, HasOneTextHoweverItWasWritten) {
  const auto text = [](std::string_view written) { return IpAddress::Parse(written)->Text(); };
  EXPECT_EQ(text("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(text("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(text("2001:DB8:0::7"), "[2001:db8::7]");
  EXPECT_EQ(text("[2001:db8::7]"), "[2001:db8::7]");
  for (const char* none : {"", "localhost", "192.0.2", "192.0.2.256", "[192.0.2.7]", "[]", "::g",
                           "192.0.2.7:80", "192.0.2.7 ", "fe80::1%eth0"}) {
    EXPECT_FALSE(IpAddress::Parse(none)) << none;
  }
}

TEST(IpNetworkTest, ContainsWhatHasItsFirstBits) {
  EXPECT_TRUE(Within("10.0.0.0/8", "10.255.0.1"));
  EXPECT_TRUE(Within("10.1.2.3/8", "10.255.0.1"));
  EXPECT_FALSE(Within("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(Within("192.0.2.128/25", "192.0.2.255"));
  EXPECT_FALSE(Within("192.0.2.128/25", "192.0.2.127"));
  EXPECT_TRUE(Within("192.0.2.7", "::ffff:192.0.2.7"));
  EXPECT_FALSE(Within("192.0.2.7", "192.0.2.8"));
  EXPECT_TRUE(Within("0.0.0.0/0", "203.0.113.9"));
  EXPECT_FALSE(Within("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(Within("fd00::/8", "fdff::1"));
  EXPECT_FALSE(Within("2001:db8::/33", "2001:db8:8000::"));
}

TEST(IpNetworkTest, ListsAreReadWholeOrNotAtAll) {
  EXPECT_EQ(ParseNetworks("")->size(), 0u);
  EXPECT_EQ(ParseNetworks("127.0.0.1, fd00::/8")->size(), 2u);
  for (const char* none : {",", "10.0.0.0/8,", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129",
                           "10.0.0.0/8 192.0.2.7", "proxy"}) {
    EXPECT_FALSE(ParseNetworks(none)) << none;
  }
}

}  // namespace
}  // namespace carillon
