// Pieces of logs, from the warden to the bus and to their confirmation.
#include "executor/report/log_sender.h"
#include "tests/unit/executor/agent/daemon_fixture.h"

namespace carillon::executor {
namespace {

class DaemonLogTest : public DaemonFixture {
 protected:
  AttemptOutput Piece(uint64_t first_seq, const std::string& text) {
    AttemptOutput output;
    output.attempt.key = {.fire = FromUnixMicros(1'772'323'200'000'000),
                          .schedule_id = ScheduleId(7)};
    output.attempt.token = {.high = 1, .low = 2};
    output.job_id = JobId("job-7");
    output.chunk.first_seq = first_seq;
    output.chunk.count = 1;
    AppendEntry(output.chunk.entries, {.text = text});
    return output;
  }
  void Stored(const AttemptOutput& output) {
    link_.incoming.push_back(
        {MemberId("m1"), LogsStored{{{output.attempt, output.chunk.first_seq}}}});
  }
};

TEST_F(DaemonLogTest, PiecesAreSentInOrderAndConfirmedWhenStored) {
  warden_.events = {Piece(1, "a\n"), Piece(2, "b\n")};
  Step();
  ASSERT_EQ(bus_.logs.size(), 2u);
  EXPECT_EQ(bus_.logs[0].chunk.first_seq, 1u);
  EXPECT_EQ(bus_.logs[1].executor, ExecutorId("e1"));
  EXPECT_TRUE(warden_.confirmed.empty());
  Stored(Piece(1, ""));
  Step();
  ASSERT_EQ(warden_.confirmed.size(), 1u);
  EXPECT_EQ(warden_.confirmed[0].first_seq, 1u);
}

TEST_F(DaemonLogTest, SentAgainUntilSomebodySaysItIsStored) {
  warden_.events = {Piece(1, "a\n")};
  Step();
  clock_.Advance(LogSender::kResendFirst);
  Step();
  EXPECT_EQ(bus_.logs.size(), 2u);
  clock_.Advance(LogSender::kResendFirst);
  Step();
  EXPECT_EQ(bus_.logs.size(), 2u) << "less often each time";
  Stored(Piece(1, ""));
  Step();
  clock_.Advance(10min);
  Step();
  EXPECT_EQ(bus_.logs.size(), 2u);
}

TEST_F(DaemonLogTest, RefusedByTheBusItWaits) {
  bus_.refuse = true;
  warden_.events = {Piece(1, "a\n"), Piece(2, "b\n")};
  Step();
  EXPECT_TRUE(bus_.logs.empty());
  bus_.refuse = false;
  clock_.Advance(LogSender::kRetryAfter);
  Step();
  ASSERT_EQ(bus_.logs.size(), 2u);
  EXPECT_EQ(bus_.logs[0].chunk.first_seq, 1u);
}

TEST_F(DaemonLogTest, ToldTwiceByTheWardenItIsSentOnce) {
  warden_.events = {Piece(1, "a\n"), Piece(1, "a\n")};
  Step();
  EXPECT_EQ(bus_.logs.size(), 1u);
}

TEST_F(DaemonLogTest, ConfirmationWaitsForAWarden) {
  warden_.events = {Piece(1, "a\n")};
  Step();
  warden_.reachable = false;
  Stored(Piece(1, ""));
  Step();
  EXPECT_TRUE(warden_.confirmed.empty());
  warden_.reachable = true;
  clock_.Advance(LogSender::kRetryAfter);
  Step();
  EXPECT_EQ(warden_.confirmed.size(), 1u);
}

}  // namespace
}  // namespace carillon::executor
