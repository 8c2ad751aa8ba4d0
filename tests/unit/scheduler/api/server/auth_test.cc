// Access tokens: a request without a valid token gets 401 before any other check, on every route.
#include <atomic>
#include <thread>

#include "scheduler/api/server/route_table.h"
#include "tests/unit/common/adapters/http/raw_socket.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using AuthTest = ApiEnv;

std::string Concrete(std::string_view path) {
  std::string concrete(path);
  const size_t at = concrete.find("{}");
  if (at != std::string::npos) concrete.replace(at, 2, "x");
  return concrete;
}

TEST_F(AuthTest, WithoutATokenEveryRouteAndMethodAnswers401) {
  std::vector<std::string> paths = {"/api",         "/api/",         "/api/nothing",
                                    "/favicon.ico", "/api/jobs/%zz", "/api/jobs?page_size=0",
                                    "/../x"};
  for (const scheduler::Route& route : scheduler::RouteTable()) {
    if (route.permission == Permission::kAnyone) continue;
    paths.push_back(Concrete(route.path));
  }
  for (const std::string& path : paths) {
    for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"}) {
      const Answer answer = SendOn(client_, method, path, "", {});
      EXPECT_EQ(answer.status, 401) << method << " " << path;
      EXPECT_EQ(answer.header("www-authenticate"), "Bearer realm=\"carillon\"");
      if (std::string_view(method) != "HEAD") {
        EXPECT_EQ(answer.code(), "unauthenticated");
      }
    }
  }
}

TEST_F(AuthTest, WrongTokensAnswer401WhateverElseIsWrong) {
  const std::string huge(2u << 20, 'x');
  for (const std::string& value :
       {std::string("Bearer "), std::string("Bearer wrong"), std::string("Basic ") + token_, token_,
        "Bearer " + token_ + "x", "Bearer " + std::string(5000, 'x'), "Bearer " + token_.substr(1),
        std::string("bearer")}) {
    const HttpHeaders headers = {{"Authorization", value}};
    EXPECT_EQ(SendOn(client_, "GET", "/api/jobs", "", headers).status, 401) << value;
    EXPECT_EQ(SendOn(client_, "POST", "/api/jobs", "{", headers).status, 401) << value;
    EXPECT_EQ(SendOn(client_, "PATCH", "/api/jobs", "{", headers).status, 401) << value;
    EXPECT_EQ(SendOn(client_, "POST", "/api/jobs", huge, headers).status, 401) << value;
    EXPECT_EQ(SendOn(client_, "GET", "/" + std::string(10'000, 'x'), "", headers).status, 401);
  }
  const Answer wrong = SendOn(client_, "GET", "/api/jobs", "", {{"Authorization", "Bearer wrong"}});
  EXPECT_EQ(wrong.header("www-authenticate"), "Bearer realm=\"carillon\", error=\"invalid_token\"");
}

TEST_F(AuthTest, TwoTokensAreNone) {
  const Answer answer =
      SendOn(client_, "GET", "/api/jobs", "",
             {{"Authorization", "Bearer " + token_}, {"Authorization", "Bearer " + token_}});
  EXPECT_EQ(answer.status, 401);
}

TEST_F(AuthTest, TheSchemeIsCaseInsensitive) {
  EXPECT_EQ(
      SendOn(client_, "GET", "/api/jobs", "", {{"Authorization", "BEARER  " + token_}}).status,
      200);
}

TEST_F(AuthTest, OnlyTheStartPageNeedsNoToken) {
  const Answer page = SendOn(client_, "GET", "/", "", {});
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  EXPECT_FALSE(page.header("content-security-policy").empty());
  EXPECT_NE(page.text.find("0.1.0-test"), std::string::npos);
  EXPECT_EQ(SendOn(client_, "HEAD", "/", "", {}).status, 200);
  EXPECT_EQ(SendOn(client_, "POST", "/", "", {}).status, 401);
}

TEST_F(AuthTest, AKnownTokenOutlivesAShortOutageOfTheStoreAnUnknownOneDoesNot) {
  EXPECT_EQ(Get("/api/system/config").status, 200);
  // The cached token is fresh, so the store is not read.
  faults_.plan.Arm("FindToken", Fault::kUnavailable, 1000);
  EXPECT_EQ(Get("/api/system/config").status, 200);
  const Answer stranger =
      SendOn(client_, "GET", "/api/jobs", "", {{"Authorization", "Bearer other"}});
  EXPECT_EQ(stranger.status, 503);
  EXPECT_EQ(stranger.code(), "unavailable");
  EXPECT_EQ(stranger.header("retry-after"), "1");
  EXPECT_EQ(stranger.text.find("secret"), std::string::npos);
}

class CacheTest : public ::testing::Test {
 protected:
  CacheTest() { token_ = *scheduler::CreateAdminToken(stores_.auth, clock_.Wall()); }
  ~CacheTest() override { aside_.Stop(); }
  ManualClock clock_;
  memory::MemoryStores stores_{clock_, {}};
  PlannedStores faults_{stores_.Ports()};
  BoundedCall aside_{clock_};
  const scheduler::Authenticator::Now now_ = [this] { return stores_.segments.Now(); };
  scheduler::Authenticator authenticator_{faults_.auth, clock_, aside_, 1min, now_};
  std::string token_;
};

TEST_F(CacheTest, BelievesAKnownTokenForKStaleWhileTheStoreIsAway) {
  ASSERT_TRUE(authenticator_.Authenticate(token_)->has_value());
  faults_.plan.Arm("FindToken", Fault::kUnavailable, 1000);
  clock_.Advance(scheduler::Authenticator::kStale);
  EXPECT_TRUE(authenticator_.Authenticate(token_)->has_value());
  clock_.Advance(1us);
  const auto late = authenticator_.Authenticate(token_);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.code(), ErrorCode::kUnavailable);
}

TEST_F(CacheTest, AKnownTokenDoesNotWaitForAStoreThatHangs) {
  scheduler::Authenticator hasty(faults_.auth, clock_, aside_, 20ms, now_);
  // On a busy machine even a healthy store may answer late.
  auto known = hasty.Authenticate(token_);
  for (int i = 0; i < 500 && !known.ok(); ++i) known = hasty.Authenticate(token_);
  ASSERT_TRUE(known.ok());
  Hang hang(faults_.plan, "FindToken");
  clock_.Advance(scheduler::Authenticator::kFresh + 1us);
  EXPECT_TRUE(hasty.Authenticate(token_)->has_value());
  hang.Release();
  aside_.Stop();
}

TEST_F(CacheTest, WhoseTokenIsGoneStandsNoLonger) {
  const scheduler::Caller caller = **authenticator_.Authenticate(token_);
  EXPECT_EQ(authenticator_.StillValid(caller), true);
  faults_.plan.Arm("GetToken", Fault::kUnavailable, 1);
  EXPECT_EQ(authenticator_.StillValid(caller), std::nullopt);
  ASSERT_TRUE(stores_.auth.DeleteToken(caller.credential).ok());
  EXPECT_EQ(authenticator_.StillValid(caller), false);
}

TEST_F(CacheTest, AsksTheStoreAgainAfterKFresh) {
  int asked = 0;
  faults_.plan.OnCall([&](const std::string& name) { asked += name == "FindToken" ? 1 : 0; });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(authenticator_.Authenticate(token_)->has_value());
  EXPECT_EQ(asked, 1);
  clock_.Advance(scheduler::Authenticator::kFresh + 1us);
  ASSERT_TRUE(authenticator_.Authenticate(token_)->has_value());
  EXPECT_EQ(asked, 2);
}

// A share that is revoked on another member stays cached here for as long as a role.
TEST_F(CacheTest, SharesAreAsFreshAsARole) {
  UserRecord bert{.user_id = "user-bert", .name = "bert", .role = "user", .shares = {{"payroll"}}};
  ASSERT_TRUE(stores_.auth.CreateUser(bert).ok());
  TokenRecord token = scheduler::DescribeToken("carillon_berts", clock_.Wall());
  token.role = "user";
  token.user_id = bert.user_id;
  ASSERT_TRUE(stores_.auth.CreateToken(token).ok());
  const auto shares = [&] {
    return (*authenticator_.Authenticate("carillon_berts"))->shared.shares();
  };
  EXPECT_EQ(shares(), bert.shares);
  UserRecord without = *stores_.auth.GetUser(bert.user_id);
  without.shares.clear();
  ASSERT_TRUE(stores_.auth.UpdateUser(without, clock_.Wall()).ok());
  clock_.Advance(scheduler::Authenticator::kFresh);
  EXPECT_EQ(shares(), bert.shares);
  clock_.Advance(1us);
  EXPECT_TRUE(shares().empty());
}

TEST_F(CacheTest, TheLastUseOfATokenIsNotedOnceAMinute) {
  std::atomic<int> noted = 0;
  faults_.plan.OnCall([&](const std::string& name) { noted += name == "TouchToken" ? 1 : 0; });
  const std::string id = scheduler::TokenIdOf(scheduler::HashToken(token_));
  // The last use is written in the background, so the test waits for it.
  const auto await_use = [&](WallTime used) {
    while (stores_.auth.GetToken(id)->last_used != std::optional(used)) std::this_thread::yield();
  };
  const WallTime first = clock_.Wall();
  ASSERT_TRUE(authenticator_.Authenticate(token_)->has_value());
  await_use(first);
  clock_.Advance(scheduler::Authenticator::kUseNoted - 1us);
  ASSERT_TRUE(authenticator_.Authenticate(token_)->has_value());
  clock_.Advance(scheduler::Authenticator::kFresh + 1us);
  const WallTime later = clock_.Wall();
  ASSERT_TRUE(authenticator_.Authenticate(token_)->has_value());
  await_use(later);
  EXPECT_EQ(noted, 2);
}

TEST(TokensTest, TokensAreLongRandomAndStoredAsHashes) {
  const std::string a = scheduler::NewToken();
  const std::string b = scheduler::NewToken();
  EXPECT_NE(a, b);
  EXPECT_EQ(a.size(), std::string("carillon_").size() + 43);
  EXPECT_EQ(scheduler::HashToken(a).size(), 64u);
  EXPECT_EQ(scheduler::HashToken(a).find(a), std::string::npos);
}

TEST(TokensTest, TheFirstTokenIsMadeOnce) {
  const ManualClock clock;
  memory::MemoryStores stores(clock, {});
  ASSERT_TRUE(scheduler::CreateAdminToken(stores.auth, clock.Wall()).ok());
  EXPECT_EQ(scheduler::CreateAdminToken(stores.auth, clock.Wall()).code(), ErrorCode::kExists);
}

}  // namespace
}  // namespace carillon::test
