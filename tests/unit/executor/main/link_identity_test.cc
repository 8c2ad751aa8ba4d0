// An executor's certificate: joining, keeping and renewing it, over gRPC on loopback.
#include "executor/main/link_identity.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "common/adapters/grpc/grpc_hub.h"
#include "common/adapters/system/system_clock.h"
#include "common/tls/join_token.h"
#include "tests/support/manual_clock.h"
#include "tests/support/process_wait.h"

namespace carillon::test {
namespace {

constexpr Duration kLife = 30 * 24h;

class LinkIdentityTest : public ::testing::Test {
 protected:
  LinkIdentityTest()
      : authority_(
            tls::Authority::Create("link", {.from = Now() - 24h, .until = Now() + 3650 * 24h})) {
    // The TLS library checks certificates against the real time.
    clock_.Advance(Now() - clock_.Wall());
    auto directory = process::DataDirectory::Open(scratch_ / "data");
    EXPECT_TRUE(directory.ok()) << directory.error().message;
    directory_ = std::move(directory).value();
    const std::string key = tls::NewKey();
    auto hub = rpc::GrpcHub::Start(
        {.member = MemberId("m1"),
         .public_key = std::string(32, 'k'),
         .identity = {.authority = authority_.certificate(),
                      .certificate = *authority_.IssueFor(key, {.common_name = "m1",
                                                                .purpose = tls::Purpose::kServer,
                                                                .from = Now() - 1h,
                                                                .until = Now() + kLife}),
                      .key = key},
         .join = [this](const JoinRequest& request) { return Issue(request); }},
        clock_);
    EXPECT_TRUE(hub.ok()) << hub.error().message;
    hub_ = std::move(hub).value();
    WriteFile(
        scratch_ / "token",
        tls::JoinToken{.secret = "secret", .authority = authority_.certificate()}.Text() + "\n");
  }

  static WallTime Now() { return SystemClock().Wall(); }
  Result<std::string> Issue(const JoinRequest& request) {
    ++asked_;
    if (!request.token.empty() && request.token != "secret") {
      return Error{ErrorCode::kDenied, "not the token"};
    }
    tokens_ += request.token.empty() ? "-" : "t";
    return authority_.Issue(request.request, {.common_name = request.executor.value(),
                                              .purpose = tls::Purpose::kClient,
                                              .from = Now() - 1h,
                                              .until = Now() + kLife});
  }
  std::unique_ptr<executor::LinkIdentity> Make(const std::string& token_file,
                                               const std::string& id = "e1") {
    return std::make_unique<executor::LinkIdentity>(
        executor::LinkIdentity::Options{.executor = ExecutorId(id), .token_file = token_file},
        *directory_, clock_, [this] {
          return std::vector<MemberInfo>{{MemberId("m1"), Incarnation("m"), "", hub_->endpoint()}};
        });
  }
  static Status Open(executor::LinkIdentity& identity) {
    return identity.Open([] { return false; });
  }
  std::string FileText() const { return ReadFile(directory_->Sub("link.pem")); }

  ScratchDirectory scratch_;
  ManualClock clock_;
  const tls::Authority authority_;
  std::unique_ptr<process::DataDirectory> directory_;
  std::atomic<int> asked_ = 0;
  std::string tokens_;  // a thread of the hub writes it, the test reads it after the hub's answer
  std::unique_ptr<rpc::GrpcHub> hub_;
};

TEST_F(LinkIdentityTest, JoinsOnceAndKeepsWhatItGot) {
  const auto first = Make(scratch_ / "token");
  const Status joined = Open(*first);
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  const tls::Identity identity = first->current();
  EXPECT_EQ(identity.authority, authority_.certificate());
  EXPECT_TRUE(tls::CheckPair(identity.certificate, identity.key).ok());
  struct stat file {};
  ASSERT_EQ(stat(directory_->Sub("link.pem").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  // The next start sends no request, with or without a token.
  for (const std::string& token_file : {scratch_ / "token", std::string()}) {
    const auto next = Make(token_file);
    ASSERT_TRUE(Open(*next).ok());
    EXPECT_EQ(next->current().certificate, identity.certificate);
  }
  EXPECT_EQ(asked_, 1);
}

TEST_F(LinkIdentityTest, WithoutCertificateAndTokenItSaysWhatToDo) {
  const auto identity = Make("");
  const Status opened = Open(*identity);
  EXPECT_EQ(opened.code(), ErrorCode::kInvalid);
  EXPECT_NE(opened.error().message.find("link.join_token_file"), std::string::npos);
}

TEST_F(LinkIdentityTest, ATokenThatIsRefusedEndsTheStart) {
  WriteFile(scratch_ / "other",
            tls::JoinToken{.secret = "other", .authority = authority_.certificate()}.Text());
  const auto identity = Make(scratch_ / "other");
  EXPECT_EQ(Open(*identity).code(), ErrorCode::kDenied);
  EXPECT_EQ(FileText(), "");
}

TEST_F(LinkIdentityTest, AFileThatIsNoTokenIsRefused) {
  WriteFile(scratch_ / "rubbish", "rubbish\n");
  EXPECT_EQ(Open(*Make(scratch_ / "rubbish")).code(), ErrorCode::kInvalid);
  EXPECT_EQ(Open(*Make(scratch_ / "missing")).code(), ErrorCode::kUnavailable);
}

TEST_F(LinkIdentityTest, MembersOfAnotherAuthorityAreNotShownTheToken) {
  const auto others = tls::Authority::Create("link", {.from = Now() - 1h, .until = Now() + 1h});
  WriteFile(scratch_ / "other",
            tls::JoinToken{.secret = "secret", .authority = others.certificate()}.Text());
  const auto identity = Make(scratch_ / "other");
  int looks = 0;
  const Status opened = identity->Open([&looks] { return ++looks > 1; });
  EXPECT_EQ(opened.code(), ErrorCode::kUnavailable);
  EXPECT_EQ(asked_, 0);
}

TEST_F(LinkIdentityTest, AnotherStartThatIsAliveEndsThisOne) {
  SystemClock clock;
  executor::LinkIdentity identity(
      {.executor = ExecutorId("e1"), .token_file = scratch_ / "token", .refused_after = 10ms},
      *directory_, clock, []() -> Result<std::vector<MemberInfo>> {
        return Error{ErrorCode::kConflict, "another start is shown"};
      });
  EXPECT_EQ(Open(identity).code(), ErrorCode::kConflict);
  EXPECT_EQ(asked_, 0);
}

TEST_F(LinkIdentityTest, RenewsAtTwoThirdsOfItsLifeWithAKeyOfItsOwn) {
  const auto identity = Make(scratch_ / "token");
  ASSERT_TRUE(Open(*identity).ok());
  const tls::Identity first = identity->current();
  clock_.Advance(kLife / 2);
  identity->Step(clock_.Steady());
  EXPECT_EQ(identity->current().certificate, first.certificate);
  clock_.Advance(kLife / 4);
  identity->Step(clock_.Steady());
  EXPECT_NE(identity->current().certificate, first.certificate);
  EXPECT_NE(identity->current().key, first.key);
  EXPECT_EQ(tokens_, "t-");
  EXPECT_NE(FileText().find(identity->current().certificate), std::string::npos);
}

TEST_F(LinkIdentityTest, ARenewalThatFailsIsTriedAgainAndLosesNothing) {
  const auto identity = Make(scratch_ / "token");
  ASSERT_TRUE(Open(*identity).ok());
  const tls::Identity first = identity->current();
  const std::string address = hub_->endpoint();
  hub_.reset();
  hub_ = nullptr;
  const auto alone = std::make_unique<executor::LinkIdentity>(
      executor::LinkIdentity::Options{.executor = ExecutorId("e1"), .token_file = ""}, *directory_,
      clock_, [address] {
        return std::vector<MemberInfo>{{MemberId("m1"), Incarnation("m"), "", address}};
      });
  ASSERT_TRUE(Open(*alone).ok());
  clock_.Advance(kLife * 3 / 4);
  const SteadyTime next = alone->Step(clock_.Steady());
  EXPECT_EQ(alone->current().certificate, first.certificate);
  EXPECT_LE(next, clock_.Steady() + 1min);
}

TEST_F(LinkIdentityTest, WhatExpiredOrIsForAnotherNameIsJoinedForAnew) {
  ASSERT_TRUE(Open(*Make(scratch_ / "token")).ok());
  const auto renamed = Make(scratch_ / "token", "e2");
  ASSERT_TRUE(Open(*renamed).ok());
  EXPECT_EQ(tls::Describe(renamed->current().certificate)->common_name, "e2");
  clock_.Advance(kLife + 1h);
  EXPECT_EQ(Open(*Make("", "e2")).code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(Open(*Make(scratch_ / "token", "e2")).ok());
  EXPECT_EQ(tokens_, "ttt");
}

}  // namespace
}  // namespace carillon::test
