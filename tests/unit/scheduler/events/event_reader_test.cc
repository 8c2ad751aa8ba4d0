#include "scheduler/events/event_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/memory/memory_coordinator.h"
#include "common/base/log.h"
#include "common/ports/store/firing_store.h"
#include "scheduler/settings/new_fields.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

constexpr const char* kGroup = "carillon-events";

// Topics on a bus in memory.
class BusTopics final : public EventTopics {
 public:
  explicit BusTopics(memory::MemoryBus& bus) : bus_(bus) {}
  Result<std::unique_ptr<BusConsumer>> Open(const std::string& topic,
                                            const BusBegin& begin) override {
    ++opens;
    begins.push_back(begin);
    if (!refusal.ok()) return refusal.error();
    return bus_.NewConsumer(topic, kGroup, {}, begin);
  }
  Result<bool> HasGrown(const std::string&) override {
    ++looks;
    return std::exchange(grown, false);
  }

  int opens = 0;
  int looks = 0;
  bool grown = false;
  Status refusal;
  std::vector<BusBegin> begins;

 private:
  memory::MemoryBus& bus_;
};

class EventReaderTest : public test::RoomTest {
 protected:
  EventReaderTest() {
    SetFinished(kFanOutMigration);
    signals_.due.Connect([this](const ChangedWork& work) { ++due_[work.job_no]; });
    reader_ = NewReader();
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
  std::unique_ptr<EventReader> NewReader() {
    return std::make_unique<EventReader>(
        EventReader::Ports{.clock = clock_,
                           .store = faults_.events,
                           .topics = topics_,
                           .upgrade = upgrade_,
                           .cluster = cluster_,
                           .signals = signals_,
                           .metrics = metrics_,
                           .may_read = [this] { return leads_; },
                           .wake = [this] { ++wakes_; }},
        std::vector<EventTopic>{{"orders", "sales"}, {"stock", "default"}}, 1);
  }
  StoredJob Listen(const std::string& id, const std::string& type,
                   const std::string& name_space = "sales") {
    JobDefinition job;
    job.type = JobType::kNoop;
    job.name_space = name_space;
    job.schedules = {{.kind = ScheduleKind::kEvent, .event_type = type}};
    return CreateJob(id, job);
  }
  static std::string EventOf(int number, const std::string& type = "order.paid") {
    return fmt::format(R"({{"id": "{}", "source": "shop", "type": "{}"}})", number, type);
  }
  void SendText(const std::string& text, const std::string& topic = "orders", uint64_t key = 0) {
    EXPECT_TRUE(producer_->Send(topic, key, {.payload = text, .headers = {}}).ok());
  }
  void Send(int from, int to) {
    for (int i = from; i < to; ++i) SendText(EventOf(i), "orders", static_cast<uint64_t>(i));
  }
  // Steps at most `steps` times at this moment, as long as the reader wants to go on.
  SteadyTime Go(int steps = 1'000) {
    SteadyTime next = clock_.Steady();
    for (int i = 0; i < steps && next <= clock_.Steady(); ++i) {
      next = reader_->Step(clock_.Steady());
    }
    return next;
  }
  // Lets `time` pass; returns how often it was stepped.
  int Pass(Duration time) {
    int steps = 0;
    for (const SteadyTime end = clock_.Steady() + time; clock_.Steady() < end; ++steps) {
      const SteadyTime next = reader_->Step(clock_.Steady());
      clock_.Advance(std::clamp<Duration>(next - clock_.Steady(), 1ms, end - clock_.Steady()));
    }
    return steps;
  }
  // A new leader, after this one.
  void ChangeLeader() {
    leads_ = false;
    Go();
    reader_ = NewReader();
    leads_ = true;
  }
  size_t RunsOf(const StoredJob& job) {
    MutexLock lock(stores_.tables.mu);
    size_t runs = 0;
    for (const auto& [key, run] : stores_.tables.runs()) runs += run.row.job_no == job.job_no;
    return runs;
  }
  std::vector<EventRecord> Refused() {
    return stores_.events.ListEvents({.outcome = EventOutcome::kRefused, .limit = 500})->events;
  }
  uint64_t Count(const char* result) {
    return metrics_.counter("carillon_events_total", LabelValues({"topic", result})).value();
  }
  double Behind() { return metrics_.gauge("carillon_events_behind", "orders").value(); }

  bool leads_ = true;
  int wakes_ = 0;
  std::map<JobNo, int> due_;
  memory::MemoryBus bus_{{}, &clock_};
  std::unique_ptr<BusProducer> producer_ = bus_.NewProducer();
  BusTopics topics_{bus_};
  memory::MemoryEnsemble ensemble_;
  std::unique_ptr<Coordinator> coordinator_ = ensemble_.NewClient();
  UpgradeWatch upgrade_{{.coordinator = *coordinator_, .store = stores_.schema}};
  std::unique_ptr<EventReader> reader_;
};

TEST_F(EventReaderTest, EachEventOfATopicStartsTheRunsOfItsNamespaceOnce) {
  const StoredJob bill = Listen("bill", "order.*");
  const StoredJob elsewhere = Listen("elsewhere", "order.*", "default");
  const StoredJob refill = Listen("refill", "stock", "default");
  Go();
  Send(0, 250);
  EXPECT_GT(wakes_, 0);
  SendText(EventOf(1, "stock"), "stock");
  SendText(EventOf(2, "other"), "stock");
  Go();
  EXPECT_EQ(RunsOf(bill), 250u);
  EXPECT_EQ(RunsOf(elsewhere), 0u);
  EXPECT_EQ(RunsOf(refill), 1u);
  EXPECT_EQ(Count("started"), 251u);
  EXPECT_EQ(Count("no_match"), 1u);
  EXPECT_GT(due_[bill.job_no], 0);
  EXPECT_LT(due_[bill.job_no], 5) << "a look for a batch of runs";
  EXPECT_EQ(Behind(), 0);
  EXPECT_LT(Pass(10s), 50) << "no busy wait";
  ChangeLeader();
  Pass(10s);
  EXPECT_EQ(Count("duplicate"), 0u) << "the next leader goes on behind them";
  SendText(EventOf(7), "orders", 3);
  Pass(1s);
  EXPECT_EQ(Count("duplicate"), 1u);
  EXPECT_EQ(RunsOf(bill), 250u);
}

TEST_F(EventReaderTest, NothingIsReadByWhoDoesNotLeadOrBeforeTheUpgradeIsFinished) {
  const StoredJob bill = Listen("bill", "order.*");
  Go();
  leads_ = false;
  Send(0, 3);
  Pass(10s);
  leads_ = true;
  SetFinished(kFanOutMigration - 1);
  Pass(10s);
  EXPECT_EQ(RunsOf(bill), 0u);
  SetFinished(kFanOutMigration);
  Pass(1s);
  EXPECT_EQ(RunsOf(bill), 3u);
}

// The first leader decides where a topic begins, also for partitions without a record until then.
TEST_F(EventReaderTest, ATopicBeginsOnceAndAMinuteBeforeItIsFirstRead) {
  const StoredJob bill = Listen("bill", "order.*");
  SendText(EventOf(1));
  clock_.Advance(EventReader::kBeforeBegin + 1s);
  SendText(EventOf(2));
  clock_.Advance(1s);
  SampleClock();
  const WallTime begun = clock_.Wall() - EventReader::kBeforeBegin;
  Pass(1s);
  EXPECT_EQ(RunsOf(bill), 1u);
  leads_ = false;
  Pass(1s);
  clock_.Advance(1h);
  SampleClock();
  SendText(EventOf(3), "orders", 5);
  clock_.Advance(10min);
  SampleClock();
  ChangeLeader();
  Pass(1s);
  EXPECT_EQ(RunsOf(bill), 2u) << "sent while nobody led, and older than a minute";
  EXPECT_EQ(topics_.begins.back().at, begun);
  EXPECT_EQ(topics_.begins.back().of, BusBegin::Of::kNewGroup);
  leads_ = false;
  Pass(1s);
  clock_.Advance(100h);
  SampleClock();
  ChangeLeader();
  Pass(1ms);
  EXPECT_EQ(topics_.begins.back().at, clock_.Wall() - 1ms - EventReader::kReadAgainMax)
      << "nothing that the store has forgotten";
}

TEST_F(EventReaderTest, ARecordThatIsNoEventIsRefusedOnceAndTheOthersAreAccepted) {
  const StoredJob bill = Listen("bill", "order.*");
  Go();
  for (int i = 0; i < 100; ++i) {
    SendText(i == 57 ? R"({"id": "x", "source": ")" : EventOf(i));
  }
  SendText("");
  SendText(R"({"id": "y", "source": "shop", "type": "order.paid", "a\nb\u007f)" +
           std::string(2'000, 'a') + R"(": 1})");
  Go();
  EXPECT_EQ(RunsOf(bill), 99u);
  EXPECT_EQ(Count("refused"), 3u);
  const std::vector<EventRecord> refused = Refused();
  ASSERT_EQ(refused.size(), 3u);
  std::map<std::string, std::string> problems;
  for (const EventRecord& one : refused) {
    EXPECT_EQ(one.name_space, "sales");
    EXPECT_FALSE(one.problem.empty());
    EXPECT_LE(one.problem.size(), EventReader::kProblemBytesMax);
    EXPECT_EQ(std::ranges::count_if(one.problem, [](char c) { return c == '\n' || c == 0x7f; }), 0);
    problems[one.origin.id] = one.problem;
  }
  EXPECT_TRUE(problems.contains("orders/0/57"));
  EXPECT_TRUE(problems.contains("orders/0/100"));
  EXPECT_TRUE(problems.contains("orders/0/101"));
}

TEST_F(EventReaderTest, AnEventThatTheStoreRefusesAloneDoesNotKeepOutTheOthers) {
  const StoredJob bill = Listen("bill", "order.*");
  for (size_t i = 0; i <= kMatchesPerEvent; ++i) Listen("many" + std::to_string(i), "many");
  Go();
  for (int i = 0; i < 100; ++i) SendText(EventOf(i, i == 31 ? "many" : "order.paid"));
  Go();
  EXPECT_EQ(RunsOf(bill), 99u);
  const std::vector<EventRecord> refused = Refused();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].origin.id, "orders/0/31");
  EXPECT_EQ(refused[0].origin.type, "many");
}

TEST_F(EventReaderTest, FewRefusedRecordsAreStoredInAMinute) {
  Go();
  for (int i = 0; i < 250; ++i) SendText("no event");
  Go();
  EXPECT_EQ(Count("refused"), 250u);
  EXPECT_EQ(Refused().size(), 100u);
  Pass(61s);
  SendText("no event");
  Pass(1s);
  EXPECT_EQ(Refused().size(), 101u);
}

TEST_F(EventReaderTest, WhileTheStoreIsAwayTheSameRecordsAreTriedAgain) {
  const StoredJob bill = Listen("bill", "order.*");
  Go();
  Send(0, 150);
  SendText("no event");
  for (const char* call : {"Accept", "Refuse"}) {
    faults_.plan.ArmAlways(call, test::Fault::kUnavailable);
  }
  const int opens = topics_.opens;
  EXPECT_LT(Pass(10min), 60) << "less and less often";
  EXPECT_EQ(RunsOf(bill), 0u);
  faults_.plan.Recover();
  Pass(EventReader::kRetry.longest + 1s);
  EXPECT_EQ(RunsOf(bill), 150u);
  EXPECT_EQ(Refused().size(), 1u);
  EXPECT_EQ(topics_.opens, opens) << "the topic was not to blame";
}

// A limit of the server for statements, or a row that cannot be read, says nothing about an event.
TEST_F(EventReaderTest, AFaultOfTheStoreRefusesNoEvent) {
  const StoredJob bill = Listen("bill", "order.*");
  Go();
  int sent = 0;
  for (const ErrorCode code : {ErrorCode::kExhausted, ErrorCode::kCorrupt}) {
    Send(sent, sent + 5);
    sent += 5;
    faults_.plan.ArmAlways("Accept", test::Fault{code});
    Pass(10s);
    EXPECT_TRUE(Refused().empty()) << ErrorCodeName(code);
    faults_.plan.Recover();
    Pass(EventReader::kRetry.longest + 1s);
    EXPECT_EQ(RunsOf(bill), static_cast<size_t>(sent)) << ErrorCodeName(code);
  }
  EXPECT_EQ(Count("refused"), 0u);
}

TEST_F(EventReaderTest, ALostAnswerOfTheStoreStartsNothingTwice) {
  const StoredJob bill = Listen("bill", "order.*");
  Go();
  Send(0, 40);
  faults_.plan.Arm("Accept", test::Fault::kTimeoutAfter);
  Pass(1min);
  EXPECT_EQ(RunsOf(bill), 40u);
  EXPECT_EQ(Count("duplicate"), 40u);
  EXPECT_GT(due_[bill.job_no], 0) << "its runs are looked for now";
}

// Between reading and committing, at each call of the store.
TEST_F(EventReaderTest, TheNextLeaderHandlesWhatWasNotCommitted) {
  const StoredJob bill = Listen("bill", "order.*");
  Go();
  int sent = 0;
  for (const test::Fault& fault : {test::Fault::kUnavailable, test::Fault::kTimeoutAfter}) {
    for (const char* call : {"BeginTopic", "Accept", "Refuse"}) {
      Send(sent, sent + 20);
      SendText("no event");
      sent += 20;
      faults_.plan.ArmAlways(call, fault);
      ChangeLeader();
      Pass(2s);
      leads_ = false;
      Go();
      faults_.plan.Recover();
      leads_ = true;
      reader_ = NewReader();
      Pass(1s);
      EXPECT_EQ(RunsOf(bill), static_cast<size_t>(sent)) << call;
      EXPECT_EQ(Refused().size(), static_cast<size_t>(sent / 20)) << call;
    }
  }
}

TEST_F(EventReaderTest, NothingIsReadWhileTooManyRunsOfEventsWait) {
  const StoredJob bill = Listen("bill", "order.*");
  Send(0, 1);
  Pass(1s);
  {
    MutexLock lock(stores_.tables.mu);
    const auto first = stores_.tables.runs().begin()->second;
    for (int64_t i = 1; i <= kOpenEventRunsMax; ++i) {
      auto entry = first;
      entry.row.key.fire += Duration(i);
      stores_.tables.PutRun(std::move(entry));
    }
  }
  Pass(OpenEventRuns::kCountEvery);
  Send(1, 2);
  EXPECT_LT(Pass(1min), 200) << "no busy wait";
  EXPECT_EQ(Count("started"), 1u);
  EXPECT_EQ(Behind(), 1);
}

TEST_F(EventReaderTest, ATopicThatHasGrownIsOpenedAgain) {
  const StoredJob bill = Listen("bill", "order.*");
  Pass(1s);
  const int opens = topics_.opens;
  Pass(EventReader::kGrownEvery);
  EXPECT_EQ(topics_.opens, opens);
  EXPECT_EQ(topics_.looks, 2);
  topics_.grown = true;
  Send(0, 8);
  Pass(EventReader::kGrownEvery);
  EXPECT_EQ(topics_.opens, opens + 1);
  Send(8, 16);
  Pass(1s);
  EXPECT_EQ(RunsOf(bill), 16u);
  EXPECT_EQ(Count("duplicate"), 0u);
}

TEST_F(EventReaderTest, ATopicThatIsNotThereIsToldOnceAndTriedAgain) {
  const std::string path = ::testing::TempDir() + "/event_reader_test.log";
  std::filesystem::remove(path);
  log::Configure({.level = log::Level::kInfo, .file = path});
  const StoredJob bill = Listen("bill", "order.*");
  topics_.refusal = {ErrorCode::kNotFound, "kafka: read: unknown topic"};
  EXPECT_LT(Pass(10min), 2'000);
  EXPECT_LT(topics_.opens, 100) << "less and less often";
  Send(0, 2);
  topics_.refusal = {};
  Pass(EventReader::kRetry.longest + 1s);
  EXPECT_EQ(RunsOf(bill), 2u);
  log::Configure({});
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(text.find("topic orders is not read, and is tried again: kafka"), text.npos) << text;
  EXPECT_NE(text.find("topic orders is read again"), text.npos) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 4) << text;
}

}  // namespace
}  // namespace carillon::scheduler
