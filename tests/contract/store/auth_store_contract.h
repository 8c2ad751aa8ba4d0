// The contract of AuthStore.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class AuthStoreContract : public StoreContract<Factory> {
 protected:
  static UserRecord User(const std::string& id, const std::string& role = "user") {
    return {.user_id = "user-" + id,
            .name = id,
            .display_name = "Dr. " + id + " 例",
            .role = role,
            .password_hash = "$argon2id$" + id,
            .created = kT0,
            .updated = kT0};
  }
  static RefreshRecord Refresh(const std::string& hash, const UserRecord& user,
                               const std::string& family = "f1") {
    return {.token_hash = hash,
            .family = family,
            .user_id = user.user_id,
            .session_epoch = user.session_epoch,
            .created = kT0,
            .expires = kT0 + 1h};
  }
  static TokenRecord Token(const std::string& hash, const std::string& user_id) {
    return {.token_hash = hash,
            .name = "ci " + hash,
            .role = "user",
            .created = kT0,
            .token_id = "tok-" + hash,
            .prefix = "carillon_" + hash,
            .user_id = user_id,
            .expires = kT0 + 24h};
  }
};
TYPED_TEST_SUITE(AuthStoreContract, StoreFactories);

TYPED_TEST(AuthStoreContract, UsersAreReadBackAndNamesAreUniqueWhateverTheirCase) {
  StoreDriver s = this->driver();
  const UserRecord anna = this->User("anna");
  ASSERT_OK(s.auth.CreateUser(anna));
  EXPECT_EQ(s.v(s.auth.GetUser("user-anna")), anna);
  EXPECT_EQ(s.v(s.auth.FindUser("ANNA")), std::optional(anna));
  EXPECT_EQ(s.v(s.auth.FindUser("bert")), std::nullopt);
  EXPECT_CODE(s.auth.GetUser("user-bert"), ErrorCode::kNotFound);
  UserRecord shouting = this->User("other");
  shouting.name = "Anna";
  EXPECT_CODE(s.auth.CreateUser(shouting), ErrorCode::kExists);
  EXPECT_CODE(s.auth.GetUser("user-other"), ErrorCode::kNotFound);
}

TYPED_TEST(AuthStoreContract, UsersAreListedInPages) {
  StoreDriver s = this->driver();
  for (const char* id : {"c", "a", "b"}) ASSERT_OK(s.auth.CreateUser(this->User(id)));
  const auto first = s.v(s.auth.ListUsers({.limit = 2}));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].name, "a");
  const auto rest = s.v(s.auth.ListUsers({.after = first[1].user_id, .limit = 2}));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].name, "c");
}

TYPED_TEST(AuthStoreContract, UsersAreListedByNameWhateverItsCase) {
  StoreDriver s = this->driver();
  for (const char* name : {"Carl", "anna", "Bert", "dora"}) {
    UserRecord user = this->User(name);
    user.user_id = "user-" + std::to_string(9 - name[1] % 7) + name;
    ASSERT_OK(s.auth.CreateUser(user));
  }
  const auto names = [&](UserListing listing) {
    std::vector<std::string> found;
    listing.by_name = true;
    for (const UserRecord& user : s.v(s.auth.ListUsers(listing))) found.push_back(user.name);
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({}), (Names{"anna", "Bert", "Carl", "dora"}));
  EXPECT_EQ(names({.descending = true}), (Names{"dora", "Carl", "Bert", "anna"}));
  EXPECT_EQ(names({.after = "Bert", .limit = 1}), Names{"Carl"});
  EXPECT_EQ(names({.after = "ANNA", .limit = 1}), Names{"Bert"});
  EXPECT_EQ(names({.descending = true, .after = "Bert"}), Names{"anna"});
  EXPECT_EQ(names({.after = "dora"}), Names{});
  EXPECT_EQ(names({.after = "例"}), Names{});
}

TYPED_TEST(AuthStoreContract, PreferencesChangeOneByOneAndNothingElseMoves) {
  StoreDriver s = this->driver();
  const UserRecord user = this->User("anna");
  ASSERT_OK(s.auth.CreateUser(user));
  const auto change = [&](const PreferenceChange& wanted) {
    const Preferences after = s.v(s.auth.ChangePreferences(wanted));
    EXPECT_EQ(s.v(s.auth.GetUser(user.user_id)).preferences, after);
    return after;
  };
  EXPECT_EQ(change({user.user_id, {{"theme", std::nullopt}}}), Preferences{});
  EXPECT_EQ(change({user.user_id, {{"theme", "dark"}, {"time", "utc"}}}),
            (Preferences{{"theme", "dark"}, {"time", "utc"}}));
  EXPECT_EQ(change({user.user_id, {{"theme", std::nullopt}, {"language", "zh-CN"}}}),
            (Preferences{{"language", "zh-CN"}, {"time", "utc"}}));
  UserRecord now = s.v(s.auth.GetUser(user.user_id));
  EXPECT_EQ(now.version, 1);
  EXPECT_EQ(now.updated, kT0);
  // An edit by another user does not reset the preferences either.
  now.display_name = "Anna";
  now.preferences.clear();
  const UserRecord renamed = s.v(s.auth.UpdateUser(now, kT0 + 1s));
  EXPECT_EQ(renamed.preferences, (Preferences{{"language", "zh-CN"}, {"time", "utc"}}));
  EXPECT_EQ(s.v(s.auth.GetUser(user.user_id)), renamed);
  EXPECT_CODE(s.auth.ChangePreferences({"user-bert", {}}), ErrorCode::kNotFound);
  EXPECT_CODE(s.auth.ChangePreferences({"例", {}}), ErrorCode::kNotFound);
}

TYPED_TEST(AuthStoreContract, UpdatesNeedTheVersionAndMoveIt) {
  StoreDriver s = this->driver();
  UserRecord user = this->User("anna");
  ASSERT_OK(s.auth.CreateUser(user));
  user.display_name = "Anna";
  const UserRecord renamed = s.v(s.auth.UpdateUser(user, kT0 + 1s));
  EXPECT_EQ(renamed.version, 2);
  EXPECT_EQ(renamed.session_epoch, 1);
  EXPECT_EQ(renamed.updated, kT0 + 1s);
  EXPECT_EQ(s.v(s.auth.GetUser(user.user_id)), renamed);
  EXPECT_CODE(s.auth.UpdateUser(user, kT0 + 2s), ErrorCode::kConflict);
  EXPECT_CODE(s.auth.DeleteUser(user.user_id, 1), ErrorCode::kConflict);
  EXPECT_EQ(s.v(s.auth.GetUser(user.user_id)), renamed);
  ASSERT_OK(s.auth.DeleteUser(user.user_id, 2));
  EXPECT_CODE(s.auth.GetUser(user.user_id), ErrorCode::kNotFound);
  EXPECT_CODE(s.auth.UpdateUser(renamed, kT0), ErrorCode::kNotFound);
  EXPECT_CODE(s.auth.DeleteUser(user.user_id, 2), ErrorCode::kNotFound);
}

TYPED_TEST(AuthStoreContract, RolePasswordAndDisablingEndSessionsADisplayNameDoesNot) {
  StoreDriver s = this->driver();
  UserRecord user = this->User("anna");
  ASSERT_OK(s.auth.CreateUser(user));
  const auto alive = [&] {
    EXPECT_OK(s.auth.CreateSession(this->Refresh("r" + std::to_string(user.version), user,
                                                 "f" + std::to_string(user.version))));
    const std::string family = "f" + std::to_string(user.version);
    EXPECT_TRUE(s.v(s.auth.FindSession(family, kT0)).has_value());
    return family;
  };
  std::string family = alive();
  user.display_name = "Anna";
  user = s.v(s.auth.UpdateUser(user, kT0));
  EXPECT_TRUE(s.v(s.auth.FindSession(family, kT0)).has_value());
  user.role = "read_only";
  user = s.v(s.auth.UpdateUser(user, kT0));
  EXPECT_FALSE(s.v(s.auth.FindSession(family, kT0)).has_value());
  EXPECT_EQ(s.v(s.auth.RotateSession("r1", "x", kT0, kT0 + 1h)).verdict, RefreshVerdict::kUnknown);
  family = alive();
  user.password_hash = "$argon2id$new";
  user = s.v(s.auth.UpdateUser(user, kT0));
  EXPECT_FALSE(s.v(s.auth.FindSession(family, kT0)).has_value());
  family = alive();
  user.disabled = true;
  user = s.v(s.auth.UpdateUser(user, kT0));
  EXPECT_FALSE(s.v(s.auth.FindSession(family, kT0)).has_value());
  EXPECT_EQ(user.session_epoch, 4);
}

TYPED_TEST(AuthStoreContract, ASessionMadeWithAnOldEpochIsDead) {
  StoreDriver s = this->driver();
  UserRecord user = this->User("anna");
  ASSERT_OK(s.auth.CreateUser(user));
  const RefreshRecord late = this->Refresh("r1", user);
  user.password_hash = "$argon2id$new";
  ASSERT_OK(s.auth.UpdateUser(user, kT0));
  ASSERT_OK(s.auth.CreateSession(late));
  EXPECT_FALSE(s.v(s.auth.FindSession("f1", kT0)).has_value());
  EXPECT_EQ(s.v(s.auth.RotateSession("r1", "r2", kT0, kT0 + 1h)).verdict, RefreshVerdict::kUnknown);
}

TYPED_TEST(AuthStoreContract, TheLastEnabledAdministratorStays) {
  StoreDriver s = this->driver();
  UserRecord anna = this->User("anna", "admin");
  const UserRecord off = [&] {
    UserRecord user = this->User("off", "admin");
    user.disabled = true;
    return user;
  }();
  ASSERT_OK(s.auth.CreateUser(anna));
  ASSERT_OK(s.auth.CreateUser(off));
  EXPECT_CODE(s.auth.DeleteUser(anna.user_id, 1), ErrorCode::kDenied);
  UserRecord demoted = anna;
  demoted.role = "user";
  EXPECT_CODE(s.auth.UpdateUser(demoted, kT0), ErrorCode::kDenied);
  UserRecord disabled = anna;
  disabled.disabled = true;
  EXPECT_CODE(s.auth.UpdateUser(disabled, kT0), ErrorCode::kDenied);
  EXPECT_EQ(s.v(s.auth.GetUser(anna.user_id)), anna);
  ASSERT_OK(s.auth.CreateUser(this->User("bert", "admin")));
  ASSERT_OK(s.auth.UpdateUser(demoted, kT0));
  EXPECT_CODE(s.auth.DeleteUser("user-bert", 1), ErrorCode::kDenied);
  ASSERT_OK(s.auth.DeleteUser(off.user_id, 1));
}

TYPED_TEST(AuthStoreContract, TheSetupLinkMakesOneAdministratorOnce) {
  StoreDriver s = this->driver();
  const UserRecord anna = this->User("anna", "admin");
  EXPECT_TRUE(s.v(s.auth.NeedsSetup()));
  EXPECT_CODE(s.auth.Setup("link", anna, kT0), ErrorCode::kDenied);
  ASSERT_OK(s.auth.PutSetupLink("old", kT0 + 1h));
  ASSERT_OK(s.auth.PutSetupLink("link", kT0 + 1h));
  EXPECT_CODE(s.auth.Setup("old", anna, kT0), ErrorCode::kDenied);
  EXPECT_CODE(s.auth.Setup("link", anna, kT0 + 1h), ErrorCode::kDenied);
  ASSERT_OK(s.auth.CreateUser(this->User("bert")));
  EXPECT_TRUE(s.v(s.auth.NeedsSetup()));
  UserRecord taken = anna;
  taken.name = "Bert";
  EXPECT_CODE(s.auth.Setup("link", taken, kT0), ErrorCode::kExists);
  ASSERT_OK(s.auth.Setup("link", anna, kT0 + 59min));
  EXPECT_FALSE(s.v(s.auth.NeedsSetup()));
  EXPECT_CODE(s.auth.Setup("link", this->User("carl", "admin"), kT0), ErrorCode::kConflict);
  EXPECT_CODE(s.auth.PutSetupLink("link", kT0 + 1h), ErrorCode::kConflict);
  EXPECT_CODE(s.auth.GetUser("user-carl"), ErrorCode::kNotFound);
}

TYPED_TEST(AuthStoreContract, RefreshTokensRotateAndReuseEndsTheFamily) {
  StoreDriver s = this->driver();
  const UserRecord anna = this->User("anna");
  ASSERT_OK(s.auth.CreateUser(anna));
  ASSERT_OK(s.auth.CreateSession(this->Refresh("r1", anna)));
  ASSERT_OK(s.auth.CreateSession(this->Refresh("other", anna, "f2")));
  const Rotation second = s.v(s.auth.RotateSession("r1", "r2", kT0 + 1s, kT0 + 2h));
  EXPECT_EQ(second.verdict, RefreshVerdict::kRotated);
  EXPECT_EQ(second.family, "f1");
  EXPECT_EQ(second.user, std::optional(anna));
  this->Reopen();
  StoreDriver reopened = this->driver();
  AuthStore& auth = reopened.auth;
  EXPECT_EQ(s.v(auth.RotateSession("r2", "r3", kT0 + 90min, kT0 + 3h)).verdict,
            RefreshVerdict::kRotated);
  EXPECT_TRUE(s.v(auth.FindSession("f1", kT0 + 90min)).has_value());
  const Rotation reused = s.v(auth.RotateSession("r1", "r4", kT0 + 90min, kT0 + 3h));
  EXPECT_EQ(reused.verdict, RefreshVerdict::kReused);
  EXPECT_EQ(reused.user, std::optional(anna));
  EXPECT_EQ(s.v(auth.RotateSession("r3", "r5", kT0 + 90min, kT0 + 3h)).verdict,
            RefreshVerdict::kUnknown);
  EXPECT_FALSE(s.v(auth.FindSession("f1", kT0)).has_value());
  EXPECT_TRUE(s.v(auth.FindSession("f2", kT0)).has_value());
  EXPECT_EQ(s.v(auth.RotateSession("never", "r6", kT0, kT0)).verdict, RefreshVerdict::kUnknown);
}

TYPED_TEST(AuthStoreContract, ARefreshTokenWhoseAnswerWasLostIsExchangedAgain) {
  StoreDriver s = this->driver();
  const UserRecord anna = this->User("anna");
  ASSERT_OK(s.auth.CreateUser(anna));
  ASSERT_OK(s.auth.CreateSession(this->Refresh("r1", anna)));
  const auto rotate = [&](const char* used, const char* next, WallTime now) {
    return s.v(s.auth.RotateSession(used, next, now, now + 1h)).verdict;
  };
  const RefreshVerdict rotated = RefreshVerdict::kRotated;
  // The same token is used again after lost answers, at the same time; the last use goes to a
  // member whose clock is behind.
  EXPECT_EQ(rotate("r1", "r2", kT0 + 1s), rotated);
  EXPECT_EQ(rotate("r1", "r3", kT0 + 1s), rotated);
  EXPECT_EQ(rotate("r1", "r4", kT0), rotated);
  EXPECT_TRUE(s.v(s.auth.FindSession("f1", kT0 + 1s)).has_value());
  // The first answer was late and not lost: the token in it is used and replaced too.
  EXPECT_EQ(rotate("r2", "r5", kT0 + 2s), rotated);
  EXPECT_EQ(rotate("r5", "r6", kT0 + 3s), rotated);
  EXPECT_EQ(rotate("r6", "r7", kT0 + 3s), rotated);
  EXPECT_TRUE(s.v(s.auth.FindSession("f1", kT0 + 3s)).has_value());
  // Another successor of r1 was already used, so two parties have tokens of this family.
  EXPECT_EQ(rotate("r4", "r8", kT0 + 4s), RefreshVerdict::kReused);
  EXPECT_FALSE(s.v(s.auth.FindSession("f1", kT0 + 4s)).has_value());
  EXPECT_EQ(rotate("r7", "r9", kT0 + 4s), RefreshVerdict::kUnknown);
}

TYPED_TEST(AuthStoreContract, ALostAnswerIsGivenAgainForTenSecondsAndToWhoMayComeInOnly) {
  StoreDriver s = this->driver();
  UserRecord anna = this->User("anna");
  ASSERT_OK(s.auth.CreateUser(anna));
  const auto rotate = [&](const char* used, const std::string& next, WallTime now,
                          WallTime expires) {
    return s.v(s.auth.RotateSession(used, next, now, expires)).verdict;
  };
  for (const std::string family : {"late", "replaced", "expired", "changed"}) {
    ASSERT_OK(s.auth.CreateSession(this->Refresh(family + "1", anna, family)));
    const WallTime begun = family == "expired" ? kT0 + 1h - 5s : kT0 + 1s;
    EXPECT_EQ(rotate((family + "1").c_str(), family + "2", begun, kT0 + 2h),
              RefreshVerdict::kRotated);
  }
  EXPECT_EQ(rotate("late1", "late3", kT0 + 11s + 1us, kT0 + 2h), RefreshVerdict::kReused);
  EXPECT_EQ(rotate("late2", "late4", kT0 + 11s + 1us, kT0 + 2h), RefreshVerdict::kUnknown);
  EXPECT_EQ(rotate("replaced1", "replaced3", kT0 + 11s, kT0 + 2h), RefreshVerdict::kRotated);
  // A replaced token counts as used from the time when its replacement was created.
  EXPECT_EQ(rotate("replaced2", "replaced4", kT0 + 21s + 1us, kT0 + 2h), RefreshVerdict::kReused);
  EXPECT_EQ(rotate("replaced3", "replaced5", kT0 + 21s + 1us, kT0 + 2h), RefreshVerdict::kUnknown);
  EXPECT_EQ(rotate("expired1", "expired3", kT0 + 1h, kT0 + 2h), RefreshVerdict::kExpired);
  anna.disabled = true;
  ASSERT_OK(s.auth.UpdateUser(anna, kT0));
  EXPECT_EQ(rotate("changed1", "changed3", kT0 + 1s, kT0 + 2h), RefreshVerdict::kUnknown);
}

TYPED_TEST(AuthStoreContract, RefreshTokensExpireAndAreCleanedAway) {
  StoreDriver s = this->driver();
  const UserRecord anna = this->User("anna");
  ASSERT_OK(s.auth.CreateUser(anna));
  ASSERT_OK(s.auth.CreateSession(this->Refresh("r1", anna)));
  EXPECT_TRUE(s.v(s.auth.FindSession("f1", kT0 + 1h - 1us)).has_value());
  EXPECT_FALSE(s.v(s.auth.FindSession("f1", kT0 + 1h)).has_value());
  EXPECT_EQ(s.v(s.auth.RotateSession("r1", "r2", kT0 + 1h, kT0 + 2h)).verdict,
            RefreshVerdict::kExpired);
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 1h, {.runs = 24h}));
  EXPECT_FALSE(s.v(s.auth.EndSession("r1")).has_value());
}

TYPED_TEST(AuthStoreContract, SigningOutEndsTheFamilyOfAnyOfItsTokens) {
  StoreDriver s = this->driver();
  const UserRecord anna = this->User("anna");
  ASSERT_OK(s.auth.CreateUser(anna));
  ASSERT_OK(s.auth.CreateSession(this->Refresh("r1", anna)));
  s.v(s.auth.RotateSession("r1", "r2", kT0, kT0 + 1h));
  const auto ended = s.v(s.auth.EndSession("r1"));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->family, "f1");
  EXPECT_EQ(ended->user_id, anna.user_id);
  EXPECT_FALSE(s.v(s.auth.FindSession("f1", kT0)).has_value());
  EXPECT_FALSE(s.v(s.auth.EndSession("r2")).has_value());
}

TYPED_TEST(AuthStoreContract, TheFirstTokenIsMadeOnceAndIsNobodys) {
  StoreDriver s = this->driver();
  EXPECT_FALSE(s.v(s.auth.FindToken("abc")).has_value());
  const TokenRecord first{"abc", "first", "admin", kT0, "tok-abc"};
  ASSERT_OK(s.auth.CreateFirstToken(first));
  EXPECT_CODE(s.auth.CreateFirstToken({"def", "second", "admin", kT0, "tok-def"}),
              ErrorCode::kExists);
  const std::optional<FoundToken> found = s.v(s.auth.FindToken("abc"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->token.name, "first");
  EXPECT_EQ(found->token.role, "admin");
  EXPECT_EQ(found->token.token_id, "tok-abc");
  EXPECT_EQ(found->token.created, kT0);
  EXPECT_FALSE(found->token.expires.has_value());
  EXPECT_FALSE(found->token.last_used.has_value());
  EXPECT_FALSE(found->owner.has_value());
  EXPECT_FALSE(s.v(s.auth.FindToken("def")).has_value());
}

TYPED_TEST(AuthStoreContract, TokensComeWithTheirOwnerAndGoWithHim) {
  StoreDriver s = this->driver();
  const UserRecord anna = this->User("anna");
  ASSERT_OK(s.auth.CreateUser(anna));
  ASSERT_OK(s.auth.CreateToken(this->Token("a", anna.user_id)));
  TokenRecord scoped = this->Token("b", "");
  scoped.scopes = {"jobs:run", "read"};
  ASSERT_OK(s.auth.CreateToken(scoped));
  EXPECT_CODE(s.auth.CreateToken(this->Token("a", "")), ErrorCode::kExists);
  const auto found = s.v(s.auth.FindToken("a"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->owner, std::optional(anna));
  EXPECT_EQ(found->token.prefix, "carillon_a");
  EXPECT_TRUE(found->token.scopes.empty());
  EXPECT_EQ(s.v(s.auth.FindToken("b"))->token.scopes, scoped.scopes);
  EXPECT_EQ(found->token.expires, std::optional(kT0 + 24h));
  // Unknown ids are not found, no matter which characters they contain.
  EXPECT_CODE(s.auth.GetToken("t\u00f6k"), ErrorCode::kNotFound);
  EXPECT_CODE(s.auth.GetUser("\u00e9"), ErrorCode::kNotFound);
  EXPECT_FALSE(s.v(s.auth.FindUser("\u00e9")).has_value());
  EXPECT_TRUE(s.v(s.auth.ListTokens({.user_id = "\u00e9"})).empty());
  EXPECT_EQ(s.v(s.auth.ListTokens({})).size(), 2u);
  EXPECT_EQ(s.v(s.auth.ListTokens({.after_token_id = "tok-a"})).size(), 1u);
  EXPECT_EQ(s.v(s.auth.ListTokens({.limit = 1})).at(0).token_id, "tok-a");
  EXPECT_EQ(s.v(s.auth.ListTokens({.user_id = anna.user_id})).size(), 1u);
  ASSERT_OK(s.auth.DeleteUser(anna.user_id, 1));
  EXPECT_FALSE(s.v(s.auth.FindToken("a")).has_value());
  EXPECT_CODE(s.auth.GetToken("tok-a"), ErrorCode::kNotFound);
  EXPECT_OK(s.auth.GetToken("tok-b"));
}

TYPED_TEST(AuthStoreContract, TokensAreTouchedAndDeleted) {
  StoreDriver s = this->driver();
  ASSERT_OK(s.auth.CreateToken(this->Token("a", "")));
  ASSERT_OK(s.auth.TouchToken("tok-a", kT0 + 5s));
  EXPECT_EQ(s.v(s.auth.GetToken("tok-a")).last_used, std::optional(kT0 + 5s));
  ASSERT_OK(s.auth.DeleteToken("tok-a"));
  EXPECT_CODE(s.auth.DeleteToken("tok-a"), ErrorCode::kNotFound);
  EXPECT_FALSE(s.v(s.auth.FindToken("a")).has_value());
  ASSERT_OK(s.auth.TouchToken("tok-a", kT0 + 6s));
  EXPECT_CODE(s.auth.GetToken("tok-a"), ErrorCode::kNotFound);
}

TYPED_TEST(AuthStoreContract, TheSigningKeyIsMadeOnceForAll) {
  StoreDriver s = this->driver();
  const std::string key("k\0y", 3);
  EXPECT_EQ(s.v(s.auth.EnsureSigningKey(key)), key);
  EXPECT_EQ(s.v(s.auth.EnsureSigningKey("other")), key);
  const auto second = this->OpenSecond();
  EXPECT_EQ(s.v(second->auth().EnsureSigningKey("third")), key);
}

}  // namespace carillon::test
