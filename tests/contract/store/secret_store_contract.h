// The contract of SecretStore.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class SecretStoreContract : public StoreContract<Factory> {
 protected:
  // Returns a secret whose value contains bytes that are not text, like ciphertext.
  static StoredSecret Secret(const std::string& name, const std::string& key = "k1") {
    return {.record = {.name = name,
                       .description = "of " + name + " 例",
                       .user_id = "user-anna",
                       .key_id = key,
                       .created = kT0,
                       .updated = kT0},
            .value = {.key_id = key,
                      .nonce = std::string("\0\xff\x80'\\", 5),
                      .ciphertext = std::string("\xc3\x28\0\n%", 5) + name}};
  }
  static std::vector<std::string> Names(const std::vector<SecretRecord>& records) {
    std::vector<std::string> names;
    for (const SecretRecord& record : records) names.push_back(record.name);
    return names;
  }
};
TYPED_TEST_SUITE(SecretStoreContract, StoreFactories);

TYPED_TEST(SecretStoreContract, SecretsAreReadBackByteForByte) {
  StoreDriver s = this->driver();
  const StoredSecret db = this->Secret("db");
  ASSERT_OK(s.secrets.CreateSecret(db));
  const StoredSecret found = s.v(s.secrets.GetSecret("db"));
  EXPECT_EQ(found.record, db.record);
  EXPECT_EQ(found.value, db.value);
  EXPECT_CODE(s.secrets.GetSecret("DB"), ErrorCode::kNotFound);
  EXPECT_CODE(s.secrets.GetSecret("dé"), ErrorCode::kNotFound);
  StoredSecret large = this->Secret("large");
  large.value.ciphertext.assign(80'000, '\0');
  ASSERT_OK(s.secrets.CreateSecret(large));
  EXPECT_EQ(s.v(s.secrets.GetSecret("large")).value, large.value);
}

TYPED_TEST(SecretStoreContract, ANameIsTakenOnce) {
  StoreDriver s = this->driver();
  ASSERT_OK(s.secrets.CreateSecret(this->Secret("db")));
  StoredSecret other = this->Secret("db", "k2");
  EXPECT_CODE(s.secrets.CreateSecret(other), ErrorCode::kExists);
  EXPECT_EQ(s.v(s.secrets.GetSecret("db")).record.key_id, "k1");
  ASSERT_OK(s.secrets.CreateSecret(this->Secret("Db")));
}

TYPED_TEST(SecretStoreContract, SomeAreFoundByName) {
  StoreDriver s = this->driver();
  std::vector<std::string> all;
  for (int i = 0; i < 70; ++i) {
    all.push_back("s" + std::to_string(100 + i));
    ASSERT_OK(s.secrets.CreateSecret(this->Secret(all.back())));
  }
  EXPECT_TRUE(s.v(s.secrets.FindSecrets({})).empty());
  const auto two = s.v(s.secrets.FindSecrets({"s101", "nobody", "s100"}));
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].record.name, "s100");
  EXPECT_EQ(two[1].value, this->Secret("s101").value);
  EXPECT_EQ(s.v(s.secrets.FindSecrets(all)).size(), all.size());
}

TYPED_TEST(SecretStoreContract, TheyAreListedInPages) {
  StoreDriver s = this->driver();
  for (const char* name : {"c", "a", "b"}) ASSERT_OK(s.secrets.CreateSecret(this->Secret(name)));
  ASSERT_OK(s.secrets.CreateSecret(this->Secret("d", "k2")));
  const auto first = s.v(s.secrets.ListSecrets({.limit = 2}));
  EXPECT_EQ(this->Names(first), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(first[0], this->Secret("a").record);
  EXPECT_EQ(this->Names(s.v(s.secrets.ListSecrets({.after_name = "b"}))),
            (std::vector<std::string>{"c", "d"}));
  EXPECT_EQ(this->Names(s.v(s.secrets.ListSecrets({.not_under_key = "k2"}))),
            (std::vector<std::string>{"a", "b", "c"}));
}

TYPED_TEST(SecretStoreContract, UpdatesNeedTheVersionAndMoveIt) {
  StoreDriver s = this->driver();
  StoredSecret db = this->Secret("db");
  ASSERT_OK(s.secrets.CreateSecret(db));
  db.record.description = "new";
  db.record.shared = true;
  db.record.user_id = "user-bert";  // an update does not change the owner
  db.value = this->Secret("other", "k2").value;
  const SecretRecord updated = s.v(s.secrets.UpdateSecret(db, kT0 + 1h));
  EXPECT_EQ(updated.version, 2);
  EXPECT_EQ(updated.updated, kT0 + 1h);
  EXPECT_EQ(updated.created, kT0);
  EXPECT_EQ(updated.user_id, "user-anna");
  const StoredSecret found = s.v(s.secrets.GetSecret("db"));
  EXPECT_EQ(found.record, updated);
  EXPECT_EQ(found.record.key_id, "k2");
  EXPECT_EQ(found.value, db.value);
  EXPECT_CODE(s.secrets.UpdateSecret(db, kT0 + 2h), ErrorCode::kConflict);
  EXPECT_CODE(s.secrets.UpdateSecret(this->Secret("nobody"), kT0), ErrorCode::kNotFound);
}

TYPED_TEST(SecretStoreContract, DeletingNeedsTheVersion) {
  StoreDriver s = this->driver();
  ASSERT_OK(s.secrets.CreateSecret(this->Secret("db")));
  EXPECT_CODE(s.secrets.DeleteSecret("db", 2), ErrorCode::kConflict);
  ASSERT_OK(s.secrets.DeleteSecret("db", 1));
  EXPECT_CODE(s.secrets.DeleteSecret("db", 1), ErrorCode::kNotFound);
  EXPECT_CODE(s.secrets.GetSecret("db"), ErrorCode::kNotFound);
  ASSERT_OK(s.secrets.CreateSecret(this->Secret("db")));
}

TYPED_TEST(SecretStoreContract, RewrappingKeepsTheVersionAndYieldsToAChange) {
  StoreDriver s = this->driver();
  const StoredSecret db = this->Secret("db");
  ASSERT_OK(s.secrets.CreateSecret(db));
  const SealedValue fresh = this->Secret("fresh", "k2").value;
  ASSERT_OK(s.secrets.RewrapSecret("db", db.value, fresh));
  const StoredSecret found = s.v(s.secrets.GetSecret("db"));
  EXPECT_EQ(found.value, fresh);
  EXPECT_EQ(found.record.key_id, "k2");
  EXPECT_EQ(found.record.version, 1);
  EXPECT_EQ(found.record.updated, kT0);
  EXPECT_CODE(s.secrets.RewrapSecret("db", db.value, fresh), ErrorCode::kConflict);
  EXPECT_EQ(s.v(s.secrets.GetSecret("db")).value, fresh);
  EXPECT_CODE(s.secrets.RewrapSecret("nobody", db.value, fresh), ErrorCode::kNotFound);
}

}  // namespace carillon::test
