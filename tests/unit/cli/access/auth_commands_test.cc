// The commands login, logout, whoami, user and token.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class AuthCommandsTest : public CliTest {
 protected:
  AuthCommandsTest() {
    std::string pattern = ::testing::TempDir() + "carillon-cli-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    environment_ = {{"CARILLON_ADDR", "http://a"}, {"XDG_CONFIG_HOME", directory_}};
  }
  ~AuthCommandsTest() override { std::filesystem::remove_all(directory_); }

  void AnswerSession(const std::string& request, const std::string& access,
                     const std::string& refresh) {
    const json body = {{"access_token", access}, {"expires_in", 600}, {"user", {{"name", "anna"}}}};
    server_.answers["POST http://a" + request].emplace_back(HttpResponse{
        .status = 200,
        .headers = {{"content-type", "application/json"},
                    {"set-cookie", "carillon_refresh=" + refresh + "; Path=/api/auth; HttpOnly"}},
        .body = body.dump()});
  }
  void LogIn() {
    AnswerSession("/api/auth/login", "access-1", "refresh-1");
    in_.str("a long enough password\n");
    ASSERT_EQ(Run({"login", "--name", "anna"}), 0) << err();
  }
  std::string Path() const { return directory_ + "/carillon/session.json"; }
  std::string Stored() const {
    std::ifstream in(Path());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static const HttpClientRequest& Last(const FakeServer::State& state) {
    return state.requests.back();
  }

  std::string directory_;
};

TEST_F(AuthCommandsTest, LoginKeepsTheSessionInAFileOfOnesOwn) {
  LogIn();
  EXPECT_EQ(SentBody(0), (json{{"name", "anna"}, {"password", "a long enough password"}}));
  EXPECT_EQ(HeaderOf(Sent(0), "Authorization"), "");
  EXPECT_TRUE(out().empty());
  struct stat about {};
  ASSERT_EQ(stat(Path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_NE(Stored().find("refresh-1"), std::string::npos);
  EXPECT_EQ(Stored().find("long enough"), std::string::npos);
  Answer("GET /api/auth/me", {{"kind", "user"}, {"name", "anna"}});
  EXPECT_EQ(Run({"whoami", "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson()["name"], "anna");
  EXPECT_EQ(HeaderOf(Last(server_), "Authorization"), "Bearer access-1");
}

TEST_F(AuthCommandsTest, OnATerminalThePasswordIsAskedFor) {
  tty_ = true;
  typed_password_ = "typed without echo";
  in_.str("anna\n");
  AnswerSession("/api/auth/login", "access-1", "refresh-1");
  EXPECT_EQ(Run({"login"}), 0) << err();
  EXPECT_EQ(SentBody(0), (json{{"name", "anna"}, {"password", "typed without echo"}}));
  EXPECT_EQ(prompts_, "Password: ");
}

TEST_F(AuthCommandsTest, WithoutATerminalANameAndAPasswordAreNeeded) {
  EXPECT_EQ(Run({"login"}), 2);
  EXPECT_EQ(Run({"login", "--name", "anna"}), 2);
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(AuthCommandsTest, AWrongPasswordIsExitCode4AndKeepsNothing) {
  Answer("POST /api/auth/login", ProblemOf("wrong_credentials"), 401);
  in_.str("not the password\n");
  EXPECT_EQ(Run({"login", "--name", "anna"}), 4);
  EXPECT_NE(err().find("wrong_credentials"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(Path()));
}

TEST_F(AuthCommandsTest, TheSessionIsRefreshedBeforeItExpires) {
  LogIn();
  Answer("GET /api/auth/me", {{"name", "anna"}});
  clock_.Advance(9min + 31s);
  AnswerSession("/api/auth/refresh", "access-2", "refresh-2");
  EXPECT_EQ(Run({"whoami"}), 0) << err();
  const HttpClientRequest& refresh = Sent(1);
  EXPECT_EQ(refresh.url, "http://a/api/auth/refresh");
  EXPECT_EQ(HeaderOf(refresh, "Cookie"), "carillon_refresh=refresh-1");
  EXPECT_EQ(HeaderOf(refresh, "X-Carillon-Refresh"), "1");
  EXPECT_EQ(HeaderOf(Last(server_), "Authorization"), "Bearer access-2");
  EXPECT_NE(Stored().find("refresh-2"), std::string::npos);
  EXPECT_EQ(Stored().find("refresh-1"), std::string::npos);
}

TEST_F(AuthCommandsTest, ASessionThatHasEndedIsForgottenAndSaid) {
  LogIn();
  clock_.Advance(1h);
  Answer("POST /api/auth/refresh", ProblemOf("refresh_reused"), 401);
  EXPECT_EQ(Run({"whoami"}), 4);
  EXPECT_NE(err().find("carillon login"), std::string::npos);
  EXPECT_EQ(Stored().find("refresh-1"), std::string::npos);
}

TEST_F(AuthCommandsTest, AServerThatIsAwayCostsNoSession) {
  LogIn();
  clock_.Advance(1h);
  FailOf("http://a", "POST /api/auth/refresh", ErrorCode::kUnavailable);
  EXPECT_EQ(Run({"whoami"}), 6);
  EXPECT_NE(Stored().find("refresh-1"), std::string::npos);
}

TEST_F(AuthCommandsTest, ATokenThatWasNamedGoesBeforeTheSession) {
  LogIn();
  environment_["CARILLON_TOKEN"] = "machine";
  Answer("GET /api/auth/me", {{"name", "ci"}});
  EXPECT_EQ(Run({"whoami"}), 0);
  EXPECT_EQ(HeaderOf(Last(server_), "Authorization"), "Bearer machine");
}

TEST_F(AuthCommandsTest, ASessionGoesToItsServerOnly) {
  LogIn();
  environment_["CARILLON_ADDR"] = "http://b";
  AnswerOf("http://b", "GET /api/auth/me", {{"name", "x"}});
  EXPECT_EQ(Run({"whoami"}), 0);
  EXPECT_EQ(HeaderOf(Last(server_), "Authorization"), "");
}

TEST_F(AuthCommandsTest, LogoutEndsTheSessionThereAndHere) {
  LogIn();
  server_.answers["POST http://a/api/auth/logout"].emplace_back(HttpResponse{.status = 204});
  EXPECT_EQ(Run({"logout"}), 0) << err();
  EXPECT_EQ(HeaderOf(Last(server_), "Cookie"), "carillon_refresh=refresh-1");
  EXPECT_EQ(Stored().find("refresh-1"), std::string::npos);
  const size_t sent = server_.requests.size();
  EXPECT_EQ(Run({"logout"}), 0);
  EXPECT_EQ(server_.requests.size(), sent);
}

TEST_F(AuthCommandsTest, ADamagedSessionFileIsToldAndNotOverwritten) {
  LogIn();
  std::ofstream(Path()) << "{half";
  EXPECT_EQ(Run({"whoami"}), 2);
  EXPECT_NE(err().find("session.json"), std::string::npos);
  EXPECT_EQ(Stored(), "{half");
}

TEST_F(AuthCommandsTest, UsersAreFoundByNameAndEditedAtTheirVersion) {
  environment_["CARILLON_TOKEN"] = "admin";
  const json anna = {{"user_id", "user-1"}, {"name", "anna"}, {"role", "user"}};
  Answer("GET /api/users?page_size=500", {{"items", {anna}}, {"next_page_token", nullptr}});
  Answer("GET /api/users/user-1", anna, 200, "\"v3\"");
  Answer("PATCH /api/users/user-1", anna);
  EXPECT_EQ(Run({"user", "edit", "anna", "--role", "admin", "--disable"}), 0) << err();
  EXPECT_EQ(HeaderOf(Last(server_), "If-Match"), "\"v3\"");
  EXPECT_EQ(test::ParseJson(Last(server_).body), (json{{"role", "admin"}, {"disabled", true}}));
  EXPECT_EQ(Run({"user", "edit", "anna"}), 2);
  EXPECT_EQ(Run({"user", "edit", "anna", "--enable", "--disable"}), 2);
  EXPECT_EQ(Run({"user", "get", "bert"}), 3);
  EXPECT_EQ(Run({"user", "delete", "anna"}), 2);  // without --yes and a terminal
}

TEST_F(AuthCommandsTest, UserCreateReadsThePassword) {
  environment_["CARILLON_TOKEN"] = "admin";
  Answer("POST /api/users", {{"user_id", "user-1"}, {"name", "anna"}}, 201);
  in_.str("a long enough password\n");
  EXPECT_EQ(Run({"user", "create", "anna", "--role", "read_only", "-q"}), 0) << err();
  EXPECT_EQ(out(), "user-1\n");
  EXPECT_EQ(
      SentBody(0),
      (json{{"name", "anna"}, {"role", "read_only"}, {"password", "a long enough password"}}));
}

TEST_F(AuthCommandsTest, TokensAreListedMadeAndDeleted) {
  environment_["CARILLON_TOKEN"] = "admin";
  Answer("POST /api/tokens", {{"token_id", "tok-1"}, {"token", "carillon_x"}}, 201);
  EXPECT_EQ(Run({"token", "create", "ci", "--expires", "1d", "-q"}), 0) << err();
  EXPECT_EQ(out(), "carillon_x\n");
  EXPECT_EQ(SentBody(0)["expires_at"], FormatRfc3339(clock_.Wall() + 24h));
  Answer("GET /api/tokens?page_size=50",
         {{"items", {{{"token_id", "tok-1"}, {"name", "ci"}}}}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"token", "list"}), 0) << err();
  EXPECT_NE(out().find("tok-1"), std::string::npos);
  server_.answers["DELETE http://a/api/tokens/tok-1"].emplace_back(HttpResponse{.status = 204});
  EXPECT_EQ(Run({"token", "delete", "tok-1", "--yes"}), 0) << err();
  EXPECT_EQ(Run({"token", "delete", "tok-2", "--yes"}), 3);
}

TEST_F(AuthCommandsTest, TheSetupLinkIsPrintedWhole) {
  environment_["CARILLON_TOKEN"] = "admin";
  Answer("POST /api/auth/setup-link", {{"path", "/setup#token=t"}, {"expires_at", "x"}}, 201);
  EXPECT_EQ(Run({"user", "setup-link", "-q"}), 0) << err();
  EXPECT_EQ(out(), "http://a/setup#token=t\n");
}

TEST_F(AuthCommandsTest, TheSetupLinkOfAServerBehindAProxyIsTheServers) {
  environment_["CARILLON_TOKEN"] = "admin";
  Answer("POST /api/auth/setup-link",
         {{"path", "/setup#token=t"},
          {"url", "https://ops.example.org/carillon/setup#token=t"},
          {"expires_at", "x"}},
         201);
  EXPECT_EQ(Run({"user", "setup-link", "-q"}), 0) << err();
  EXPECT_EQ(out(), "https://ops.example.org/carillon/setup#token=t\n");
}

}  // namespace
}  // namespace carillon::cli
