// GET and PUT /api/system/config.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

constexpr const char* kPath = "/api/system/config";

class ConfigRoutesTest : public ApiEnv {
 protected:
  Answer Put(const json& settings, const std::string& tag) {
    return Send("PUT", kPath, json{{"settings", settings}}.dump(), {{"If-Match", tag}});
  }
};

TEST_F(ConfigRoutesTest, EverySettingIsShownWithItsSource) {
  const Answer answer = Get(kPath);
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("etag"), "\"v0\"");
  const json config = answer.body();
  EXPECT_EQ(config["version"], 0);
  EXPECT_EQ(config["settings"]["rest.workers"], "8");
  EXPECT_EQ(config["sources"]["rest.workers"], "default");
  EXPECT_EQ(config["settings"].size(), config::SettingTable().size());
  EXPECT_EQ(config["sources"].size(), config::SettingTable().size());
  size_t live = 0;
  for (const config::Setting& setting : config::SettingTable()) live += setting.live ? 1 : 0;
  EXPECT_EQ(config["live"].size(), live);
}

TEST_F(ConfigRoutesTest, ChangeIsInForceWithItsAnswerAndMovesTheVersion) {
  const Answer changed =
      Put({{"log.level", "error"}, {"retention_days", 30}, {"executor.slots", "3"}}, "\"v0\"");
  ASSERT_EQ(changed.status, 200) << changed.text;
  EXPECT_EQ(changed.header("etag"), "\"v1\"");
  const json config = changed.body();
  EXPECT_EQ(config["version"], 1);
  EXPECT_EQ(config["settings"]["log.level"], "error");
  EXPECT_EQ(config["settings"]["retention_days"], "30");
  EXPECT_EQ(config["sources"]["retention_days"], "live");
  EXPECT_EQ(Get(kPath).body(), config);
  EXPECT_EQ(settings_.Current().values, stores_.settings.ReadSettings()->values);
  EXPECT_EQ(settings_.version(), 1);
  // Only the settings in the request change. Null resets a setting to its default.
  const json next = Put({{"log.level", nullptr}, {"executor.slots", 4}}, "\"v1\"").body();
  EXPECT_EQ(next["version"], 2);
  EXPECT_EQ(next["settings"]["log.level"], "info");
  EXPECT_EQ(next["sources"]["log.level"], "default");
  EXPECT_EQ(next["settings"]["retention_days"], "30");
  EXPECT_EQ(next["settings"]["executor.slots"], "4");
}

TEST_F(ConfigRoutesTest, ChangeThatChangesNothingKeepsTheVersion) {
  ASSERT_EQ(Put({{"log.level", "error"}}, "\"v0\"").status, 200);
  EXPECT_EQ(Put({{"log.level", "error"}, {"retention_days", nullptr}}, "\"v1\"").body()["version"],
            1);
  EXPECT_EQ(Put(json::object(), "\"v1\"").body()["version"], 1);
}

TEST_F(ConfigRoutesTest, StaleOrMissingPreconditionChangesNothing) {
  ASSERT_EQ(Put({{"retention_days", 20}}, "\"v0\"").status, 200);
  const Answer stale = Put({{"retention_days", 21}}, "\"v0\"");
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(stale.code(), "stale_version");
  EXPECT_EQ(stale.body()["current_version"], 1);
  EXPECT_EQ(stale.body()["current"]["settings"]["retention_days"], "20");
  EXPECT_EQ(stale.header("etag"), "\"v1\"");
  const json body = {{"settings", {{"retention_days", 21}}}};
  EXPECT_EQ(Send("PUT", kPath, body.dump()).code(), "precondition_required");
  EXPECT_EQ(Send("PUT", kPath, body.dump(), {{"If-Match", "v1"}}).code(), "bad_if_match");
  EXPECT_EQ(stores_.settings.ReadSettings()->version, 1);
  EXPECT_EQ(Put({{"retention_days", 21}}, "*").body()["version"], 2);
}

TEST_F(ConfigRoutesTest, WhatIsWrongIsNamedWithItsBoundsAndNothingIsChanged) {
  struct Case {
    json settings;
    std::string pointer;
    std::string code;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{{"no.such", 1}}, "/settings/no.such", "unknown_field", "no.such"},
      {{{"rest.port", 1}}, "/settings/rest.port", "not_live", "start"},
      {{{"rest.port", nullptr}}, "/settings/rest.port", "not_live", "start"},
      {{{"retention_days", 0}}, "/settings/retention_days", "bad_value", "1 to 3650"},
      {{{"retention_days", "many"}}, "/settings/retention_days", "bad_value", "1 to 3650"},
      {{{"retention_days", 1.5}}, "/settings/retention_days", "wrong_type", "1 to 3650"},
      {{{"retention_days", {1}}}, "/settings/retention_days", "wrong_type", "1 to 3650"},
      {{{"log.level", "loud"}}, "/settings/log.level", "bad_value", "debug|info|warn"},
      {{{"log.level", true}}, "/settings/log.level", "bad_value", "debug|info|warn"}};
  for (const Case& one : cases) {
    json settings = one.settings;
    settings["executor.slots"] = 3;
    const Answer answer = Put(settings, "\"v0\"");
    ASSERT_EQ(answer.status, 400) << answer.text;
    EXPECT_EQ(answer.code(), "invalid");
    const json error = answer.body()["errors"][0];
    EXPECT_EQ(error["pointer"], one.pointer);
    EXPECT_EQ(error["code"], one.code);
    EXPECT_NE(error["detail"].get<std::string>().find(one.says), std::string::npos) << error;
  }
  const Answer both = Put({{"retention_days", 0}, {"log.level", "loud"}}, "\"v0\"");
  EXPECT_EQ(both.body()["errors"].size(), 2u);
  const HttpHeaders tag = {{"If-Match", "\"v0\""}};
  EXPECT_EQ(Send("PUT", kPath, "{}", tag).pointer(), "/settings");
  EXPECT_EQ(Send("PUT", kPath, R"({"settings": []})", tag).pointer(), "/settings");
  EXPECT_EQ(Send("PUT", kPath, R"({"settings": {}, "live": []})", tag).pointer(), "/live");
  EXPECT_EQ(stores_.settings.ReadSettings()->version, 0);
  EXPECT_EQ(settings_.version(), 0);
}

TEST_F(ConfigRoutesTest, SomebodyElseWasQuickerInBetween) {
  faults_.plan.OnCall([this](const std::string& name) {
    if (name != "WriteSettings") return;
    EXPECT_TRUE(stores_.settings.WriteSettings(0, {.version = 1}).ok());
  });
  const Answer stale = Put({{"retention_days", 21}}, "\"v0\"");
  EXPECT_EQ(stale.code(), "stale_version");
  EXPECT_EQ(stale.body()["current_version"], 1);
}

TEST_F(ConfigRoutesTest, UnknownOutcomeIsLookedUp) {
  faults_.plan.Arm("WriteSettings", Fault::kTimeoutAfter);
  const Answer done = Put({{"retention_days", 21}}, "\"v0\"");
  EXPECT_EQ(done.status, 200) << done.text;
  EXPECT_EQ(settings_.version(), 1);
  faults_.plan.Arm("WriteSettings", Fault::kTimeoutBefore);
  EXPECT_EQ(Put({{"retention_days", 22}}, "\"v1\"").code(), "outcome_unknown");
  EXPECT_EQ(settings_.version(), 1);
}

TEST_F(ConfigRoutesTest, ChangeIsInTheAudit) {
  const json body = {{"settings", {{"retention_days", 21}}}, {"reason", "less disk"}};
  ASSERT_EQ(Send("PUT", kPath, body.dump(), {{"If-Match", "\"v0\""}}).status, 200);
  const json item = Get("/api/audit?object_id=config").body()["items"][0];
  EXPECT_EQ(item["action"], "config.change");
  EXPECT_EQ(item["reason"], "less disk");
  EXPECT_EQ(item["actor"], "token/admin");
}

// The change was made on another member, or in the database directly.
TEST_F(ConfigRoutesTest, ReadingAdoptsWhatTheStoreSays) {
  const ClusterSettings stored{.version = 1,
                               .values = {{"retention_days", "21"}, {"unknown", "x"}}};
  ASSERT_TRUE(stores_.settings.WriteSettings(0, stored).ok());
  const json config = Get(kPath).body();
  EXPECT_EQ(config["settings"]["retention_days"], "21");
  EXPECT_FALSE(config["settings"].contains("unknown"));
  EXPECT_EQ(settings_.version(), 1);
}

TEST_F(ConfigRoutesTest, PauseIsASettingThatNoConfigurationHas) {
  ASSERT_EQ(Put({{"log.level", "error"}}, "\"v0\"").status, 200);
  const Answer paused = Send("POST", "/api/system/pause", R"({"reason": "a move"})");
  ASSERT_EQ(paused.status, 200) << paused.text;
  EXPECT_EQ(paused.body()["version"], 2);
  EXPECT_EQ(paused.body()["paused"]["reason"], "a move");
  EXPECT_TRUE(settings_.paused());
  EXPECT_EQ(Get("/api/system/status").body()["paused"], paused.body()["paused"]);
  const json config = Get(kPath).body();
  EXPECT_EQ(config["settings"].size(), config::SettingTable().size());
  EXPECT_EQ(Put({{"scheduling.paused_since", nullptr}}, "\"v2\"").status, 400);
  // A change of a setting does not revert the pause.
  EXPECT_EQ(Put({{"log.level", nullptr}}, "\"v2\"").body()["version"], 3);
  EXPECT_TRUE(settings_.paused());
}

TEST_F(ConfigRoutesTest, PausingAndResumingAgainChangeNothing) {
  EXPECT_EQ(Send("POST", "/api/system/resume", "{}").body()["version"], 0);
  const json first = Send("POST", "/api/system/pause", R"({"reason": "one"})").body();
  EXPECT_EQ(Send("POST", "/api/system/pause", R"({"reason": "two"})").body(), first);
  const json resumed = Send("POST", "/api/system/resume", "{}").body();
  EXPECT_EQ(resumed, (json{{"paused", nullptr}, {"version", 2}}));
  EXPECT_FALSE(settings_.paused());
  EXPECT_TRUE(Get("/api/system/status").body()["paused"].is_null());
}

// The highest known version is in force. A store that was restored to an older version has other
// settings, and the answer must not show those.
TEST_F(ConfigRoutesTest, PauseHoldsAlsoWhereTheStoreFellBehind) {
  ClusterSettings paused{.version = 7};
  SetPause(paused.values, ClusterPause{"2026-03-01T00:00:00.000000Z", "anna", "old"});
  ASSERT_TRUE(stores_.settings.WriteSettings(0, paused).ok());
  settings_.Adopt({.version = 8});
  const Answer again = Send("POST", "/api/system/pause", R"({"reason": "new"})");
  EXPECT_EQ(again.body()["paused"]["reason"], "new") << again.text;
  EXPECT_EQ(again.body()["version"], 9);
  EXPECT_TRUE(settings_.paused());
  EXPECT_EQ(stores_.settings.ReadSettings()->version, 9);
}

TEST_F(ConfigRoutesTest, ResumeHoldsAlsoWhereTheStoreFellBehind) {
  ClusterSettings paused{.version = 7};
  SetPause(paused.values, ClusterPause{"2026-03-01T00:00:00.000000Z", "anna", "old"});
  settings_.Adopt(paused);
  ASSERT_TRUE(stores_.settings.WriteSettings(0, {.version = 6}).ok());
  EXPECT_EQ(Send("POST", "/api/system/resume", "{}").body()["version"], 8);
  EXPECT_FALSE(settings_.paused());
  // The same holds for other settings, even for a change to the value in the store.
  settings_.Adopt({.version = 20, .values = {{"log.level", "error"}}});
  EXPECT_EQ(Put({{"log.level", nullptr}}, "\"v8\"").body()["version"], 21);
  EXPECT_TRUE(settings_.Current().values.empty());
}

// The audit log names the caller who paused, but not a caller who came later or lost the race.
TEST_F(ConfigRoutesTest, WhoChangedNothingIsNotSaidToHavePaused) {
  const auto records = [this] { return Get("/api/audit?object_id=pause").body()["items"]; };
  bool first = true;
  faults_.plan.OnCall([&](const std::string& name) {
    if (name != "WriteSettings" || !std::exchange(first, false)) return;
    ClusterSettings quicker{.version = 1};
    SetPause(quicker.values, ClusterPause{"2026-03-01T00:00:00.000000Z", "bob", "his"});
    EXPECT_TRUE(stores_.settings.WriteSettings(0, quicker).ok());
  });
  const Answer late = Send("POST", "/api/system/pause", R"({"reason": "mine"})");
  EXPECT_EQ(late.body()["paused"]["reason"], "his") << late.text;
  ASSERT_EQ(records().size(), 1u);
  EXPECT_TRUE(records()[0]["changes"].is_null()) << records();
}

TEST_F(ConfigRoutesTest, PauseNeedsAReason) {
  EXPECT_EQ(Send("POST", "/api/system/pause", "{}").status, 400);
  EXPECT_EQ(
      Send("POST", "/api/system/pause", json{{"reason", std::string(501, 'x')}}.dump()).status,
      400);
  EXPECT_EQ(
      Send("POST", "/api/system/pause", json{{"reason", std::string(500, 'x')}}.dump()).status,
      200);
}

}  // namespace
}  // namespace carillon::test
