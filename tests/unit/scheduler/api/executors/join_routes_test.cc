// Join tokens of executors: created over the API, valid for one certificate.
#include "scheduler/auth/enrollment.h"

#include "common/tls/join_token.h"
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

const tls::Authority& TheAuthority() {
  static const tls::Authority authority =
      tls::Authority::Create("link", {.from = WallTime{}, .until = WallTime{} + 36'500 * 24h});
  return authority;
}

class JoinTest : public PeopleEnv {
 protected:
  JoinTest() { Serve(TheAuthority().certificate()); }

  // The secret of a new token for `executor`.
  std::string Token(const std::string& executor, json more = json::object()) {
    json body = {{"executor_id", executor}};
    body.update(more);
    const Answer made = Post("/api/executors/join-tokens", body);
    EXPECT_EQ(made.status, 201) << made.text;
    const auto token = tls::JoinToken::Parse(made.body().value("join_token", ""));
    EXPECT_TRUE(token.ok());
    EXPECT_EQ(token->authority, TheAuthority().certificate());
    EXPECT_EQ(made.body()["authority_fingerprint"], TheAuthority().fingerprint());
    return token->secret;
  }
  static JoinRequest RequestOf(const std::string& executor, const std::string& token) {
    return {.executor = ExecutorId(executor),
            .token = token,
            .request = *tls::NewRequest(tls::NewKey(), executor)};
  }
  Result<std::string> Ask(const JoinRequest& request, Duration later = 0s) {
    scheduler::ExecutorEnrollment enrollment(
        {stores_.auth, stores_.executors, stores_.audit}, TheAuthority(),
        [this, later]() -> Result<WallTime> { return *stores_.segments.Now() + later; });
    return enrollment.Issue(request);
  }
};

TEST_F(JoinTest, ATokenIsGoodForOneCertificateForItsExecutor) {
  const std::string token = Token("executor-7");
  const auto issued = Ask(RequestOf("executor-7", token));
  ASSERT_TRUE(issued.ok()) << issued.error().message;
  const WallTime now = *stores_.segments.Now();
  EXPECT_TRUE(tls::CheckIssued(*issued, TheAuthority().certificate(), now).ok());
  EXPECT_EQ(tls::Describe(*issued)->common_name, "executor-7");
  EXPECT_TRUE(IsAudited("executor.join", "executor-7"));
  EXPECT_LE(tls::Describe(*issued)->until, now + scheduler::kExecutorCertificateLife);
  EXPECT_EQ(Ask(RequestOf("executor-7", token)).code(), ErrorCode::kDenied);
}

TEST_F(JoinTest, AnotherExecutorIsDeniedAndUsesNothingUp) {
  const std::string token = Token("executor-7");
  EXPECT_EQ(Ask(RequestOf("executor-8", token)).code(), ErrorCode::kDenied);
  JoinRequest mixed = RequestOf("executor-7", token);
  mixed.request = RequestOf("executor-8", token).request;
  EXPECT_EQ(Ask(mixed).code(), ErrorCode::kDenied);
  mixed.request = "rubbish";
  EXPECT_EQ(Ask(mixed).code(), ErrorCode::kDenied);
  EXPECT_TRUE(Ask(RequestOf("executor-7", token)).ok());
}

TEST_F(JoinTest, AnExpiredTokenIsDenied) {
  const std::string token = Token("executor-7", {{"expires_in_s", 60}});
  EXPECT_EQ(Ask(RequestOf("executor-7", token), 2min).code(), ErrorCode::kDenied);
  EXPECT_TRUE(Ask(RequestOf("executor-7", token)).ok());
}

TEST_F(JoinTest, OtherTokensAreNotJoinTokens) {
  EXPECT_EQ(Ask(RequestOf("executor-7", "carillon_unknown")).code(), ErrorCode::kDenied);
  EXPECT_EQ(Ask(RequestOf("admin", token_)).code(), ErrorCode::kDenied);
}

TEST_F(JoinTest, AJoinTokenOpensNothingElse) {
  const std::string token = Token("executor-7");
  for (const char* path : {"/api/jobs", "/api/tokens", "/api/system/status"}) {
    EXPECT_EQ(As(token, "GET", path).status, 403) << path;
  }
}

TEST_F(JoinTest, AnExecutorWithACertificateGetsTheNextWithoutAToken) {
  const auto issued = Ask(RequestOf("executor-7", ""));
  EXPECT_TRUE(issued.ok());
}

TEST_F(JoinTest, ADisabledExecutorKeepsItsCertificateToItsEndAndNoLonger) {
  const ExecutorId id("executor-7");
  ASSERT_TRUE(stores_.executors.RegisterExecutor({.id = id, .incarnation = Incarnation("x")}).ok());
  EXPECT_TRUE(Ask(RequestOf("executor-7", "")).ok());
  EXPECT_EQ(Post("/api/executors/executor-7/disable").status, 200);
  EXPECT_EQ(Ask(RequestOf("executor-7", "")).code(), ErrorCode::kDenied);
  EXPECT_TRUE(Ask(RequestOf("executor-7", Token("executor-7"))).ok()) << "somebody wants it back";
  EXPECT_EQ(Post("/api/executors/executor-7/enable").status, 200);
  EXPECT_TRUE(Ask(RequestOf("executor-7", "")).ok());
}

TEST_F(JoinTest, ATokenCanBeTakenBackBeforeItIsUsed) {
  const Answer made = Post("/api/executors/join-tokens", {{"executor_id", "executor-7"}});
  const std::string secret = tls::JoinToken::Parse(made.body().value("join_token", ""))->secret;
  EXPECT_EQ(Send("DELETE", made.header("location")).status, 204);
  EXPECT_EQ(Ask(RequestOf("executor-7", secret)).code(), ErrorCode::kDenied);
}

TEST_F(JoinTest, ThePartsOfARequestAreChecked) {
  const auto code = [this](const json& body) {
    const Answer answer = Post("/api/executors/join-tokens", body);
    EXPECT_EQ(answer.status, 400) << answer.text;
    return answer.body()["errors"][0].value("pointer", "");
  };
  EXPECT_EQ(code(json::object()), "/executor_id");
  EXPECT_EQ(code({{"executor_id", "Not An Id"}}), "/executor_id");
  EXPECT_EQ(code({{"executor_id", "-a"}}), "/executor_id");
  EXPECT_EQ(code({{"executor_id", "e"}, {"expires_in_s", 59}}), "/expires_in_s");
  EXPECT_EQ(code({{"executor_id", "e"}, {"expires_in_s", 604'801}}), "/expires_in_s");
  EXPECT_EQ(code({{"executor_id", "e"}, {"role", "admin"}}), "/role");
}

TEST_F(JoinTest, TheMakingOfATokenIsAuditedWithoutIt) {
  const std::string token = Token("executor-7");
  EXPECT_TRUE(IsAudited("executor.join_token", "token/admin"));
  EXPECT_EQ(Get("/api/audit?page_size=100").text.find(token), std::string::npos);
}

class JoinInTheClearTest : public PeopleEnv {};

TEST_F(JoinInTheClearTest, WithoutTlsThereIsNothingToJoinWith) {
  const Answer answer = Post("/api/executors/join-tokens", {{"executor_id", "executor-7"}});
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.body()["code"], "link_without_tls");
}

class JoinAloneTest : public PeopleEnv {
 protected:
  JoinAloneTest() {
    one_process_ = true;
    Serve("");
  }
};

TEST_F(JoinAloneTest, AServerWithoutADoorSaysHowToOpenIt) {
  const Answer answer = Post("/api/executors/join-tokens", {{"executor_id", "executor-7"}});
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.body()["code"], "executors_not_accepted");
  EXPECT_NE(answer.text.find("--executors HOST:PORT"), std::string::npos);
}

TEST(JoinTokenTest, OnlyItsOwnTextIsParsed) {
  const tls::JoinToken token{.secret = "carillon_x", .authority = TheAuthority().certificate()};
  const auto parsed = tls::JoinToken::Parse(token.Text());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->secret, token.secret);
  EXPECT_EQ(parsed->authority, token.authority);
  EXPECT_EQ(token.Text().find('\n'), std::string::npos);
  const std::string text = token.Text();
  for (const std::string& bad : {std::string(), std::string(":"), std::string("carillon_x"),
                                 text.substr(0, text.size() / 2), text.substr(1, 5) + ":AAAA"}) {
    EXPECT_EQ(tls::JoinToken::Parse(bad).code(), ErrorCode::kInvalid) << bad;
  }
}

}  // namespace
}  // namespace carillon::test
