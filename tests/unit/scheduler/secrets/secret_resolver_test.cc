#include "scheduler/secrets/secret_resolver.h"

#include <gtest/gtest.h>

#include "common/domain/run/run.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_stores.h"

namespace carillon::scheduler {
namespace {

class SecretResolverTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& value, const std::string& owner,
           bool shared = false) {
    const StoredSecret secret{
        .record = {.name = name, .user_id = owner, .shared = shared, .key_id = keys_->current()},
        .value = keys_->Seal(name, value)};
    ASSERT_TRUE(stores_.secrets.CreateSecret(secret).ok());
  }
  HandedSecrets Hand(const std::set<std::string>& names, const std::string& owner = "anna") {
    const FixedKeys source(keys_);
    const auto handed =
        SecretResolver(stores_.secrets, source).Hand({{.owner = owner, .names = names}});
    EXPECT_TRUE(handed.ok());
    return handed->at(0);
  }

  test::ManualClock clock_;
  memory::MemoryStores stores_{clock_, {}};
  std::shared_ptr<const Keyring> keys_ =
      std::make_shared<const Keyring>(Keyring::Parse(Keyring::NewKey()).value());
};

TEST_F(SecretResolverTest, AJobGetsItsOwnersAndWhatIsShared) {
  Put("own", "value of own", "anna");
  Put("all", "value of all", "bert", true);
  EXPECT_EQ(Hand({"own", "all"}).values,
            (SecretValues{{"own", "value of own"}, {"all", "value of all"}}));
  EXPECT_EQ(Hand({"all"}, "carl").failure, "");
}

TEST_F(SecretResolverTest, OrNothingAtAll) {
  Put("own", "value of own", "anna");
  Put("berts", "value of bert", "bert");
  const HandedSecrets forbidden = Hand({"own", "berts"});
  EXPECT_EQ(forbidden.failure, reason::kSecretForbidden);
  EXPECT_TRUE(forbidden.values.empty());
  const HandedSecrets missing = Hand({"own", "zero"});
  EXPECT_EQ(missing.failure, reason::kSecretMissing);
  EXPECT_NE(missing.error.find("zero"), std::string::npos);
  EXPECT_TRUE(missing.values.empty());
}

TEST_F(SecretResolverTest, NobodysJobsGetOnlyWhatIsShared) {
  Put("nobodys", "value of nobody", "");
  EXPECT_EQ(Hand({"nobodys"}, "").failure, reason::kSecretForbidden);
}

TEST_F(SecretResolverTest, WhatCannotBeOpenedIsSaidWithoutTheValue) {
  Put("own", "value of own", "anna");
  const auto sealing = keys_;
  keys_ = nullptr;
  EXPECT_EQ(Hand({"own"}).failure, reason::kSecretUnreadable);
  keys_ = std::make_shared<const Keyring>(Keyring::Parse(Keyring::NewKey()).value());
  EXPECT_EQ(Hand({"own"}).failure, reason::kSecretUnreadable);
  keys_ = sealing;
  EXPECT_EQ(Hand({"own"}).failure, "");
}

TEST_F(SecretResolverTest, ThereIsALimitToAllOfThem) {
  std::set<std::string> names;
  for (const char* name : {"a", "b", "c", "d"}) {
    Put(name, std::string(kSecretBytesMax, 'x'), "anna");
    names.insert(name);
  }
  EXPECT_EQ(Hand(names).failure, "");
  Put("e", "a few more", "anna");
  names.insert("e");
  EXPECT_EQ(Hand(names).failure, reason::kSecretUnreadable);
}

}  // namespace
}  // namespace carillon::scheduler
