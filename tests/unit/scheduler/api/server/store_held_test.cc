// A store that is held, as the API shows it, and its acceptance by an operator.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class StoreHeldTest : public ApiEnv {
 protected:
  StoreHeldTest() {
    SetStanding(
        {.state = StoreState::kHeld,
         .since = FromUnixMicros(1'772'323'200'000'000),
         .trusted = StoreTrust{.store_id = "s", .server_id = "v", .mark = 9},
         .seen =
             StoreIdentity{.store_id = "s", .server_id = "w", .mark = 4, .software = "MySQL 9.7.4"},
         .doubt = StoreDoubt::kHistoryLost,
         .reason = "the store has lost commits"});
  }
  const json shown_ = {{"store_id", "s"}, {"server_id", "w"}, {"mark", 4}};
};

TEST_F(StoreHeldTest, StatusSaysSinceWhenAndWhyAndWhatToDo) {
  const json store = Get("/api/system/status").body()["store"];
  EXPECT_EQ(store["state"], "held");
  EXPECT_EQ(store["since"], "2026-03-01T00:00:00.000000Z");
  EXPECT_EQ(store["reason"], "history_lost");
  EXPECT_NE(store["detail"].get<std::string>().find("accept-store"), std::string::npos);
  EXPECT_EQ(store["server"], "MySQL 9.7.4");
  EXPECT_EQ(store["seen"], shown_);
  EXPECT_EQ(store["trusted"]["mark"], 9);
  EXPECT_TRUE(store["trusted"]["accepted_at"].is_null());
  SetStanding({.state = StoreState::kTrusted});
  const json trusted = Get("/api/system/status").body()["store"];
  EXPECT_EQ(trusted["state"], "trusted");
  EXPECT_TRUE(trusted["reason"].is_null());
  EXPECT_TRUE(trusted["server"].is_null());
}

TEST_F(StoreHeldTest, ReadsAreServedAndWritesAreRefusedWithTheReason) {
  EXPECT_EQ(Get("/api/jobs").status, 200);
  const Answer refused = Post("/api/jobs", JobBody());
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "store_held");
  EXPECT_NE(refused.body()["detail"].get<std::string>().find("has lost commits"),
            std::string::npos);
  EXPECT_EQ(Post("/api/jobs/j/pause").code(), "store_held");
  EXPECT_EQ(Send("DELETE", "/api/jobs/j").code(), "store_held");
  EXPECT_EQ(Post("/api/schedules/preview", {{"cron_expression", "0 3 * * *"}}).status, 200);
  EXPECT_EQ(Get("/api/jobs").body()["items"].size(), 0u);
  SetStanding({.state = StoreState::kUnknown});
  EXPECT_EQ(Post("/api/jobs", JobBody()).code(), "store_held");
  SetStanding({.state = StoreState::kTrusted});
  EXPECT_EQ(Post("/api/jobs", JobBody()).status, 201);
}

TEST_F(StoreHeldTest, OperatorsWordNamesWhatWasShownAndIsAudited) {
  json body = shown_;
  body["reason"] = "restored from the dump of 02:00";
  const Answer accepted = Post("/api/system/store/accept", body);
  ASSERT_EQ(accepted.status, 200) << accepted.text;
  EXPECT_EQ(accepted.body()["state"], "trusted");
  ASSERT_EQ(accepted_.size(), 1u);
  EXPECT_EQ(accepted_[0].store_id, "s");
  EXPECT_EQ(accepted_[0].server_id, "w");
  EXPECT_EQ(accepted_[0].mark, 4u);
  const json audit = Get("/api/audit").body()["items"];
  ASSERT_EQ(audit.size(), 1u);
  EXPECT_EQ(audit[0]["action"], "store.accept");
  EXPECT_EQ(audit[0]["reason"], "restored from the dump of 02:00");
}

TEST_F(StoreHeldTest, WordThatDoesNotSayWhatIsRefused) {
  for (const char* name : {"store_id", "server_id", "mark"}) {
    json body = shown_;
    body.erase(name);
    EXPECT_EQ(Post("/api/system/store/accept", body).pointer(), std::string("/") + name);
  }
  json body = shown_;
  body["force"] = true;
  EXPECT_EQ(Post("/api/system/store/accept", body).pointer(), "/force");
  EXPECT_TRUE(accepted_.empty());
}

TEST_F(StoreHeldTest, WordThatFailsSaysHow) {
  accept_answer_ = {ErrorCode::kConflict, "the store that answers is not the one that was shown"};
  const Answer stale = Post("/api/system/store/accept", shown_);
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.code(), "conflict");
  accept_answer_ = {ErrorCode::kTimeout, "no answer"};
  EXPECT_EQ(Post("/api/system/store/accept", shown_).code(), "outcome_unknown");
  accept_answer_ = {ErrorCode::kUnavailable, "no coordinator"};
  EXPECT_EQ(Post("/api/system/store/accept", shown_).status, 503);
  EXPECT_TRUE(Get("/api/audit").body()["items"].empty());
}

}  // namespace
}  // namespace carillon::test
