#include "executor/journal/attempt_codec.h"

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "executor/warden/channel/warden_protocol.h"

namespace carillon::executor {
namespace {

AttemptEnded Sample() {
  AttemptEnded ended;
  ended.attempt = {.key = {FromUnixMicros(1'772'323'200'000'001), ScheduleId(77), 3},
                   .segment = SegmentId(9),
                   .job_no = JobNo(5),
                   .attempt = 2,
                   .token = {0x1234, 0x5678}};
  ended.job_id = JobId("nightly");
  ended.result = {.state = RunState::kFailed,
                  .reason = "exit_code",
                  .error = "exit code 3",
                  .exit_code = 3,
                  .started = FromUnixMicros(11),
                  .ended = FromUnixMicros(22),
                  .output = std::string("a\0\xff", 3),
                  .output_truncated = true};
  return ended;
}

void ExpectSame(const HeldAttempt& a, const HeldAttempt& b) {
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.segment, b.segment);
  EXPECT_EQ(a.job_no, b.job_no);
  EXPECT_EQ(a.attempt, b.attempt);
  EXPECT_EQ(a.token, b.token);
}

TEST(AttemptCodecTest, EndGoesThereAndBack) {
  AttemptEnded ended = Sample();
  for (const std::optional<int> code : {std::optional<int>(3), std::optional<int>()}) {
    ended.result.exit_code = code;
    ByteWriter out;
    PutEnded(out, ended);
    ByteReader in(out.bytes());
    const AttemptEnded back = GetEnded(in);
    EXPECT_TRUE(in.Finished());
    ExpectSame(back.attempt, ended.attempt);
    EXPECT_EQ(back.job_id, ended.job_id);
    EXPECT_EQ(back.result, ended.result);
  }
}

// The layouts are those of the versions on disk: a journal may be of an earlier or a later program.
TEST(AttemptCodecTest, StoredEndHasTheOldVersionUnlessItHasOutputs) {
  AttemptEnded ended = Sample();
  ByteWriter old;
  old.U32(1);
  PutEnded(old, ended);
  ByteWriter stored;
  PutStoredEnd(stored, ended);
  EXPECT_EQ(stored.bytes(), old.bytes());
  ended.result.outputs = {{"rows", "12"}, {"text", "a\nb"}};
  ByteWriter with;
  PutStoredEnd(with, ended);
  ByteReader in(with.bytes());
  EXPECT_EQ(GetStoredEnd(in).result, ended.result);
  EXPECT_TRUE(in.Finished());
  ByteReader version(with.bytes());
  EXPECT_EQ(version.U32(), 2u);
  ended.result.usage = ResourceUsage{1, 2, 3, 4};
  ByteWriter whole;
  PutStoredEnd(whole, ended);
  ByteReader read(whole.bytes());
  EXPECT_EQ(GetStoredEnd(read).result, ended.result);
  EXPECT_TRUE(read.Finished());
  EXPECT_EQ(ByteReader(whole.bytes()).U32(), 3u);
  ByteWriter later;
  later.U32(4);
  PutEndedWhole(later, ended);
  ByteReader unknown(later.bytes());
  GetStoredEnd(unknown);
  EXPECT_FALSE(unknown.Finished());
}

TEST(WardenProtocolTest, EndCarriesOutputsOnlyToADaemonThatTakesThem) {
  const auto received = [](const WardenMessage& message) {
    FrameReader reader;
    reader.Feed(EncodeFrame(message));
    WardenMessage back;
    EXPECT_TRUE(reader.Next(&back).value_or(false));
    return back;
  };
  AttemptEnded ended = Sample();
  EXPECT_TRUE(std::holds_alternative<warden_message::Ended>(
      WithParts(warden_message::Ended{ended}, EndParts::kOutputs)));
  ended.result.outputs = {{"a", "1"}};
  const auto without = received(warden_message::Ended{ended});
  EXPECT_EQ(std::get<warden_message::Ended>(without).ended.result.outputs, Outputs{});
  const auto with = received(WithParts(warden_message::Ended{ended}, EndParts::kOutputs));
  EXPECT_EQ(std::get<warden_message::EndedOutputs>(with).ended.result, ended.result);
  const auto listed = received(WithParts(warden_message::ListEnded{7, ended}, EndParts::kOutputs));
  EXPECT_EQ(std::get<warden_message::ListEndedOutputs>(listed).request, 7u);
  EXPECT_EQ(std::get<warden_message::ListEndedOutputs>(listed).ended.result, ended.result);
  ended.result.usage = ResourceUsage{1, 2, 3, 4};
  const auto whole = received(WithParts(warden_message::Ended{ended}, EndParts::kWhole));
  EXPECT_EQ(std::get<warden_message::EndedWhole>(whole).ended.result, ended.result);
  const auto all = received(WithParts(warden_message::ListEnded{7, ended}, EndParts::kWhole));
  EXPECT_EQ(std::get<warden_message::ListEndedWhole>(all).ended.result, ended.result);
}

TEST(WardenProtocolTest, StartGoesThereAndBackInAnyPieces) {
  StartAttempt start;
  start.attempt = Sample().attempt;
  start.command = "echo \0 x";
  start.env = {{"A", "1"}, {"B", ""}};
  start.timeout = 5s;
  start.kill_grace = 7s;
  start.lease_end = SteadyTime(99s);
  start.kill_at_lease_end = false;
  start.output_bytes_max = 123;
  start.job_id = JobId("j");
  const std::string bytes = EncodeFrame(warden_message::Start{start});
  FrameReader reader;
  WardenMessage message;
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    reader.Feed(bytes.substr(i, 1));
    const auto next = reader.Next(&message);
    ASSERT_TRUE(next.ok());
    ASSERT_FALSE(*next);
  }
  reader.Feed(bytes.substr(bytes.size() - 1) + EncodeFrame(warden_message::Leave{}));
  ASSERT_TRUE(*reader.Next(&message));
  const StartAttempt& back = std::get<warden_message::Start>(message).start;
  ExpectSame(back.attempt, start.attempt);
  EXPECT_EQ(back.command, start.command);
  EXPECT_EQ(back.env, start.env);
  EXPECT_EQ(back.timeout, start.timeout);
  EXPECT_EQ(back.kill_grace, start.kill_grace);
  EXPECT_EQ(back.lease_end, start.lease_end);
  EXPECT_EQ(back.kill_at_lease_end, start.kill_at_lease_end);
  EXPECT_EQ(back.output_bytes_max, start.output_bytes_max);
  EXPECT_EQ(back.job_id, start.job_id);
  ASSERT_TRUE(*reader.Next(&message));
  EXPECT_TRUE(std::holds_alternative<warden_message::Leave>(message));
}

TEST(WardenProtocolTest, MalformedFramesAreRefused) {
  const auto verdict = [](const std::string& bytes) {
    FrameReader reader;
    reader.Feed(bytes);
    WardenMessage message;
    const auto next = reader.Next(&message);
    return next.ok() ? ErrorCode::kInvalid : next.code();
  };
  EXPECT_EQ(verdict(std::string("\xff\xff\xff\xff\x01", 5)), ErrorCode::kCorrupt);  // too long
  EXPECT_EQ(verdict(std::string("\0\0\0\0", 4)), ErrorCode::kCorrupt);              // empty
  EXPECT_EQ(verdict(std::string("\x01\0\0\0\xc8", 5)), ErrorCode::kCorrupt);        // unknown type
  EXPECT_EQ(verdict(std::string("\x01\0\0\0\0", 5)), ErrorCode::kCorrupt);
  EXPECT_EQ(verdict(std::string("\x02\0\0\0\x07x", 6)), ErrorCode::kCorrupt);  // bytes left over
}

TEST(WardenProtocolTest, RandomChangesNeverCrash) {
  AttemptEnded full = Sample();
  full.result.outputs = {{"rows", "12"}};
  const std::string good = EncodeFrame(warden_message::Ended{Sample()}) +
                           EncodeFrame(warden_message::EndedOutputs{full}) +
                           EncodeFrame(warden_message::Renew{SteadyTime(5s), {Sample().attempt}});
  Rng rng(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string bad = good;
    for (uint64_t n = 1 + rng.Below(4); n > 0; --n) {
      bad[rng.Below(bad.size())] = static_cast<char>(rng.Below(256));
    }
    FrameReader reader;
    reader.Feed(bad.substr(0, rng.Below(bad.size() + 1)));
    WardenMessage message;
    for (;;) {
      const auto next = reader.Next(&message);
      if (!next.ok() || !*next) break;
    }
  }
}

}  // namespace
}  // namespace carillon::executor
