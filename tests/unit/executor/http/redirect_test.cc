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
