// Reasons why a PENDING run has not been started: the decision, and the routes that show it.
#include "scheduler/explain/waiting.h"

#include "common/domain/schedule/explain.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using scheduler::DecideWaiting;
using scheduler::WaitingEvidence;

const WallTime kNow = FromUnixMicros(1'772'332'200'000'000);

ExecutorRecord Executor(const std::string& id, std::map<std::string, std::string> labels = {}) {
  ExecutorRecord executor{.id = ExecutorId(id), .labels = std::move(labels)};
  executor.slots = 2;
  return executor;
}

class WaitingTest : public ::testing::Test {
 protected:
  WaitingTest() {
    row_.due = kNow;
    job_.executor_selector = "team=etl";
  }
  std::string Code() {
    const auto waiting = Look();
    return waiting ? std::string(waiting->code) : "";
  }
  std::string Detail() { return Look()->detail; }

  RunRow row_;
  JobDefinition job_;
  std::vector<ExecutorRecord> executors_;
  bool cluster_paused_ = false;
  std::optional<QueuePlace> place_;
  std::optional<scheduler::SlotUse> slots_;
  std::optional<Group> group_;
  std::string upstream_;
  WallTime until_ = WallTime{};
  WallTime deadline_ = kNever;
  std::optional<Approval> approval_;

 private:
  std::optional<scheduler::Waiting> Look() {
    return DecideWaiting({.now = kNow,
                          .row = row_,
                          .cluster_paused = cluster_paused_,
                          .definition = job_,
                          .executors = executors_,
                          .place = place_,
                          .slots = slots_,
                          .group = group_,
                          .upstream = upstream_,
                          .opened = kNow - 1h,
                          .until = until_,
                          .deadline = deadline_,
                          .approval = approval_});
  }
};

TEST_F(WaitingTest, AnOpenNodeSaysWhoMayDecideAndWhatHappensWithoutThem) {
  row_.due = kUndecided;
  EXPECT_EQ(Code(), "approval");
  const std::string since = "Waits for a decision since " + ReadableTime(kNow - 1h) + ".";
  EXPECT_EQ(Detail(), since);
  approval_ = Approval{};
  EXPECT_EQ(Detail(), since + " Everybody who may run the workflow may decide.");
  until_ = kNow + 2h;
  approval_->by = {"user-1", "user-2"};
  EXPECT_EQ(Detail(), since + " Without one it is refused at " + ReadableTime(until_) +
                          ". May be decided by user-1, user-2, if they may run the workflow.");
  approval_->approves_on_timeout = true;
  approval_->by = {"a", "b", "c", "d"};
  cluster_paused_ = true;
  EXPECT_EQ(Code(), "approval") << "people may decide during a pause";
  EXPECT_EQ(Detail(), since + " Without one it is approved at " + ReadableTime(until_) +
                          ", later by the pause of the cluster. May be decided by a, b, c and 1 "
                          "more, if they may run the workflow.");
  deadline_ = kNow + 1h;
  approval_ = Approval{};
  EXPECT_EQ(Detail(), since + " Without one the workflow times out at " + ReadableTime(deadline_) +
                          ". Everybody who may run the workflow may decide.");
  row_.due = kTimed;
  EXPECT_EQ(Code(), "time");
  EXPECT_EQ(Detail(), "Waits until " + ReadableTime(until_) +
                          ". The workflow times out before, at " + ReadableTime(deadline_) + ".");
  deadline_ = kNever;
  EXPECT_EQ(Detail(), "Waits until " + ReadableTime(until_) + ".");
}

TEST_F(WaitingTest, OnlyWhatIsPendingWaits) {
  row_.state = RunState::kRunning;
  EXPECT_EQ(Code(), "");
}

TEST_F(WaitingTest, RunsOfOtherJobsAreAwaitedFromTheFireOn) {
  row_.due = kAwaiting;
  row_.key.fire = kNow;
  upstream_ = "Waits for load, which has no fire in the window, until 2026-03-01 06:00.";
  cluster_paused_ = true;
  EXPECT_EQ(Code(), "upstream_run");
  EXPECT_EQ(Detail(), upstream_);
  row_.key.fire = kNow + 1h;
  EXPECT_EQ(Code(), "not_due");
  row_.state = RunState::kFailed;
  EXPECT_EQ(Code(), "");
}

TEST_F(WaitingTest, AGroupSaysWhenItMayStartTheNext) {
  row_.due = kQueued;
  place_ = QueuePlace{.position = 1, .length = 2, .since = kNow, .group = "db"};
  const std::string place = "Waits for a slot of the concurrency group db, 1st of 2 in its queue.";
  group_ = Group{.name = "db",
                 .limit = 5,
                 .per = 10s,
                 .running = 2,
                 .cooling = 3,
                 .next_cool = kNow + 2'100ms};
  EXPECT_EQ(Detail(), place + " It starts at most 5 in 10 s: the group may start the next in 3 s.");
  group_->cooling = 2;  // one is free: it is given to the first in a moment
  EXPECT_EQ(Detail(), place);
  group_->cooling = 3;
  group_->next_cool = kNow;
  EXPECT_EQ(Detail(), place);
  group_ = Group{.name = "db", .limit = 5, .running = 5};
  EXPECT_EQ(Detail(), place);
  group_ = Group{.name = "db", .limit = 0, .per = 10s, .cooling = 1};
  EXPECT_EQ(Detail(), place + " Its limit is 0: nothing starts until it is raised.");
  // The limit was lowered while two were cooling: the store says when the second one is cool.
  group_ = Group{
      .name = "db", .limit = 1, .per = 10s, .running = 0, .cooling = 2, .next_cool = kNow + 7s};
  EXPECT_EQ(Detail(), place + " It starts at most 1 in 10 s: the group may start the next in 7 s.");
}

TEST_F(WaitingTest, ItsTimeComesFirst) {
  row_.due = kNever;
  EXPECT_EQ(Code(), "paused");
  row_.due = kNow + 1s;
  EXPECT_EQ(Code(), "not_due");
  EXPECT_NE(Detail().find(ReadableTime(kNow + 1s)), std::string::npos);
}

TEST_F(WaitingTest, PauseOfTheClusterGoesBeforeExecutorsAndAfterItsTime) {
  cluster_paused_ = true;
  EXPECT_EQ(Code(), "cluster_paused");
  row_.due = kNow + 1s;
  EXPECT_EQ(Code(), "not_due");
}

TEST_F(WaitingTest, ExecutorsThatClaimNothingAreNamed) {
  executors_ = {Executor("e1", {{"team", "etl"}}), Executor("e2", {{"team", "etl"}})};
  executors_[0].claims_nothing = true;
  EXPECT_EQ(Detail(), "Due; it is about to be dispatched to an executor.");
  executors_[1].claims_nothing = true;
  EXPECT_EQ(Code(), "queued");
  EXPECT_EQ(Detail(), "Due; the eligible executors claim none of the tasks that they are sent.");
  executors_.pop_back();
  EXPECT_EQ(Detail(), "Due; e1 claims none of the tasks that it is sent. Read its log.");
}

TEST_F(WaitingTest, AQueuedRunWaitsForASlotAndNotForAnExecutor) {
  row_.due = kQueued;
  EXPECT_EQ(Code(), "slot");
  EXPECT_EQ(Detail(), "Waits for a slot of its job.");
  place_ = QueuePlace{.position = 3, .length = 7, .since = kNow};
  EXPECT_EQ(Detail(), "Waits for a slot, 3rd of 7 in the queue of its job.");
  slots_ = scheduler::SlotUse{.taken = 2, .max_running = 2};
  EXPECT_EQ(Detail(),
            "Waits for a slot, 3rd of 7 in the queue of its job; 2 of 2 slots are in use.");
  slots_ = scheduler::SlotUse{.taken = 1, .max_running = 1};
  EXPECT_EQ(Detail(),
            "Waits for a slot, 3rd of 7 in the queue of its job; the only slot is in use.");
  cluster_paused_ = true;  // nobody is admitted
  EXPECT_EQ(Code(), "cluster_paused");
}

TEST_F(WaitingTest, PlacesAreOrdinalNumbers) {
  row_.due = kQueued;
  const std::map<int64_t, std::string> words = {{1, "1st"},   {2, "2nd"},     {4, "4th"},
                                                {11, "11th"}, {12, "12th"},   {13, "13th"},
                                                {21, "21st"}, {111, "111th"}, {122, "122nd"}};
  for (const auto& [position, word] : words) {
    place_ = QueuePlace{.position = position, .length = 200, .since = kNow};
    EXPECT_NE(Detail().find(", " + word + " of 200 "), std::string::npos) << Detail();
  }
}

TEST_F(WaitingTest, NobodyMatches) {
  EXPECT_EQ(Code(), "no_executor");
  executors_ = {Executor("a"), Executor("b", {{"team", "web"}})};
  EXPECT_EQ(Code(), "no_match");
  EXPECT_EQ(Detail(), "No executor matches the selector \"team=etl\"; 2 are registered.");
  job_.executor_selector = "team=";  // an invalid selector matches no executor, as in routing
  EXPECT_EQ(Code(), "no_match");
}

TEST_F(WaitingTest, ThoseThatMatchAreAway) {
  executors_ = {Executor("a", {{"team", "etl"}}), Executor("b", {{"team", "etl"}}),
                Executor("c", {{"team", "etl"}}), Executor("d", {{"team", "etl"}}), Executor("e")};
  executors_[0].state = ExecutorState::kLost;
  executors_[1].enabled = false;
  executors_[2].draining = true;
  executors_[3].state = ExecutorState::kOffline;
  EXPECT_EQ(Code(), "away");
  EXPECT_EQ(
      Detail(),
      "No eligible executor is available: a is lost, b is disabled, c is draining, and 1 more.");
}

TEST_F(WaitingTest, ThePinnedOneAlone) {
  executors_ = {Executor("a", {{"team", "etl"}}), Executor("b", {{"team", "etl"}})};
  row_.pinned_executor = ExecutorId("z");
  EXPECT_EQ(Code(), "pinned_unknown");
  row_.pinned_executor = ExecutorId("b");
  executors_[1].state = ExecutorState::kUnhealthy;
  EXPECT_EQ(Code(), "away");
  row_.pinned_executor = ExecutorId();
  job_.executor_id = "b";  // the job's executor
  EXPECT_EQ(Code(), "away");
  executors_[1].state = ExecutorState::kOnline;
  executors_[1].labels.clear();  // pinned to an executor, so the selector does not apply
  EXPECT_EQ(Code(), "queued");
}

TEST_F(WaitingTest, ThoseThatMatchAreFull) {
  executors_ = {Executor("a", {{"team", "etl"}}), Executor("b")};
  executors_[0].running = 2;
  EXPECT_EQ(Code(), "no_room");
  EXPECT_EQ(Detail(), "All slots of a are in use; no other executor is eligible.");
  executors_.push_back(executors_[0]);
  EXPECT_EQ(Detail(), "All slots of the 2 eligible executors are in use.");
  executors_[2].running = 1;
  EXPECT_EQ(Code(), "queued");
  executors_[2].running = 2;
  job_.type = JobType::kNoop;  // needs no process slot
  EXPECT_EQ(Code(), "queued");
}

class WaitingRouteTest : public ApiEnv {};

TEST_F(WaitingRouteTest, IsShownWithTheRunAndByWhy) {
  Create({{"job_id", "a"}, {"executor_selector", "team=etl"}});
  AddExecutor("e1");
  const std::string id = Post("/api/jobs/a/execute").body()["run_id"];
  EXPECT_EQ(Get("/api/runs/" + id).body()["waiting"]["code"], "no_match");
  ASSERT_EQ(
      Send("PATCH", "/api/executors/e1", R"({"labels": {"team": "etl"}})", {{"If-Match", "*"}})
          .status,
      200);
  EXPECT_EQ(Get("/api/runs/" + id).body()["waiting"]["code"], "queued");
  Post("/api/runs/" + id + "/cancel");
  EXPECT_TRUE(Get("/api/runs/" + id).body()["waiting"].is_null());
}

TEST_F(WaitingTest, AMissingInterpreterIsNamed) {
  job_ = {.name = "report", .type = JobType::kScript};
  job_.script = {.interpreter = Interpreter::kPhp, .body = "<?php", .args = {}};
  executors_ = {Executor("e1")};
  executors_[0].features = Features{Feature::kScriptSh};
  EXPECT_EQ(Code(), "no_feature");
  EXPECT_NE(Detail().find("e1"), std::string::npos) << Detail();
  EXPECT_NE(Detail().find("script:php"), std::string::npos) << Detail();
  executors_.push_back(Executor("e2"));
  EXPECT_EQ(Code(), "queued") << "an executor of another member may have it";
  executors_[1].features = Features{};
  EXPECT_EQ(Code(), "no_feature");
  executors_[1].features = Features{Feature::kScriptPhp};
  EXPECT_EQ(Code(), "queued");
}

}  // namespace
}  // namespace carillon::test
