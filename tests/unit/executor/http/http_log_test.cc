#include "executor/http/http_log.h"

#include <gtest/gtest.h>

#include "executor/http/body_text.h"
#include "executor/http/http_proxy.h"
#include "executor/http/http_transfer.h"

namespace carillon::executor::http_log_test {
namespace {

TEST(HttpLogTest, HeadersWithCredentials) {
  for (const char* name : {"set-cookie", "authorization", "proxy-authorization", "cookie",
                           "x-auth-token", "x-amz-security-token", "x-api-key", "client-secret",
                           "x-password", "x-session-id", "aws-credential"}) {
    EXPECT_TRUE(IsCredentialHeader(name)) << name;
  }
  for (const char* name : {"content-type", "location", "date", "etag"}) {
    EXPECT_FALSE(IsCredentialHeader(name)) << name;
  }
}

TEST(HttpLogTest, ParametersWithCredentials) {
  EXPECT_EQ(ShownUrl("https://a/b?X-Amz-Signature=s&c=d&access_token=t&sig="),
            "https://a/b?X-Amz-Signature=***&c=d&access_token=***&sig=");
  EXPECT_EQ(ShownUrl("https://a/token=1"), "https://a/token=1");
  EXPECT_EQ(ShownUrl("https://a?"), "https://a?");
  EXPECT_EQ(ShownUrl("https://a?&&key=1&"), "https://a?&&key=***&");
}

TEST(BodyTextTest, CharsetsOfContentTypes) {
  EXPECT_EQ(CharsetIn("text/html; charset=GBK"), "gbk");
  EXPECT_EQ(CharsetIn("text/html;a=b;Charset=\"Big5\" ;x"), "big5");
  EXPECT_EQ(CharsetIn("text/html; charset='utf-8'"), "utf-8");
  EXPECT_EQ(CharsetIn("text/html; charset"), "");
  EXPECT_EQ(CharsetIn("text/html"), "");
}

TEST(BodyTextTest, TheMarkGoesBeforeTheStatedCharset) {
  EXPECT_EQ(DecodeBody("\xef\xbb\xbf{}", "").text, "{}");
  EXPECT_EQ(DecodeBody("\xef\xbb\xbf\xc3\xa4", "text/plain; charset=gbk").text, "ä");
  EXPECT_EQ(DecodeBody("\xe4", "text/plain; charset=iso-8859-1").text, "ä");
  EXPECT_EQ(DecodeBody("\xe4", "text/plain; charset=utf-8").text, "\xe4");
  EXPECT_EQ(DecodeBody("\xe4", "text/plain").text, "\xe4");
  EXPECT_NE(DecodeBody("\xe4", "text/plain; charset=x-none").note, "");
}

TEST(HttpHeadTest, NamesWithBlanksAndContinuedValuesAreHeaders) {
  HttpTransfer::Received received;
  for (const char* line : {"HTTP/1.1 200 OK\r\n", "Set-Cookie : a=1;\r\n", "\tsecret=x: y\r\n",
                           "X-Plain:b\r\n", "nothing\r\n", "\r\n"}) {
    received.AddLine(line);
  }
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"set-cookie", "a=1; secret=x: y"}, {"x-plain", "b"}};
  EXPECT_EQ(received.headers, expected);
  EXPECT_TRUE(IsCredentialHeader(received.headers[0].first));
}

TEST(HttpProxyTest, WhatIsReachedDirectly) {
  const HttpProxy proxy{.url = "http://p:3128",
                        .direct = "intern.example, .corp,10.0.0.0/8,2001:db8::1,Host,*.star"};
  for (const char* host : {"intern.example", "a.intern.example", "A.Intern.Example.", "x.corp",
                           "corp", "10.1.2.3", "[2001:db8::1]", "host", "a.star"}) {
    EXPECT_FALSE(proxy.IsUsedFor(host)) << host;
  }
  for (const char* host :
       {"example", "xintern.example", "11.1.2.3", "[2001:db8::2]", "10.example"}) {
    EXPECT_TRUE(proxy.IsUsedFor(host)) << host;
  }
  EXPECT_FALSE(HttpProxy{}.IsUsedFor("a"));
  EXPECT_FALSE((HttpProxy{.url = "http://p:1", .direct = "*"}.IsUsedFor("a")));
}

}  // namespace
}  // namespace carillon::executor::http_log_test
