#include "scheduler/secrets/keyring.h"

#include <gtest/gtest.h>

namespace carillon::scheduler {
namespace {

const std::string kHex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const std::string kSameAsBase64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

Keyring Ring(const std::string& text) {
  auto ring = Keyring::Parse(text);
  EXPECT_TRUE(ring.ok()) << (ring.ok() ? "" : ring.error().message);
  return std::move(ring).value();
}

TEST(KeyringTest, WhatIsSealedOpensAndIsNothingOfTheValue) {
  const Keyring ring = Ring(kHex);
  const std::string value = "correct horse battery";
  const SealedValue sealed = ring.Seal("db", value);
  EXPECT_EQ(sealed.key_id, ring.current());
  EXPECT_EQ(sealed.ciphertext.find("horse"), std::string::npos);
  EXPECT_EQ(ring.Open("db", sealed).value(), value);
  EXPECT_NE(ring.Seal("db", value).ciphertext, sealed.ciphertext) << "a nonce was used twice";
  EXPECT_EQ(ring.Open("db", ring.Seal("db", "")).value(), "");
}

TEST(KeyringTest, AnyChangeIsNoticed) {
  const Keyring ring = Ring(kHex);
  const SealedValue sealed = ring.Seal("db", "correct horse battery");
  EXPECT_EQ(ring.Open("other", sealed).code(), ErrorCode::kCorrupt) << "moved to another row";
  for (size_t i = 0; i < sealed.ciphertext.size(); ++i) {
    SealedValue changed = sealed;
    changed.ciphertext[i] ^= 1;
    EXPECT_EQ(ring.Open("db", changed).code(), ErrorCode::kCorrupt) << i;
  }
  SealedValue changed = sealed;
  changed.nonce[0] ^= 1;
  EXPECT_EQ(ring.Open("db", changed).code(), ErrorCode::kCorrupt);
  changed.nonce.clear();
  EXPECT_EQ(ring.Open("db", changed).code(), ErrorCode::kCorrupt);
  EXPECT_EQ(ring.Open("db", {.key_id = sealed.key_id}).code(), ErrorCode::kCorrupt);
}

TEST(KeyringTest, TheFirstKeySealsAndAllOpen) {
  const std::string fresh = Keyring::NewKey();
  const Keyring before = Ring(kHex);
  const Keyring both = Ring("# the new one\n" + fresh + "\n\n  " + kHex + "\r\n");
  const Keyring after = Ring(fresh);
  const SealedValue old = before.Seal("db", "correct horse battery");
  EXPECT_EQ(both.size(), 2u);
  EXPECT_EQ(both.current(), after.current());
  EXPECT_EQ(both.Open("db", old).value(), "correct horse battery");
  EXPECT_EQ(after.Open("db", old).code(), ErrorCode::kNotFound);
  EXPECT_EQ(after.Open("db", both.Seal("db", "x")).value(), "x");
  EXPECT_EQ(before.Open("db", both.Seal("db", "x")).code(), ErrorCode::kNotFound);
}

TEST(KeyringTest, KeysAreHexOrBase64) {
  EXPECT_EQ(Ring(kSameAsBase64).current(), Ring(kHex).current());
  EXPECT_EQ(Ring(kSameAsBase64.substr(0, 43)).current(), Ring(kHex).current());
  EXPECT_NE(Ring(Keyring::NewKey()).current(), Ring(Keyring::NewKey()).current());
}

TEST(KeyringTest, WhatIsNoKeyIsRefusedAndNotRepeated) {
  for (const std::string& text : {std::string(), std::string("# nothing\n"), kHex.substr(2),
                                  kHex + "00", std::string("secret"), kSameAsBase64.substr(1),
                                  kHex + "\n" + kSameAsBase64, kHex + " " + kHex}) {
    const auto ring = Keyring::Parse(text);
    ASSERT_FALSE(ring.ok()) << text;
    EXPECT_EQ(ring.code(), ErrorCode::kInvalid);
    EXPECT_EQ(ring.error().message.find("0102"), std::string::npos) << ring.error().message;
    EXPECT_EQ(ring.error().message.find("ECAw"), std::string::npos) << ring.error().message;
  }
  std::string many;
  for (size_t i = 0; i <= Keyring::kKeysMax; ++i) many += Keyring::NewKey() + "\n";
  EXPECT_EQ(Keyring::Parse(many).code(), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace carillon::scheduler
