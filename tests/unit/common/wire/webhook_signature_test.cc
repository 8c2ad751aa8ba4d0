#include "common/wire/webhook_signature.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

// The keys are bytes 0 to 31, and 1 to 32. The expected signatures were computed with
// Python's hmac.
constexpr const char* kSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
constexpr const char* kOther = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";
constexpr WebhookContent kContent{
    .id = "ntc_42", .timestamp_s = 1'772'323'200, .body = R"({"type":"run.failed"})"};

TEST(WebhookSignatureTest, IsTheKnownOne) {
  const auto secrets = ParseWebhookSecrets(kSecret);
  ASSERT_TRUE(secrets.ok());
  EXPECT_EQ(SignWebhook(*secrets, kContent), "v1,IU9a6M2BuUWlDBrGMw0bh0qUZ7nA7j9MgC4RlsQevoI=");
}

TEST(WebhookSignatureTest, BothSecretsSignWhileTheyAreRotated) {
  const auto secrets = ParseWebhookSecrets(std::string(kSecret) + "\r\n\n" + kOther + "\n");
  ASSERT_TRUE(secrets.ok());
  EXPECT_EQ(SignWebhook(*secrets, kContent),
            "v1,IU9a6M2BuUWlDBrGMw0bh0qUZ7nA7j9MgC4RlsQevoI= "
            "v1,Zf21e4Znp1LdwQlZH/jdHp004ulMRnosAFYV08tklkY=");
}

TEST(WebhookSignatureTest, EachPartIsSigned) {
  const auto secrets = ParseWebhookSecrets(kSecret).value();
  const std::string signature = SignWebhook(secrets, kContent);
  WebhookContent id = kContent;
  id.id = "ntc_43";
  WebhookContent time = kContent;
  ++time.timestamp_s;
  WebhookContent body = kContent;
  body.body = R"({"type":"run.failed"} )";
  for (const WebhookContent& other : {id, time, body}) {
    EXPECT_NE(SignWebhook(secrets, other), signature);
  }
}

TEST(WebhookSignatureTest, WhatIsNoSecretIsRefusedWithoutTellingIt) {
  for (const std::string& text :
       {std::string("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), std::string("whsec_"),
        std::string("whsec_AAECAwQFBgcICQoL"), std::string("whsec_%%%"), std::string(kSecret) + "!",
        "whsec_" + std::string(88, 'A')}) {
    const auto parsed = ParseWebhookSecret(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().message.find("AAEC"), std::string::npos);
  }
  EXPECT_FALSE(ParseWebhookSecrets("").ok());
  const std::string three = std::string(kSecret) + "\n" + kOther + "\n" + kSecret;
  EXPECT_FALSE(ParseWebhookSecrets(three).ok());
}

}  // namespace
}  // namespace carillon
