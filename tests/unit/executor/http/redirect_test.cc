#include "executor/http/redirect.h"

#include <gtest/gtest.h>

namespace carillon::executor::redirect_test {
namespace {

StartHttp Post() {
  StartHttp start;
  start.method = HttpMethod::kPost;
  start.url = "https://a.example/one/two?x=1";
  start.headers = {{"Authorization", "Bearer t"},
                   {"X-Key", "k"},
                   {"X-Plain", "p"},
                   {"Content-Type", "text/plain"}};
  start.secret_headers = {"X-Key"};
  start.body = "data";
  return start;
}

TEST(RedirectTest, TargetsAreResolved) {
  StartHttp start = Post();
  ASSERT_TRUE(FollowRedirect(307, "../three", start).ok());
  EXPECT_EQ(start.url, "https://a.example/three");
  EXPECT_EQ(start.method, HttpMethod::kPost);
  EXPECT_EQ(start.body, "data");
  ASSERT_TRUE(FollowRedirect(308, "//a.example:443/four#part", start).ok());
  EXPECT_EQ(start.url, "https://a.example:443/four");
  EXPECT_EQ(start.headers.size(), 4u) << "443 is the port of https: the same origin";
}

TEST(RedirectTest, TheHostAndTheCertificateStayWithTheirOrigin) {
  StartHttp start = Post();
  start.headers["host"] = "shop.example";
  start.client_certificate = "pem";
  ASSERT_TRUE(FollowRedirect(307, "/b", start).ok());
  EXPECT_TRUE(start.headers.contains("host"));
  EXPECT_EQ(start.client_certificate, "pem");
  ASSERT_TRUE(FollowRedirect(307, "https://b.example/", start).ok());
  EXPECT_FALSE(start.headers.contains("host"));
  EXPECT_EQ(start.client_certificate, "");
}

TEST(RedirectTest, TargetsAreEncoded) {
  StartHttp start = Post();
  ASSERT_TRUE(FollowRedirect(307, "https://例子.测试/a b", start).ok());
  EXPECT_EQ(start.url, "https://xn--fsqu00a.xn--0zwm56d/a%20b");
  EXPECT_FALSE(FollowRedirect(307, "https://a b/", start).ok());
}

TEST(RedirectTest, TheStatusIsAskedForAtTheStatedPlace) {
  const auto url = [](const HttpPoll& poll, std::string_view named, std::string_view location) {
    StartHttp start = Post();
    const Status found = AskForStatus(poll, named, location, start);
    EXPECT_EQ(start.method == HttpMethod::kGet && start.body.empty(), found.ok());
    return found.ok() ? start.url : found.error().message;
  };
  EXPECT_EQ(url({}, "", "../s"), "https://a.example/s");
  EXPECT_EQ(url({.url = "https://b.example/s"}, "", "/other"), "https://b.example/s");
  EXPECT_EQ(url({.url = "https://a.example/jobs/", .url_at = "/id"}, "17", ""),
            "https://a.example/jobs/17");
  EXPECT_EQ(url({.url = "https://a.example/jobs/", .url_at = "/id"}, "job:17", ""),
            "https://a.example/jobs/job:17");
  EXPECT_EQ(url({.url_at = "/url"}, "https://a.example/s/1", ""), "https://a.example/s/1");
  EXPECT_NE(url({.url_at = "/url"}, "ftp://a.example/s", "").find("ftp"), std::string::npos);
  EXPECT_NE(url({}, "", "").find("Location"), std::string::npos);
  EXPECT_NE(url({.url_at = "/id"}, "", "/s").find("/id"), std::string::npos);
}

TEST(RedirectTest, OthersBecomeGet) {
  for (const int status : {301, 302, 303}) {
    StartHttp start = Post();
    ASSERT_TRUE(FollowRedirect(status, "/b", start).ok());
    EXPECT_EQ(start.method, HttpMethod::kGet) << status;
    EXPECT_EQ(start.body, "");
    EXPECT_FALSE(start.headers.contains("Content-Type"));
  }
  StartHttp put = Post();
  put.method = HttpMethod::kPut;
  ASSERT_TRUE(FollowRedirect(302, "/b", put).ok());
  EXPECT_EQ(put.method, HttpMethod::kPut);
}

TEST(RedirectTest, SecretsDoNotGoToAnotherOrigin) {
  for (const char* target :
       {"https://b.example/", "http://a.example/", "https://a.example:8443/"}) {
    StartHttp start = Post();
    ASSERT_TRUE(FollowRedirect(307, target, start).ok()) << target;
    EXPECT_FALSE(start.headers.contains("Authorization")) << target;
    EXPECT_FALSE(start.headers.contains("X-Key")) << target;
    EXPECT_TRUE(start.headers.contains("X-Plain")) << target;
    StartHttp secret = Post();
    secret.secret_body = true;
    EXPECT_EQ(FollowRedirect(307, target, secret).code(), ErrorCode::kDenied) << target;
    EXPECT_TRUE(FollowRedirect(303, target, secret).ok()) << "without the body: " << target;
  }
}

TEST(RedirectTest, OtherTargetsAreRefused) {
  for (const char* target : {"file:///etc/passwd", "ftp://a/", "https://user:word@a.example/",
                             "gopher://a/", "http://", "https://exa mple/"}) {
    StartHttp start = Post();
    EXPECT_FALSE(FollowRedirect(302, target, start).ok()) << target;
  }
}

}  // namespace
}  // namespace carillon::executor::redirect_test
