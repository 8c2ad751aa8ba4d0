#include "scheduler/auth/access_token.h"

#include <gtest/gtest.h>

#include <fmt/core.h>

#include "scheduler/auth/random_token.h"
#include "tests/support/forged_token.h"

namespace carillon::scheduler {
namespace {

using test::ForgeToken;

constexpr WallTime kNow = FromUnixMicros(1'772'323'200'000'000);
constexpr int64_t kSecond = 1'772'323'200;
const AccessClaims kAnna = {
    .user_id = "user-1", .name = "anna", .role = "user", .session = "ses-1"};
constexpr const char* kHs256 = R"({"alg":"HS256","typ":"JWT"})";

std::string Payload(int64_t issued, int64_t expires, const std::string& issuer = "carillon",
                    const std::string& audience = "carillon-api",
                    const std::string& subject = "user-1") {
  return fmt::format(R"({{"aud":"{}","exp":{},"iat":{},"iss":"{}","name":"anna","role":"user",)"
                     R"("sid":"ses-1","sub":"{}"}})",
                     audience, expires, issued, issuer, subject);
}

class AccessTokenTest : public ::testing::Test {
 protected:
  std::optional<AccessClaims> Read(const std::string& token, WallTime now = kNow) {
    return ReadAccessToken(key_, token, now);
  }
  const std::string key_ = RandomBytes(kSigningKeyBytes);
};

TEST_F(AccessTokenTest, IsReadBackUntilItExpires) {
  const std::string token = IssueAccessToken(key_, kAnna, kNow).value();
  EXPECT_TRUE(LooksLikeAccessToken(token));
  EXPECT_EQ(Read(token), kAnna);
  EXPECT_EQ(Read(token, kNow + kAccessTokenLife - 1s), kAnna);
  EXPECT_EQ(Read(token, kNow + kAccessTokenLife), std::nullopt);
}

TEST_F(AccessTokenTest, AHandMadeOneWithTheRightKeyIsRead) {
  // A correctly forged token is accepted, so the tokens below are refused for the intended reasons.
  EXPECT_EQ(Read(ForgeToken(kHs256, Payload(kSecond, kSecond + 60), key_)), kAnna);
}

TEST_F(AccessTokenTest, AnotherKeyIsRefused) {
  const std::string other = RandomBytes(kSigningKeyBytes);
  EXPECT_EQ(Read(IssueAccessToken(other, kAnna, kNow).value()), std::nullopt);
  EXPECT_EQ(Read(ForgeToken(kHs256, Payload(kSecond, kSecond + 60), other)), std::nullopt);
}

TEST_F(AccessTokenTest, NoAlgorithmAndOtherAlgorithmsAreRefused) {
  const std::string payload = Payload(kSecond, kSecond + 60);
  for (const char* header :
       {R"({"alg":"none","typ":"JWT"})", R"({"alg":"None"})", R"({"alg":""})", R"({"typ":"JWT"})",
        R"({"alg":"HS512","typ":"JWT"})", R"({"alg":"HS384"})", R"({"alg":"RS256","typ":"JWT"})",
        R"({"alg":"hs256 "})"}) {
    EXPECT_EQ(Read(ForgeToken(header, payload, "")), std::nullopt) << header;
    EXPECT_EQ(Read(ForgeToken(header, payload, key_)), std::nullopt) << header;
  }
  EXPECT_EQ(Read(ForgeToken(kHs256, payload, "")), std::nullopt);
}

TEST_F(AccessTokenTest, WithoutAWholeKeyNothingIsReadOrMade) {
  const std::string token = IssueAccessToken(key_, kAnna, kNow).value();
  for (const std::string& key : {std::string(), key_.substr(1), key_ + "x"}) {
    EXPECT_EQ(ReadAccessToken(key, token, kNow), std::nullopt);
    EXPECT_FALSE(IssueAccessToken(key, kAnna, kNow).ok());
  }
  EXPECT_EQ(
      ReadAccessToken("", ForgeToken(R"({"alg":"none"})", Payload(1, kSecond + 60), ""), kNow),
      std::nullopt);
}

TEST_F(AccessTokenTest, TimesIssuerAudienceAndSubjectAreChecked) {
  for (const std::string& payload :
       {Payload(kSecond - 60, kSecond), Payload(kSecond + 120, kSecond + 600),
        Payload(0, kSecond + 60), Payload(kSecond, 0), Payload(kSecond, kSecond + 60, "other"),
        Payload(kSecond, kSecond + 60, "carillon", "other"),
        Payload(kSecond, kSecond + 60, "carillon", "carillon-api", ""),
        std::string(R"({"sub":"user-1"})"), std::string("{}"), std::string("[]"), std::string()}) {
    EXPECT_EQ(Read(ForgeToken(kHs256, payload, key_)), std::nullopt) << payload;
  }
}

TEST_F(AccessTokenTest, ATamperedTokenIsRefused) {
  const std::string token = IssueAccessToken(key_, kAnna, kNow).value();
  const size_t payload = token.find('.') + 1;
  const size_t signature = token.rfind('.') + 1;
  for (const size_t at : {size_t{2}, payload + 5, signature + 3}) {
    std::string changed = token;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_EQ(Read(changed), std::nullopt) << at;
  }
  EXPECT_EQ(Read(token.substr(0, signature)), std::nullopt);
  EXPECT_EQ(Read(token + "."), std::nullopt);
}

TEST_F(AccessTokenTest, GarbageIsRefused) {
  for (const std::string& garbage :
       {std::string(), std::string("."), std::string(".."), std::string("a.b.c"),
        std::string("....."), std::string(5000, 'a') + "..", std::string("a\0.b.c", 6),
        std::string("eyJhbGciOiJIUzI1NiJ9..x")}) {
    EXPECT_EQ(Read(garbage), std::nullopt);
  }
}

}  // namespace
}  // namespace carillon::scheduler
