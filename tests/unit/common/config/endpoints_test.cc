#include "common/config/endpoints.h"

#include <gtest/gtest.h>

namespace carillon::config {
namespace {

Result<Config> Loaded(std::vector<Override> flags) { return Load({.flags = std::move(flags)}); }

TEST(EndpointsTest, AnEndpointIsAHostAndAPort) {
  EXPECT_EQ(ParseEndpoint("10.0.0.1:8641"), (Endpoint{"10.0.0.1", 8641}));
  EXPECT_EQ(ParseEndpoint("scheduler.example:1"), (Endpoint{"scheduler.example", 1}));
  EXPECT_EQ(ParseEndpoint("[::1]:80")->Text(), "[::1]:80");
  for (const char* text : {"", "host", ":1", "host:", "host:x", "host:65536", "host:-1", "::1:80",
                           "a b:1", "user@host:1", "http://host:1", "[]:1", "host:1 "}) {
    EXPECT_FALSE(ParseEndpoint(text)) << text;
  }
}

TEST(EndpointsTest, MembersAreAListAndNeedTls) {
  const auto config =
      Loaded({{"link.members", "a:1,b:2", "--set"}, {"link.tls", "mutual", "--set"}});
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(LinkMembers(*config), (std::vector<Endpoint>{{"a", 1}, {"b", 2}}));
  EXPECT_FALSE(StandaloneExecutors(*config));
  const auto clear = Loaded({{"link.members", "a:1", "--set"}});
  ASSERT_FALSE(clear.ok());
  EXPECT_NE(clear.error().message.find("link.tls: mutual"), std::string::npos);
  for (const char* text : {"a", "a:1,", ",a:1", "a:1,,b:2", "a:0"}) {
    const auto wrong = Loaded({{"link.members", text, "--set"}, {"link.tls", "mutual", "--set"}});
    const bool last_comma = std::string_view(text) == "a:1,";  // as in every list of settings
    EXPECT_EQ(wrong.ok(), last_comma) << text;
  }
}

TEST(EndpointsTest, AStandaloneServerListensAtOneAddress) {
  const auto config = Loaded({{"standalone.executors", "0.0.0.0:0", "--executors"}});
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(StandaloneExecutors(*config), (Endpoint{"0.0.0.0", 0}));
  const auto wrong = Loaded({{"standalone.executors", "8641", "--executors"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("standalone.executors must be host:port"),
            std::string::npos);
}

// A pattern that matches nothing would send requests through the proxy.
TEST(EndpointsTest, WhatIsReachedWithoutTheProxyIsNamesAndNetworks) {
  for (const char* text :
       {"", "*", "intern.example, .corp,*.test", "10.0.0.0/8,::1,[fd00::1],", "a_b,192.0.2.7"}) {
    const auto config = Loaded({{"executor.no_proxy", text, "--set"}});
    EXPECT_TRUE(config.ok()) << text;
  }
  for (const char* text :
       {"http://a", "a:80", "10.0.0.0/99", "a b", "a*", "例子.test", "[::1]:80", ".", "a,b:1"}) {
    const auto config = Loaded({{"executor.no_proxy", text, "--set"}});
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_NE(config.error().message.find("executor.no_proxy"), std::string::npos);
  }
}

}  // namespace
}  // namespace carillon::config
