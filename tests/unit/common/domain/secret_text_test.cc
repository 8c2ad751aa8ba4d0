#include "common/domain/secret_text.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

const SecretVariables kVariables = {
    {"URL", {{.text = "mysql://u:"}, {.secret = "db"}, {.text = "@h"}}},
    {"TOKEN", {{.secret = "token"}}},
    {"BOTH", {{.secret = "db"}, {.secret = "token"}}}};

TEST(SecretTextTest, ValuesGoWhereTheirNamesStand) {
  const auto filled =
      FillSecrets(kVariables, {{"db", "{{secrets.token}}"}, {"token", "t0ken"}, {"other", "x"}});
  ASSERT_TRUE(filled.ok());
  EXPECT_EQ(filled->at("URL"), "mysql://u:{{secrets.token}}@h") << "a value is no template";
  EXPECT_EQ(filled->at("TOKEN"), "t0ken");
  EXPECT_EQ(filled->at("BOTH"), "{{secrets.token}}t0ken");
}

TEST(SecretTextTest, WithoutOneOfThemThereIsNothing) {
  const auto filled = FillSecrets(kVariables, {{"db", "value of db"}});
  ASSERT_FALSE(filled.ok());
  EXPECT_EQ(filled.code(), ErrorCode::kNotFound);
  EXPECT_NE(filled.error().message.find("token"), std::string::npos);
  EXPECT_EQ(filled.error().message.find("value"), std::string::npos);
}

TEST(SecretTextTest, WhatIsFilledIsBounded) {
  const SecretValues values{{"db", std::string(kSecretBytesMax, 'x')}};
  SecretVariables variables;
  for (int i = 0; i < 16; ++i) variables["A" + std::to_string(i)] = {{.secret = "db"}};
  EXPECT_TRUE(FillSecrets(variables, values).ok());
  variables["B"] = {{.text = "x"}};
  EXPECT_EQ(FillSecrets(variables, values).code(), ErrorCode::kExhausted);
}

TEST(SecretTextTest, EachNameOnce) {
  EXPECT_EQ(SecretsIn(kVariables), (std::set<std::string>{"db", "token"}));
}

TEST(SecretTextTest, WhatCanBeAValue) {
  EXPECT_EQ(SecretValueComplaint("12345678"), "");
  EXPECT_EQ(SecretValueComplaint(std::string(kSecretBytesMax, 'x')), "");
  EXPECT_EQ(SecretValueComplaint("-----BEGIN\nKEY\n"), "");
  EXPECT_NE(SecretValueComplaint("1234567"), "");
  EXPECT_NE(SecretValueComplaint(std::string(kSecretBytesMax + 1, 'x')), "");
  EXPECT_NE(SecretValueComplaint("1234567\xff"), "");
  EXPECT_NE(SecretValueComplaint(std::string("1234\0"
                                             "5678",
                                             9)),
            "");
}

}  // namespace
}  // namespace carillon::test
