#include "scheduler/auth/passwords.h"

#include <gtest/gtest.h>

#include "scheduler/auth/random_token.h"

namespace carillon::scheduler {
namespace {

TEST(PasswordsTest, AreKeptAsArgon2idAndVerified) {
  const std::string hash = HashPassword("correct horse").value();
  EXPECT_EQ(hash.find("$argon2id$v=19$m=65536,t=3,p=1$"), 0u) << hash;
  EXPECT_LE(hash.size(), 255u);
  EXPECT_TRUE(VerifyPassword(hash, "correct horse"));
  EXPECT_FALSE(VerifyPassword(hash, "correct horsf"));
  EXPECT_FALSE(VerifyPassword(hash, ""));
  EXPECT_NE(hash, HashPassword("correct horse").value());
}

TEST(PasswordsTest, ADamagedHashVerifiesNothing) {
  for (const std::string& hash : {std::string(), std::string("x"), std::string(500, '$')}) {
    EXPECT_FALSE(VerifyPassword(hash, "correct horse"));
    EXPECT_FALSE(VerifyPassword(hash, ""));
  }
}

TEST(PasswordsTest, NobodysPasswordCostsWhatOthersCost) {
  const std::string hash = HashPassword("correct horse").value();
  const std::string nobodys = kNobodysPassword;
  EXPECT_EQ(nobodys.substr(0, nobodys.find(",p=1$")), hash.substr(0, hash.find(",p=1$")));
  EXPECT_EQ(nobodys.size(), hash.size());
  EXPECT_FALSE(VerifyPassword(nobodys, ""));
  EXPECT_FALSE(VerifyPassword(nobodys, "correct horse"));
}

TEST(PasswordsTest, LengthIsCountedInCharacters) {
  EXPECT_FALSE(CheckPassword("anna", "short9chr").ok());
  EXPECT_TRUE(CheckPassword("anna", "tencharact").ok());
  EXPECT_TRUE(CheckPassword("anna", "密码很长也很安全的吧").ok());
  EXPECT_FALSE(CheckPassword("anna", "密码很长也很安全吧").ok());
  std::string longest;
  for (int i = 0; i < 128; ++i) longest += "ab";
  EXPECT_TRUE(CheckPassword("anna", longest).ok());
  EXPECT_FALSE(CheckPassword("anna", longest + "a").ok());
  EXPECT_FALSE(CheckPassword("anna", "").ok());
}

TEST(PasswordsTest, TheNameAndWellKnownOnesAreRefused) {
  EXPECT_FALSE(CheckPassword("anna.miller", "Anna.Miller").ok());
  for (const char* known :
       {"1234567890", "Password123", "QWERTYUIOP", "Administrator", "aaaaaaaaaaaa", "0000000000"}) {
    EXPECT_FALSE(CheckPassword("anna", known).ok()) << known;
  }
  EXPECT_TRUE(CheckPassword("anna", "password123, and more").ok());
}

TEST(PasswordsTest, NamesAreShortAndPlain) {
  for (const char* name : {"a", "anna", "Anna.B-c_9", "anna@example.org", "9lives"}) {
    EXPECT_TRUE(CheckUserName(name).ok()) << name;
  }
  for (const std::string& name :
       {std::string(), std::string(".anna"), std::string("an na"), std::string("an/na"),
        std::string("ännä"), std::string("a\0b", 3), std::string(65, 'a'), std::string("-a")}) {
    EXPECT_FALSE(CheckUserName(name).ok()) << name;
  }
  EXPECT_TRUE(CheckUserName(std::string(64, 'a')).ok());
}

TEST(SecretsTest, AreRandomAndHashed) {
  EXPECT_EQ(RandomText(kSecretBytes).size(), 43u);
  EXPECT_EQ(RandomHex(8).size(), 16u);
  EXPECT_NE(RandomHex(8), RandomHex(8));
  EXPECT_EQ(HashSecret("a").size(), 64u);
  EXPECT_EQ(HashSecret("a"), HashSecret("a"));
  EXPECT_NE(HashSecret("a"), HashSecret("b"));
  EXPECT_TRUE(SameText("abc", "abc"));
  EXPECT_FALSE(SameText("abc", "abd"));
  EXPECT_FALSE(SameText("abc", "abcd"));
}

}  // namespace
}  // namespace carillon::scheduler
