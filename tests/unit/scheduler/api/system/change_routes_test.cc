#include "common/base/lower_case.h"
#include "scheduler/api/system/change_feed.h"
#include "tests/unit/common/adapters/http/raw_socket.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using scheduler::ChangeFeed;
using scheduler::ChangeWatch;

class ChangesTest : public ApiEnv {
 protected:
  std::string Request(const std::string& last = "") {
    return "GET /api/changes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token_ + "\r\n" +
           (last.empty() ? "" : "Last-Event-ID: " + last + "\r\n") + "\r\n";
  }
  // Splits a raw answer into its head and its body.
  static Answer AnswerOf(const std::string& raw) {
    std::istringstream in(raw);
    Answer answer;
    std::string line;
    std::getline(in, line);
    answer.status = std::stoi(line.substr(line.find(' ')));
    while (std::getline(in, line) && line != "\r") {
      const size_t colon = line.find(": ");
      answer.headers.emplace_back(LowerCase(line.substr(0, colon)),
                                  line.substr(colon + 2, line.size() - colon - 3));
    }
    answer.text = raw.substr(raw.find("\r\n\r\n") + 4);
    return answer;
  }
  static std::string LastId(const std::string& text) {
    const size_t at = text.rfind("id: ");
    return at == std::string::npos ? "" : text.substr(at + 4, text.find('\n', at) - at - 4);
  }
};

TEST_F(ChangesTest, ToldWhatWasDoneAndWhatHappened) {
  RawSocket socket(server_->port());
  ASSERT_TRUE(socket.Send(Request()));
  const std::string begin = socket.ReadUntil("event: ready\ndata: {}\n\n");
  EXPECT_NE(begin.find("Content-Type: text/event-stream"), std::string::npos) << begin;
  RecordExchange("GET", "/api/changes", "", AnswerOf(begin));
  Post("/api/jobs", {{"job_id", "nightly"}, {"name", "nightly"}, {"type", "noop"}});
  const std::string made = socket.ReadUntil("{\"id\":\"nightly\",\"topic\":\"jobs\"}");
  EXPECT_NE(made.find("event: change\ndata: {\"changes\":["), std::string::npos) << made;
  Post("/api/jobs/nightly/execute");
  EXPECT_NE(socket.ReadUntil("{\"topic\":\"runs\"}").find("runs"), std::string::npos);
  stores_.executors.RegisterExecutor({.id = ExecutorId("e1"), .incarnation = Incarnation("x")})
      .value();
  EXPECT_NE(socket.ReadUntil("{\"topic\":\"executors\"}").find("executors"), std::string::npos);
}

TEST_F(ChangesTest, WhoComesAgainIsToldWhatHeMissed) {
  std::string last;
  {
    RawSocket socket(server_->port());
    ASSERT_TRUE(socket.Send(Request()));
    last = LastId(socket.ReadUntil("event: ready\ndata: {}\n\n"));
  }
  Post("/api/jobs", {{"job_id", "nightly"}, {"name", "nightly"}, {"type", "noop"}});
  RawSocket again(server_->port());
  ASSERT_TRUE(again.Send(Request(last)));
  const std::string missed = again.ReadUntil("\"topic\":\"jobs\"}");
  EXPECT_NE(missed.find("nightly"), std::string::npos) << missed;
  EXPECT_EQ(missed.find("resync"), std::string::npos) << missed;
  RawSocket stranger(server_->port());
  ASSERT_TRUE(stranger.Send(Request("0123456789ab-0")));
  EXPECT_NE(stranger.ReadUntil("data: {}\n\n").find("event: resync"), std::string::npos);
}

TEST_F(ChangesTest, ParametersAreRefused) {
  EXPECT_EQ(Get("/api/changes?since=0").pointer(), "?since");
}

// Tests of the change watch alone, on a manual clock.
class ChangeWatchTest : public ApiEnv {
 protected:
  void Record(const std::string& action, const std::string& object) {
    ASSERT_TRUE(
        stores_.audit
            .RecordAudit(
                {.at = clock_.Wall(), .actor = "anna", .action = action, .object_id = object})
            .ok());
  }
  void Look() {
    clock_.Advance(ChangeWatch::kLookEvery);
    watch_.Look(clock_.Steady());
  }
  std::set<std::string> From(uint64_t number) {
    std::set<std::string> told;
    const auto changes = watch_.From(number);
    for (const auto& change : changes.value()) {
      told.insert(change.topic + (change.id.empty() ? "" : "/" + change.id));
    }
    return told;
  }
  const scheduler::ApiContext context_ = Context("");
  ChangeWatch watch_{ChangePorts(context_), "life"};
};

TEST_F(ChangeWatchTest, TellsTopicsAndNamesOnlyWhatEverybodyMayRead) {
  Record("job.create", "before");
  Look();
  EXPECT_EQ(watch_.end(), 0u);
  Record("job.pause", "nightly");
  Record("user.create", "usr-1");
  Record("auth.login", "usr-1");
  Record("run.cancel", "05TG");
  Look();
  EXPECT_EQ(From(0), (std::set<std::string>{"jobs/nightly", "users", "audit", "runs/05TG"}));
  const uint64_t end = watch_.end();
  Look();
  EXPECT_EQ(watch_.end(), end);
}

TEST_F(ChangeWatchTest, TellsWhichBulkActionMovesOn) {
  server_.reset();  // nothing else uses the store
  Look();
  const BulkOrder order{
      .bulk_id = "b", .action = "run", .kind = "job", .role = "admin", .created = clock_.Wall()};
  ASSERT_TRUE(stores_.bulk.CreateBulk(order, {"j0", "j1"}, {}).ok());
  Record("bulk", "b");
  Look();
  EXPECT_EQ(From(0), (std::set<std::string>{"bulk/b", "audit"}));
  uint64_t end = watch_.end();
  Look();
  EXPECT_EQ(watch_.end(), end);  // nothing changes
  const auto taken = *stores_.bulk.TakeBulk(clock_.Wall(), clock_.Wall() + 1min);
  for (int64_t i = 0; i < 2; ++i) {  // the second one ends it
    clock_.Advance(1s);
    const BulkItem done{.position = i, .id = {}, .result = BulkResult::kDone};
    ASSERT_TRUE(
        stores_.bulk.RecordBulkItems(taken->lease, {done}, clock_.Wall(), clock_.Wall()).ok());
    Look();
    EXPECT_EQ(From(end), (std::set<std::string>{"bulk/b"}));
    end = watch_.end();
  }
}

TEST_F(ChangeWatchTest, AsksTheStoreNoOftenerThanItsTime) {
  Look();
  Record("job.pause", "nightly");
  watch_.Look(clock_.Steady());
  EXPECT_EQ(watch_.end(), 0u);
  Look();
  EXPECT_GT(watch_.end(), 0u);
}

TEST_F(ChangeWatchTest, MoreThanItKeepsMeansEverythingAnew) {
  Look();
  for (size_t i = 0; i < ChangeWatch::kKept; ++i) {
    Record("job.pause", "job-" + std::to_string(i));
    if (i % 100 == 0) Look();
  }
  Look();
  EXPECT_EQ(watch_.From(0), std::nullopt);
  EXPECT_TRUE(watch_.From(watch_.end()).has_value());
  ChangeFeed feed(watch_, "life-0");
  clock_.Advance(1us);
  EXPECT_NE(feed.Poll(clock_.Steady()).text.find("event: resync"), std::string::npos);
}

TEST_F(ChangeWatchTest, MoreThanOneLookReadsMeansEverythingAnew) {
  Look();
  ChangeFeed feed(watch_, "");
  EXPECT_NE(feed.Poll(clock_.Steady()).text.find("event: ready"), std::string::npos);
  for (size_t i = 0; i <= ChangeWatch::kReadMax; ++i) Record("job.pause", "j");
  Look();
  EXPECT_NE(feed.Poll(clock_.Steady()).text.find("event: resync"), std::string::npos);
  Record("job.pause", "k");
  clock_.Advance(ChangeWatch::kLookEvery);
  const std::string next = feed.Poll(clock_.Steady()).text;
  EXPECT_NE(next.find("\"id\":\"k\""), std::string::npos) << next;
  EXPECT_EQ(next.find("resync"), std::string::npos) << next;
}

TEST_F(ChangeWatchTest, StoreThatDoesNotAnswerLosesNothing) {
  Look();
  Record("job.pause", "nightly");
  faults_.plan.Arm("ListAudit", Fault::kUnavailable);
  Look();
  EXPECT_EQ(watch_.end(), 0u);
  Look();
  EXPECT_TRUE(From(0).contains("jobs/nightly"));
}

}  // namespace
}  // namespace carillon::test
