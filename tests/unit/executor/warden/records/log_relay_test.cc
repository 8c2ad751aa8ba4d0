#include "executor/warden/records/log_relay.h"

#include <gtest/gtest.h>

namespace carillon::executor {
namespace {

HeldAttempt Attempt(uint64_t no) {
  HeldAttempt held;
  held.key = {.fire = FromUnixMicros(1'772'323'200'000'000), .schedule_id = ScheduleId(no)};
  held.token = {.high = 1, .low = no};
  return held;
}

AttemptLog::Now Moment(Duration since) {
  return {SteadyTime(1s) + since, FromUnixMicros(1'000'000) + since};
}

TEST(LogRelayTest, LogsTakeTurns) {
  LogRelay relay;
  auto loud = relay.Open(Attempt(1), JobId("loud"));
  auto calm = relay.Open(Attempt(2), JobId("calm"));
  for (int i = 0; i < 20'000; ++i) loud->Append(OutputStream::kOut, "0123456789\n", Moment(0ms));
  calm->Append(OutputStream::kOut, "once\n", Moment(0ms));
  std::vector<std::string> order;
  while (auto output = relay.Take(Moment(1s).steady)) order.push_back(output->job_id.value());
  ASSERT_GE(order.size(), 3u);
  EXPECT_EQ(order[1], "calm");
  EXPECT_EQ(relay.NextDue(), SteadyTime::max());
}

TEST(LogRelayTest, LogIsForgottenWhenItsLastPieceIsConfirmed) {
  LogRelay relay;
  auto log = relay.Open(Attempt(1), JobId("j"));
  log->Append(OutputStream::kErr, "x\n", Moment(0ms));
  log->End(Moment(0ms));
  log.reset();
  const auto output = relay.Take(Moment(0ms).steady);
  ASSERT_TRUE(output);
  EXPECT_TRUE(output->chunk.last);
  EXPECT_EQ(relay.size(), 1u);
  relay.Confirm({{Attempt(2), 1}, {Attempt(1), 1}});
  EXPECT_EQ(relay.size(), 0u);
  EXPECT_EQ(relay.bytes(), 0u);
}

TEST(LogRelayTest, WhatEndedWithoutAByteIsForgottenAtOnce) {
  LogRelay relay;
  relay.Open(Attempt(1), JobId("j"))->End(Moment(0ms));
  relay.Open(Attempt(2), JobId("j"));
  relay.DropIfEmpty(Attempt(1));
  relay.DropIfEmpty(Attempt(2));  // still in use
  EXPECT_EQ(relay.size(), 1u);
}

TEST(LogRelayTest, OldestEndedLogsAreGivenUpWhenNobodyTakesThem) {
  LogRelay relay(100);
  relay.Open(Attempt(1), JobId("runs"))->Append(OutputStream::kOut, "0123456789\n", Moment(0ms));
  for (uint64_t no : {2u, 3u}) {
    auto log = relay.Open(Attempt(no), JobId("ended"));
    log->Append(OutputStream::kOut, "0123456789\n", Moment(0ms));
    log->End(Moment(0ms));
  }
  EXPECT_EQ(relay.bytes(), 72u);
  relay.Open(Attempt(4), JobId("new"));
  EXPECT_EQ(relay.bytes(), 48u);
  std::vector<std::string> left;
  while (auto output = relay.Take(Moment(1s).steady)) {
    left.push_back(output->job_id.value() + std::to_string(output->attempt.token.low));
  }
  EXPECT_EQ(left, (std::vector<std::string>{"runs1", "ended3"}));
  EXPECT_EQ(relay.TakeGivenUp(), 1u);
  EXPECT_EQ(relay.TakeGivenUp(), 0u);
}

}  // namespace
}  // namespace carillon::executor
