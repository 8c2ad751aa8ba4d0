#include "executor/http/address_policy.h"

#include <gtest/gtest.h>

namespace carillon::executor {
namespace {

bool Allows(const AddressPolicy& policy, const char* address) {
  return policy.Allows(*IpAddress::Parse(address), false);
}

TEST(AddressPolicyTest, DeniesWhatOnlyTheHostShouldReach) {
  const AddressPolicy policy;
  for (const char* address : {"127.0.0.1",
                              "127.9.9.9",
                              "0.0.0.0",
                              "169.254.169.254",
                              "224.0.0.1",
                              "255.255.255.255",
                              "240.0.0.1",
                              "100.100.100.200",
                              "168.63.129.16",
                              "::1",
                              "::",
                              "fe80::1",
                              "ff02::1",
                              "fec0::1",
                              "fd00:ec2::254",
                              "::ffff:127.0.0.1",
                              "::ffff:169.254.169.254",
                              "::127.0.0.1",
                              "64:ff9b::7f00:1",
                              "64:ff9b::a9fe:a9fe",
                              "2002:7f00:1::",
                              "2002:a9fe:a9fe::1",
                              "::ffff:0:127.0.0.1",
                              "::ffff:0:169.254.169.254",
                              "64:ff9b:1::7f00:1",
                              "2001:0:1::1",
                              "100::1",
                              "192.0.0.9",
                              "192.0.0.192",
                              "198.18.0.1",
                              "198.19.255.255"}) {
    EXPECT_FALSE(Allows(policy, address)) << address;
  }
}

TEST(AddressPolicyTest, AllowsTheRestAndPrivateNetworks) {
  const AddressPolicy policy;
  for (const char* address :
       {"10.1.2.3", "192.168.0.1", "172.16.0.1", "100.64.0.1", "93.184.216.34", "2001:db8::1",
        "fd12::1", "64:ff9b::5db8:d822", "2002:5db8:d822::", "::ffff:0:93.184.216.34", "192.0.1.1",
        "198.20.0.1", "2001:1::1"}) {
    EXPECT_TRUE(Allows(policy, address)) << address;
  }
}

TEST(AddressPolicyTest, DenyGoesBeforeAllow) {
  const AddressPolicy policy(*ParseNetworks("127.0.0.0/8,fe80::/10"),
                             *ParseNetworks("127.0.0.9,10.0.0.0/8,2002::/16"));
  EXPECT_TRUE(Allows(policy, "127.0.0.1"));
  EXPECT_TRUE(Allows(policy, "::ffff:127.0.0.1"));
  EXPECT_FALSE(Allows(policy, "127.0.0.9"));
  EXPECT_FALSE(Allows(policy, "10.2.3.4"));
  EXPECT_TRUE(Allows(policy, "fe80::1"));
  EXPECT_FALSE(Allows(policy, "::1")) << "not in the list";
  EXPECT_FALSE(Allows(policy, "2002:5db8:d822::"));
}

TEST(AddressPolicyTest, DeniesTheHostsOwnAddresses) {
  const IpAddress own = *IpAddress::Parse("192.0.2.2");
  EXPECT_FALSE(AddressPolicy().Allows(own, true));
  EXPECT_FALSE(AddressPolicy().Allows(*IpAddress::Parse("64:ff9b::c000:202"), true));
  EXPECT_TRUE(AddressPolicy().Allows(own, false));
  EXPECT_TRUE(AddressPolicy(*ParseNetworks("192.0.2.0/24"), {}).Allows(own, true));
  EXPECT_FALSE(
      AddressPolicy(*ParseNetworks("192.0.2.0/24"), *ParseNetworks("192.0.2.2")).Allows(own, true));
}

}  // namespace
}  // namespace carillon::executor
