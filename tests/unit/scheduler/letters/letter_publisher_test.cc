#include "scheduler/letters/letter_publisher.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/adapters/memory/memory_coordinator.h"
#include "common/base/log.h"
#include "scheduler/settings/new_fields.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

using Publisher = LetterPublisher;

// A bus that answers when the test says so.
class AnsweringBus final : public BusProducer {
 public:
  struct Sent {
    BusRecord record;
    uint64_t partition_key = 0;
    Delivered delivered;
    std::string run() const { return nlohmann::json::parse(record.payload).at("run_id"); }
  };
  Status Send(std::string_view topic, uint64_t partition_key, BusRecord record,
              Delivered delivered) override {
    EXPECT_EQ(topic, "letters");
    ++tries;
    if (!refusal.ok()) return refusal;
    if (!too_large.empty() && record.payload.find(too_large) != std::string::npos) {
      return {ErrorCode::kInvalid, "too large"};
    }
    sent.push_back({std::move(record), partition_key, std::move(delivered)});
    if (answers) sent.back().delivered(Status());
    return {};
  }
  // Answers all that was sent, and forgets it.
  void Answer(const Status& outcome = {}) {
    for (const Sent& one : std::exchange(sent, {})) one.delivered(outcome);
  }
  std::vector<std::string> Runs() const {
    std::vector<std::string> runs;
    for (const Sent& one : sent) runs.push_back(one.run());
    return runs;
  }

  bool answers = false;   // at once
  Status refusal;         // of each call
  std::string too_large;  // a run whose record no broker takes
  int tries = 0;
  std::vector<Sent> sent;
};

class LetterPublisherTest : public test::RoomTest {
 protected:
  LetterPublisherTest() {
    job_ = CreateNoop("export");
    SetFinished(kFanOutMigration);
    publisher_ = NewPublisher();
  }
  void SetFinished(int level) {
    {
      MutexLock lock(stores_.tables.mu);
      stores_.tables.schema = {
          .known = kFanOutMigration, .applied = kFanOutMigration, .finished = level};
    }
    clock_.Advance(UpgradeWatch::kLookEvery);
    upgrade_.Step(clock_.Steady());
  }
  std::unique_ptr<Publisher> NewPublisher() {
    return std::make_unique<Publisher>(Publisher::Ports{.store = faults_.letters,
                                                        .producer = bus_,
                                                        .upgrade = upgrade_,
                                                        .cluster = cluster_,
                                                        .metrics = metrics_,
                                                        .is_leader = [this] { return leads_; },
                                                        .wake = [this] { ++wakes_; }},
                                       "letters", 1);
  }
  // Leaves the dead letter of a new run, and returns the id of the run.
  std::string Fail() {
    clock_.Advance(1ms);
    table_.Proved(table_.View()->FenceFor(table_.View()->Segments()), clock_.Steady());
    const HeldAttempt held = Claim(Execute(job_), ++token_);
    ResultReport report{.key = held.key,
                        .segment = job_.segment,
                        .job_no = job_.job_no,
                        .attempt = 1,
                        .token = held.token,
                        .executor = ExecutorId("x1")};
    report.result = {.state = RunState::kFailed, .reason = "exit_code", .ended = clock_.Wall()};
    report.result.error = error_;
    EXPECT_TRUE(stores_.firing
                    .ApplyResults({report}, table_.View()->FenceFor({job_.segment}), clock_.Wall())
                    .ok());
    return EncodeRunId(held.key);
  }
  std::vector<std::string> FailTimes(int times) {
    std::vector<std::string> runs;
    for (int i = 0; i < times; ++i) runs.push_back(Fail());
    return runs;
  }
  // Steps at most `steps` times at this moment, as long as the publisher wants to go on.
  SteadyTime Go(int steps = 1'000) {
    SteadyTime next = clock_.Steady();
    for (int i = 0; i < steps && next <= clock_.Steady(); ++i) {
      next = publisher_->Step(clock_.Steady());
    }
    EXPECT_GT(next, clock_.Steady()) << "it does not come to rest";
    return next;
  }
  // Lets `time` pass; returns how often it was stepped.
  int Pass(Duration time) {
    int steps = 0;
    for (const SteadyTime end = clock_.Steady() + time; clock_.Steady() < end; ++steps) {
      const SteadyTime next = publisher_->Step(clock_.Steady());
      clock_.Advance(std::clamp<Duration>(next - clock_.Steady(), 1ms, end - clock_.Steady()));
    }
    return steps;
  }
  size_t Unpublished() {
    const auto first = stores_.letters.BeginPublishing(clock_.Wall());
    return stores_.letters.ScanUnpublished(*first, 10'000)->letters.size();
  }
  uint64_t Count(const char* result) {
    return metrics_.counter("carillon_dead_letters_published_total", result).value();
  }
  double Waiting() { return metrics_.gauge("carillon_dead_letters_unpublished").value(); }

  StoredJob job_;
  std::string error_;  // of the runs that fail
  uint64_t token_ = 0;
  bool leads_ = true;
  int wakes_ = 0;
  AnsweringBus bus_;
  memory::MemoryEnsemble ensemble_;
  std::unique_ptr<Coordinator> coordinator_ = ensemble_.NewClient();
  UpgradeWatch upgrade_{{.coordinator = *coordinator_, .store = stores_.schema}};
  std::unique_ptr<Publisher> publisher_;
};

TEST_F(LetterPublisherTest, LettersAreSentInOrderAndMarkedWhenTheBusHasThem) {
  Fail();
  clock_.Advance(kLettersBeforeBegin + 1s);
  Go();
  EXPECT_EQ(bus_.tries, 0) << "older than the topic";
  const std::vector<std::string> runs = FailTimes(3);
  clock_.Advance(Publisher::kLookEvery);
  EXPECT_EQ(Go(), clock_.Steady() + Publisher::kAnswerWithin);
  EXPECT_EQ(bus_.Runs(), runs);
  EXPECT_EQ(bus_.sent[0].record.key, "export");
  EXPECT_EQ(bus_.sent[0].partition_key, bus_.sent[2].partition_key) << "one partition for a job";
  EXPECT_EQ(Unpublished(), 3u) << "not before the bus has them";
  EXPECT_EQ(Waiting(), 3);
  bus_.Answer();
  EXPECT_EQ(wakes_, 3);
  Go();
  EXPECT_EQ(Unpublished(), 0u);
  EXPECT_EQ(Count("sent"), 3u);
  EXPECT_EQ(Waiting(), 0);
  Pass(10s);
  EXPECT_EQ(bus_.tries, 3) << "each once";
}

TEST_F(LetterPublisherTest, ManyLettersGoInBatchesWithoutAPause) {
  Go();
  FailTimes(1'200);
  bus_.answers = true;
  clock_.Advance(Publisher::kLookEvery);
  Go();
  EXPECT_EQ(Count("sent"), 1'200u);
  EXPECT_EQ(Unpublished(), 0u);
}

// The bus keeps what it cannot deliver, and has limits.
TEST_F(LetterPublisherTest, FewLettersAndBytesWaitForTheBusAtATime) {
  Go();
  std::vector<std::string> runs = FailTimes(70);
  error_ = std::string(64 << 10, 'x');
  for (const std::string& run : FailTimes(40)) runs.push_back(run);
  error_ = std::string(2 << 20, 'x');
  runs.push_back(Fail());
  clock_.Advance(Publisher::kLookEvery);
  std::vector<std::string> sent;
  std::vector<size_t> batches;
  while (sent.size() < runs.size() && batches.size() < runs.size()) {
    Go();
    size_t bytes = 0;
    for (const AnsweringBus::Sent& one : bus_.sent) bytes += one.record.payload.size();
    EXPECT_TRUE(bytes <= Publisher::kBytesMax || bus_.sent.size() == 1);
    batches.push_back(bus_.sent.size());
    for (const std::string& run : bus_.Runs()) sent.push_back(run);
    bus_.Answer();
  }
  EXPECT_EQ(sent, runs);
  EXPECT_EQ(batches, (std::vector<size_t>{50, 35, 15, 10, 1}));
  Go();
  EXPECT_EQ(Unpublished(), 0u);
}

TEST_F(LetterPublisherTest, NothingIsSentByWhoDoesNotLeadOrBeforeTheUpgradeIsFinished) {
  Go();
  FailTimes(2);
  leads_ = false;
  Pass(10s);
  leads_ = true;
  SetFinished(kFanOutMigration - 1);
  Pass(10s);
  EXPECT_EQ(bus_.tries, 0);
  EXPECT_EQ(Waiting(), 0);
  SetFinished(kFanOutMigration);
  bus_.answers = true;
  Pass(2s);
  EXPECT_EQ(Count("sent"), 2u);
}

TEST_F(LetterPublisherTest, ALostAnswerIsWaitedForAndThenTheLetterIsSentAgain) {
  Go();
  const std::vector<std::string> runs = FailTimes(2);
  clock_.Advance(Publisher::kLookEvery);
  Go();
  bus_.sent[1].delivered(Status());
  EXPECT_LT(Pass(Publisher::kAnswerWithin - 1s), 3) << "no busy wait";
  EXPECT_EQ(bus_.tries, 2);
  const AnsweringBus::Sent lost = bus_.sent[0];
  bus_.sent.clear();
  Pass(2s + Publisher::kRetry.first);
  EXPECT_EQ(bus_.Runs(), std::vector{runs[0]}) << "what was confirmed is not sent again";
  // The first answer comes after all, and the second one never.
  lost.delivered(Status());
  Pass(2 * Publisher::kAnswerWithin);
  EXPECT_EQ(Unpublished(), 0u);
  EXPECT_EQ(Count("sent"), 2u);
}

TEST_F(LetterPublisherTest, ABusThatIsDownIsAskedLessAndLessOften) {
  Go();
  FailTimes(3);
  bus_.refusal = {ErrorCode::kUnavailable, "no broker has answered yet"};
  EXPECT_LT(Pass(10min), 200) << "steps";
  EXPECT_LT(bus_.tries, 50);
  EXPECT_GT(bus_.tries, 10);
  EXPECT_EQ(Waiting(), 3) << "seen while the bus is down";
  bus_.refusal = {};
  bus_.answers = true;
  Pass(Publisher::kRetry.longest + 1s);
  EXPECT_EQ(Count("sent"), 3u);
  EXPECT_EQ(Unpublished(), 0u);
}

TEST_F(LetterPublisherTest, WhatTheBusGivesUpIsSentAgain) {
  Go();
  const std::vector<std::string> runs = FailTimes(2);
  clock_.Advance(Publisher::kLookEvery);
  Go();
  bus_.Answer({ErrorCode::kDenied, "topic authorization failed"});
  Pass(1ms);
  EXPECT_EQ(bus_.tries, 2) << "not at once";
  Pass(2s);
  EXPECT_EQ(bus_.Runs(), runs);
  bus_.Answer();
  Go();
  EXPECT_EQ(Unpublished(), 0u);
  EXPECT_EQ(Count("refused"), 0u);
}

TEST_F(LetterPublisherTest, EachNewReasonIsLoggedOnce) {
  const std::string path = ::testing::TempDir() + "/letter_publisher_test.log";
  std::filesystem::remove(path);
  log::Configure({.level = log::Level::kInfo, .file = path});
  Go();
  FailTimes(2);
  bus_.refusal = {ErrorCode::kUnavailable, "no broker has answered yet"};
  Pass(2min);
  bus_.refusal = {ErrorCode::kDenied, "topic authorization failed"};
  Pass(2min);
  bus_.refusal = {};
  bus_.answers = true;
  Pass(1min);
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_NE(text.find("tried again: no broker has answered yet"), text.npos);
  EXPECT_NE(text.find("tried again: topic authorization failed"), text.npos);
  EXPECT_NE(text.find("topic letters takes letters again"), text.npos);
  log::Configure({});
}

TEST_F(LetterPublisherTest, ALetterThatTheClientRefusesIsMarkedAndTheOthersAreSent) {
  Go();
  const std::vector<std::string> runs = FailTimes(3);
  bus_.too_large = runs[1];
  bus_.answers = true;
  clock_.Advance(Publisher::kLookEvery);
  Go();
  EXPECT_EQ(bus_.Runs(), (std::vector{runs[0], runs[2]}));
  EXPECT_EQ(Count("sent"), 2u);
  EXPECT_EQ(Count("refused"), 1u);
  EXPECT_EQ(Unpublished(), 0u);
  Pass(1min);
  EXPECT_EQ(bus_.tries, 3) << "not for ever";
}

// A broker refuses all records that were sent to it together.
TEST_F(LetterPublisherTest, LettersThatTheBrokerRefusesTogetherAreSentOneByOne) {
  Go();
  const std::vector<std::string> runs = FailTimes(3);
  clock_.Advance(Publisher::kLookEvery);
  Go();
  bus_.Answer({ErrorCode::kInvalid, "message size too large"});
  std::vector<std::string> alone;
  for (int i = 0; i < 3; ++i) {
    Go();
    ASSERT_EQ(bus_.sent.size(), 1u);
    alone.push_back(bus_.sent[0].run());
    bus_.Answer(alone.back() == runs[1] ? Status(ErrorCode::kInvalid, "message size too large")
                                        : Status());
  }
  Go();
  EXPECT_EQ(alone, runs);
  EXPECT_EQ(Count("refused"), 1u);
  EXPECT_EQ(Count("sent"), 2u);
  EXPECT_EQ(Unpublished(), 0u);
  const std::vector<std::string> later = FailTimes(2);
  clock_.Advance(Publisher::kLookEvery);
  Go();
  EXPECT_EQ(bus_.Runs(), later) << "together again";
}

TEST_F(LetterPublisherTest, AMarkThatFailsIsTriedAgainBeforeAnythingElseIsSent) {
  Go();
  FailTimes(1);
  bus_.answers = true;
  faults_.plan.Arm("MarkPublished", test::Fault::kUnavailable, 2);
  clock_.Advance(Publisher::kLookEvery);
  Go();
  FailTimes(1);
  EXPECT_EQ(bus_.tries, 1);
  EXPECT_LT(Pass(20s), 60);
  EXPECT_EQ(bus_.tries, 2) << "each once";
  EXPECT_EQ(Unpublished(), 0u);
}

TEST_F(LetterPublisherTest, TheNextLeaderSendsWhatWasNotMarked) {
  Go();
  const std::vector<std::string> runs = FailTimes(2);
  clock_.Advance(Publisher::kLookEvery);
  Go();
  bus_.sent[0].delivered(Status());
  const AnsweringBus::Sent late = bus_.sent[1];
  bus_.sent.clear();
  leads_ = false;
  Go();
  EXPECT_EQ(Unpublished(), 1u) << "a last mark";
  publisher_ = NewPublisher();
  late.delivered(Status());  // the old one is gone
  leads_ = true;
  Go();
  EXPECT_EQ(bus_.Runs(), std::vector{runs[1]});
}

}  // namespace
}  // namespace carillon::scheduler
