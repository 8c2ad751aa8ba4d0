#include "common/domain/job/http_url.h"

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "tests/fuzz/http_url_check.h"

namespace carillon::http_url_test {
namespace {

std::string Sent(std::string_view url) {
  const auto sent = SendableUrl(url);
  return sent.ok() ? *sent : "refused: " + sent.error().message;
}

TEST(HttpUrlTest, WhatCanBeSentStaysAsItIs) {
  for (const char* url :
       {"http://a", "https://A.example:8080", "http://a:/x", "http://a/b%20c?d=%E4&e=f+g#h",
        "http://a?b=[1]&c='d'", "http://[2001:db8::7]:81/x", "http://127.0.0.1/", "http://a_b/"}) {
    EXPECT_EQ(Sent(url), url);
    EXPECT_EQ(Sent(Sent(url)), url);
  }
}

TEST(HttpUrlTest, PathsAndQueriesAreEncodedAsABrowserDoes) {
  EXPECT_EQ(Sent("http://h/a b/你?x=a b&y=好#c d"),
            "http://h/a%20b/%E4%BD%A0?x=a%20b&y=%E5%A5%BD#c%20d");
  EXPECT_EQ(Sent("http://h?\"<>{}|\\^`"), "http://h?%22%3C%3E%7B%7D%7C%5C%5E%60");
  EXPECT_EQ(Sent("http://h/100%"), "http://h/100%") << "a browser keeps it too";
}

TEST(HttpUrlTest, InternationalNamesGetTheirAsciiForm) {
  EXPECT_EQ(Sent("http://例子.测试/"), "http://xn--fsqu00a.xn--0zwm56d/");
  EXPECT_EQ(Sent("https://BÜCHER.example:8443/ä"), "https://xn--bcher-kva.example:8443/%C3%A4");
  EXPECT_EQ(Sent("http://faß.example"), "http://xn--fa-hia.example");
  EXPECT_EQ(Sent("http://例子。测试/"), "http://xn--fsqu00a.xn--0zwm56d/");
}

TEST(HttpUrlTest, WhatNobodyCanSendIsRefused) {
  for (const char* url : {"http://",
                          "http:///x",
                          "ftp://a/",
                          "a",
                          "http://a b/",
                          "http://a%20b/",
                          "http://a\\b/",
                          "http://a:99999/",
                          "http://a:0/",
                          "http://a:8x/",
                          "http://[::1",
                          "http://[::1]x/",
                          "http://[1.2.3.4]/",
                          "http://[]/",
                          "http://[fe80::1%ß]/",
                          "http://:80/",
                          "http://a:1:2/",
                          "http://u@a/",
                          "http://a..b/",
                          "http://.a/",
                          "http://./",
                          "http://a\nb/",
                          "http://\xff\xfe/",
                          "http://\u202E.example/"}) {
    EXPECT_TRUE(Sent(url).starts_with("refused: ")) << url;
  }
  EXPECT_NE(Sent("http://\u202E.example/").find("xn--"), std::string::npos) << "the way out";
  EXPECT_TRUE(Sent("http://" + std::string(254, 'a')).starts_with("refused: "));
  EXPECT_TRUE(Sent("http://" + std::string(64, 'a') + ".test/").starts_with("refused: "));
  EXPECT_EQ(Sent("http://" + std::string(63, 'a') + ".test./"),
            "http://" + std::string(63, 'a') + ".test./");
}

TEST(HttpUrlMutationTest, WhateverIsSentIsAUrl) {
  constexpr std::string_view kPieces[] = {
      "http://", "https://", "例", "a", ".",  ":", "80", "/",    "?",    "#", "@",  "%",
      "[",       "]",        "::", " ", "\\", "ß", "。", "\xff", "xn--", "-", "{{", "İ"};
  Rng rng(20'261'129);
  for (int round = 0; round < 5'000; ++round) {
    std::string url(kPieces[rng.Below(2)]);
    for (size_t n = rng.Below(12); n > 0; --n) url += kPieces[rng.Below(std::size(kPieces))];
    ASSERT_EQ(test::CheckHttpUrlText(url), "") << url;
  }
}

TEST(HttpUrlTest, AHostHeaderIsAHost) {
  for (const char* host : {"a", "a.example:81", "[::1]:80", "10.0.0.1"}) {
    EXPECT_TRUE(CheckHostHeader(host).ok()) << host;
  }
  for (const char* host : {"", "a/b", "a b", "例子", "a:x", "http://a", "u@a"}) {
    EXPECT_FALSE(CheckHostHeader(host).ok()) << host;
  }
}

}  // namespace
}  // namespace carillon::http_url_test
