#include "scheduler/logs/log_keeper.h"

#include <gtest/gtest.h>

#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/memory/memory_link.h"
#include "common/wire/messages/record_sender.h"
#include "tests/support/faults/fault_stores.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_stores.h"

namespace carillon::scheduler {
namespace {

// A store in which every attempt has the token of Piece and belongs to x1.
class LogsOfX1 final : public test::FaultLogStore {
 public:
  using FaultLogStore::FaultLogStore;
  Result<std::vector<size_t>> FindForeign(const std::vector<LogOrigin>& all) override {
    const auto find = [](LogStore&, const auto& origins) -> Result<std::vector<size_t>> {
      std::vector<size_t> found;
      for (size_t i = 0; i < origins.size(); ++i) {
        const bool of_x1 = origins[i].executor == ExecutorId("x1");
        if (!of_x1 || origins[i].token != ClaimToken{1, 2}) found.push_back(i);
      }
      return found;
    };
    return Call("FindForeign", find, all);
  }
};

struct FirstSegment final : AssignedSegments {
  bool Wants(SegmentId segment) const override { return segment == SegmentId(0); }
};

class LogKeeperTest : public ::testing::Test {
 protected:
  LogKeeperTest()
      : hub_(switchboard_.OpenHub(MemberId("m1"))),
        link_(switchboard_.OpenLink(ExecutorId("x1"), Incarnation("e1"))),
        logs_(bus_.NewConsumer(kLogsTopic, "m1")),
        producer_(bus_.NewProducer()),
        keeper_({.clock = clock_,
                 .store = store_,
                 .logs = *logs_,
                 .executors = executors_,
                 .hub = *hub_,
                 .metrics = metrics_,
                 .assigned = assigned_},
                {}) {
    executors_.Accept({.id = ExecutorId("x1"), .incarnation = Incarnation("e1")}, clock_.Steady());
  }
  LogMessage Piece(uint64_t first_seq) {
    LogMessage message;
    message.attempt = {
        .key = {.fire = FromUnixMicros(1'772'323'200'000'000), .schedule_id = ScheduleId(7)},
        .segment = SegmentId(0),
        .job_no = JobNo(1),
        .token = {.high = 1, .low = 2}};
    message.job_id = JobId("job");
    message.executor = ExecutorId("x1");
    message.chunk = {.first_seq = first_seq, .count = 1};
    AppendEntry(message.chunk.entries, {.text = "x\n"});
    return message;
  }
  void Send(const std::vector<LogMessage>& messages) {
    ASSERT_TRUE(producer_->Send(kLogsTopic, 0, {.payload = EncodeLogs(messages)}).ok());
  }
  std::vector<uint64_t> Answered() {
    std::vector<uint64_t> firsts;
    for (MemberMessage& message : link_->Receive(100)) {
      if (auto* stored = std::get_if<LogsStored>(&message.message)) {
        for (const StoredOutput& one : stored->stored) firsts.push_back(one.first_seq);
      }
    }
    return firsts;
  }
  std::vector<uint64_t> Stored() {
    std::vector<uint64_t> firsts;
    const auto chunks = stores_.logs.ReadLog(Piece(1).attempt.key, 1, 1, 1u << 20);
    for (const LogChunk& chunk : *chunks) firsts.push_back(chunk.first_seq);
    return firsts;
  }

  using Seqs = std::vector<uint64_t>;
  test::ManualClock clock_;
  Metrics metrics_;
  memory::MemoryStores stores_{clock_, {.segment_count = 4}};
  test::FaultPlan faults_;
  LogsOfX1 store_{stores_.logs, faults_};
  memory::MemoryBus bus_;
  memory::MemorySwitchboard switchboard_;
  ExecutorTable executors_{{}};
  std::unique_ptr<ExecutorHub> hub_;
  std::unique_ptr<ExecutorLink> link_;
  std::unique_ptr<BusConsumer> logs_;
  std::unique_ptr<BusProducer> producer_;
  FirstSegment assigned_;
  LogKeeper keeper_;
};

TEST_F(LogKeeperTest, StoresAndAnswers) {
  Send({Piece(1), Piece(2)});
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Stored(), (Seqs{1, 2}));
  EXPECT_EQ(Answered(), (Seqs{1, 2}));
  EXPECT_EQ(bus_.size(), 0u) << "committed";
}

TEST_F(LogKeeperTest, PiecesOfOtherMembersAreLeftToThem) {
  LogMessage other = Piece(1);
  other.attempt.segment = SegmentId(1);
  Send({other});
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(faults_.calls("AppendLogs"), 0);
  EXPECT_EQ(Answered(), Seqs());
  EXPECT_EQ(bus_.size(), 0u);
}

TEST_F(LogKeeperTest, PieceOfAnotherMemberIsNotDecodedAndSpoilsNothing) {
  LogMessage other = Piece(1);
  other.attempt.segment = SegmentId(1);
  other.chunk.count = 3;  // more entries than the piece contains
  Send({other, Piece(2)});
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Stored(), (Seqs{2}));
  EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "corrupt").value(), 0u);
  other.attempt.segment = SegmentId(0);
  Send({other, Piece(3)});
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Stored(), (Seqs{2}));
  EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "corrupt").value(), 1u);
}

TEST_F(LogKeeperTest, APieceOfAnAttemptThatItsSenderWasNotGivenIsAnsweredAndDropped) {
  LogMessage forged = Piece(1);
  forged.attempt.token.low = 99;
  Send({forged, Piece(4)});
  faults_.Arm("FindForeign", ErrorCode::kUnavailable);
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Answered(), Seqs()) << "nothing is decided while the store does not answer";
  EXPECT_EQ(faults_.calls("AppendLogs"), 0);
  clock_.Advance(5s);
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Stored(), (Seqs{4}));
  EXPECT_EQ(Answered(), (Seqs{1, 4}));
  EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "foreign").value(), 1u);
  Send({Piece(1)});
  clock_.Advance(5s);
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Stored(), (Seqs{1, 4})) << "nothing stands in the way of the real one";
}

TEST_F(LogKeeperTest, TheLinkSaysWhoHasSentAPieceWhateverItSaysItself) {
  BusRecord record{.payload = EncodeLogs({Piece(1)})};
  SetSender(record, ExecutorId("evil"));
  ASSERT_TRUE(producer_->Send(kLogsTopic, 0, std::move(record)).ok());
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Stored(), Seqs());
  EXPECT_EQ(Answered(), Seqs()) << "the answer is not for x1";
}

TEST_F(LogKeeperTest, StoreThatIsAwayIsAskedAgainAndNothingIsAnsweredBefore) {
  faults_.Arm("AppendLogs", ErrorCode::kUnavailable);
  Send({Piece(1)});
  const SteadyTime again = keeper_.Step(clock_.Steady());
  EXPECT_GT(again, clock_.Steady());
  EXPECT_EQ(keeper_.Step(clock_.Steady()), again);
  EXPECT_EQ(faults_.calls("AppendLogs"), 1);
  EXPECT_EQ(Answered(), Seqs());
  EXPECT_EQ(bus_.size(), 1u) << "not committed";
  Send({Piece(2)});
  clock_.Advance(again - clock_.Steady());
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Stored(), (Seqs{1}));
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Stored(), (Seqs{1, 2}));
  EXPECT_EQ(Answered(), (Seqs{1, 2}));
}

TEST_F(LogKeeperTest, OnePieceThatIsRefusedDoesNotStopTheOthers) {
  faults_.Refuse<LogRecord>([](const LogRecord& record) {
    const auto& chunk = record.chunk;
    return chunk.first_seq == 3 &&
           DecodeEntries(chunk.entries, chunk.count)->at(0).stream != LogStream::kCarillon;
  });
  Send({Piece(1), Piece(2), Piece(3), Piece(4)});
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Stored(), (Seqs{1, 2, 3, 4}));
  const auto chunks = stores_.logs.ReadLog(Piece(3).attempt.key, 1, 3, 1);
  EXPECT_EQ(DecodeEntries(chunks->at(0).entries, 1)->at(0).stream, LogStream::kCarillon)
      << "the log says that something is missing";
  EXPECT_EQ(Answered().size(), 4u) << "else it would be sent for ever";
  EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "unwritable").value(), 1u);
}

TEST_F(LogKeeperTest, PieceInWhosePlaceNothingIsTakenIsNotAnsweredAndStopsNobody) {
  faults_.Refuse<LogRecord>([](const LogRecord& record) { return record.chunk.first_seq == 3; });
  Send({Piece(1), Piece(2), Piece(3), Piece(4)});
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Stored(), (Seqs{1, 2, 4}));
  EXPECT_EQ(Answered(), (Seqs{1, 2, 4})) << "its executor keeps it";
  EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "unwritable").value(), 1u);
  EXPECT_EQ(bus_.size(), 0u);
}

TEST_F(LogKeeperTest, StoreThatRefusesEverythingIsAnsweredForNothing) {
  for (const ErrorCode code : {ErrorCode::kBrokenStore, ErrorCode::kInvalid, ErrorCode::kCorrupt}) {
    faults_.ArmAlways("AppendLogs", code);
    Send({Piece(1), Piece(2), Piece(3), Piece(4), Piece(5)});
    for (int i = 0; i < 10; ++i) {
      keeper_.Step(clock_.Steady());
      clock_.Advance(100ms);
    }
    EXPECT_EQ(Answered(), Seqs()) << ErrorCodeName(code);
    EXPECT_EQ(bus_.size(), 1u) << "not committed";
    EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "unwritable").value(), 0u);
    faults_.Recover();
    clock_.Advance(1s);
    keeper_.Step(clock_.Steady());
    EXPECT_EQ(Answered().size(), 5u) << ErrorCodeName(code);
    EXPECT_EQ(bus_.size(), 0u);
  }
}

TEST_F(LogKeeperTest, GarbageIsCountedAndPassedOver) {
  ASSERT_TRUE(producer_->Send(kLogsTopic, 0, {.payload = "\x01nonsense"}).ok());
  Send({Piece(1)});
  keeper_.Step(clock_.Steady());
  EXPECT_EQ(Stored(), (Seqs{1}));
  EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "corrupt").value(), 1u);
  EXPECT_EQ(bus_.size(), 0u);
}

}  // namespace
}  // namespace carillon::scheduler
