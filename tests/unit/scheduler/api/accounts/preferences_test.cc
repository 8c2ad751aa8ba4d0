// A user's preferences, through /api/auth/me.
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class PreferencesTest : public PeopleEnv {
 protected:
  PreferencesTest() {
    AddUser("anna", "read_only");
    bearer_ = SignIn("anna").access_token;
  }
  Answer Choose(const json& preferences) {
    return As(bearer_, "PATCH", "/api/auth/me", json{{"preferences", preferences}}.dump());
  }
  json Chosen() { return As(bearer_, "GET", "/api/auth/me").body()["preferences"]; }

  std::string bearer_;
};

json All(const json& language, const json& theme, const json& time) {
  return {{"language", language}, {"theme", theme}, {"time", time}};
}

TEST_F(PreferencesTest, AreChosenAndTakenBackOneByOne) {
  EXPECT_EQ(Chosen(), All(nullptr, nullptr, nullptr));
  const Answer dark = Choose({{"theme", "dark"}, {"language", "zh-CN"}});
  ASSERT_EQ(dark.status, 200) << dark.text;
  EXPECT_EQ(dark.body()["name"], "anna");
  EXPECT_EQ(dark.body()["preferences"], All("zh-CN", "dark", nullptr));
  // The change has effect at once, although the caller is still cached from the previous request.
  EXPECT_EQ(Chosen(), All("zh-CN", "dark", nullptr));
  EXPECT_EQ(Choose({{"theme", nullptr}, {"time", "job"}}).body()["preferences"],
            All("zh-CN", nullptr, "job"));
  EXPECT_EQ(Choose(json::object()).body()["preferences"], All("zh-CN", nullptr, "job"));
  // A change on another member has effect at once too, because the cached caller is not used here.
  ASSERT_TRUE(
      stores_.auth.ChangePreferences({.user_id = "user-anna", .changes = {{"theme", "light"}}})
          .ok());
  EXPECT_EQ(Chosen(), All("zh-CN", "light", "job"));
  ASSERT_TRUE(
      stores_.auth.ChangePreferences({.user_id = "user-anna", .changes = {{"theme", std::nullopt}}})
          .ok());
  // The preferences apply in another browser too, but not for other users.
  bearer_ = SignIn("anna").access_token;
  EXPECT_EQ(Chosen(), All("zh-CN", nullptr, "job"));
  AddUser("bert", "user");
  bearer_ = SignIn("bert").access_token;
  EXPECT_EQ(Chosen(), All(nullptr, nullptr, nullptr));
}

TEST_F(PreferencesTest, TakeTheConsolesOwnWords) {
  for (const auto& [name, values] : std::map<std::string, std::vector<std::string>>{
           {"language", {"en", "zh-CN"}},
           {"theme", {"light", "dark", "system"}},
           {"time", {"relative", "local", "utc", "job"}}}) {
    for (const std::string& value : values) {
      EXPECT_EQ(Choose({{name, value}}).body()["preferences"][name], value);
    }
    for (const json& wrong : {json("pink"), json(""), json(1), json(true), json::array()}) {
      const Answer refused = Choose({{name, wrong}});
      EXPECT_EQ(refused.status, 400);
      EXPECT_EQ(refused.pointer(), "/preferences/" + name);
    }
  }
  EXPECT_EQ(Choose({{"colour", "red"}}).pointer(), "/preferences/colour");
  EXPECT_EQ(Choose(nullptr).pointer(), "/preferences");
  EXPECT_EQ(As(bearer_, "PATCH", "/api/auth/me", R"({"name": "boss"})").pointer(), "/name");
  EXPECT_EQ(Chosen(), All("zh-CN", "system", "job"));
}

TEST_F(PreferencesTest, AreAPersonsAndNotAToken) {
  const Answer refused = Send("PATCH", "/api/auth/me", R"({"preferences": {"theme": "dark"}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.code(), "user_needed");
  EXPECT_EQ(Get("/api/auth/me").body()["preferences"], All(nullptr, nullptr, nullptr));
  const std::string own =
      As(bearer_, "POST", "/api/tokens", R"({"name": "ci"})").body().value("token", "");
  EXPECT_EQ(As(own, "PATCH", "/api/auth/me", R"({"preferences": {"theme": "dark"}})").code(),
            "user_needed");
}

TEST_F(PreferencesTest, AreLeftAloneByAnAdministratorsEdit) {
  Choose({{"theme", "light"}});
  const Answer renamed = Send("PATCH", "/api/users/user-anna", R"({"display_name": "Anna"})",
                              {{"If-Match", "\"v1\""}});
  ASSERT_EQ(renamed.status, 200) << renamed.text;
  EXPECT_FALSE(renamed.body().contains("preferences"));
  EXPECT_EQ(Chosen(), All(nullptr, "light", nullptr));
}

TEST_F(PreferencesTest, AnUnknownOutcomeIsTriedOnceMore) {
  std::string theme = "dark";
  for (const Fault fault : {Fault::kTimeoutBefore, Fault::kTimeoutAfter}) {
    faults_.plan.Arm("ChangePreferences", fault);
    EXPECT_EQ(Choose({{"theme", theme}}).status, 200);
    EXPECT_EQ(Chosen(), All(nullptr, theme, nullptr));
    theme = "light";
  }
  faults_.plan.Arm("ChangePreferences", Fault::kTimeoutBefore, 2);
  EXPECT_EQ(Choose({{"theme", "system"}}).code(), "outcome_unknown");
}

}  // namespace
}  // namespace carillon::test
