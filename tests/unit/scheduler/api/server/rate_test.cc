#include "common/base/ip_address.h"
#include "scheduler/api/http/client_address.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class RateTest : public ApiEnv {
 protected:
  void Limit(int64_t account, int64_t address) {
    account_rate_ = account;
    address_rate_ = address;
    Serve("");
  }
  // Sends requests until one is refused, and returns that answer. On a machine that is so busy that
  // each request takes a second, none is refused.
  static Answer UntilRefused(const std::function<Answer()>& ask) {
    Answer answer;
    for (int i = 0; i < 50 && answer.status != 429; ++i) answer = ask();
    return answer;
  }
  Answer Anonymous(const std::string& path, const std::string& token = "") {
    HttpHeaders headers;
    if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
    return SendOn(client_, "GET", path, "", headers);
  }
};

TEST_F(RateTest, AccountThatAsksTooMuchHasToWait) {
  Limit(1, 0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Get("/api/jobs").status, 200) << i;
  const Answer refused = UntilRefused([this] { return Get("/api/jobs"); });
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.body()["code"], "too_many_requests");
  EXPECT_EQ(refused.header("retry-after"), "1");
  EXPECT_EQ(UntilRefused([this] { return Get("/api/system/status"); }).status, 429);
  EXPECT_EQ(UntilRefused([this] { return Get("/api/nothing"); }).status, 429);
  EXPECT_EQ(Anonymous("/api/auth/state").status, 200);
  EXPECT_EQ(Anonymous("/api/openapi.json").status, 200);
}

TEST_F(RateTest, AddressThatGuessesTokensHasToWaitAndThoseBesideItDoNot) {
  Limit(0, 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Anonymous("/api/jobs", "guess").status, 401) << i;
  for (const std::string path : {"/api/jobs", "/api/auth/state"}) {
    EXPECT_EQ(UntilRefused([&] { return Anonymous(path, "guess"); }).status, 429) << path;
  }
  EXPECT_EQ(UntilRefused([this] { return Anonymous("/api/jobs"); }).status, 429);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Get("/api/jobs").status, 200) << i;
}

TEST_F(RateTest, WhatTheStoreIsAskedForStrangersIsBoundedWithoutALimitOfTheirs) {
  Limit(1, 0);
  const auto cookie = [this] {
    return SendOn(client_, "POST", "/api/auth/refresh", "",
                  {{"Cookie", "carillon_refresh=guess"}, {"X-Carillon-Refresh", "1"}});
  };
  EXPECT_EQ(Get("/api/auth/me").status, 200);
  EXPECT_EQ(Anonymous("/api/jobs", "guess").status, 401);
  EXPECT_EQ(UntilRefused([this] { return Anonymous("/api/jobs", "guess"); }).status, 429);
  EXPECT_EQ(UntilRefused(cookie).status, 429);
  // A known token is not looked up in the store, so unknown tokens do not delay it.
  EXPECT_EQ(Get("/api/auth/me").status, 200);
}

TEST_F(RateTest, NobodyWithoutACredentialCountsAsAQuestionToTheStore) {
  Limit(1, 0);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(Anonymous("/api/jobs").status, 401);
    EXPECT_EQ(Anonymous("/api/jobs", "aaaa.bbbb.cccc").status, 401);  // forged: no look-up either
  }
  EXPECT_EQ(Anonymous("/api/jobs", "guess").status, 401);
}

TEST(ClientAddressTest, NetworkIsTheAddressOrItsSixtyFour) {
  EXPECT_EQ(scheduler::AddressOf({.peer = "192.0.2.7:40001"}), "192.0.2.7");
  EXPECT_EQ(scheduler::AddressOf({.peer = "[2001:db8::7]:40001"}), "[2001:db8::7]");
  EXPECT_EQ(NetworkOf("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(NetworkOf("[2001:db8:1:2:3:4:5:6]"), "2001:db8:1:2::/64");
  EXPECT_EQ(NetworkOf("[2001:db8:1:2::9]"), "2001:db8:1:2::/64");
  EXPECT_EQ(NetworkOf("[::ffff:192.0.2.7]"), "[::ffff:192.0.2.7]");
  EXPECT_EQ(NetworkOf("[fe80::1%eth0]"), "[fe80::1%eth0]");
}

}  // namespace
}  // namespace carillon::test
