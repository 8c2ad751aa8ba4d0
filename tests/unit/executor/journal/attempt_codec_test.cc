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
                  .output_truncated = true,
                  .outputs = {{"rows", "12"}, {"text", "a\nb"}},
                  .usage = ResourceUsage{1, 2, 3, 4}};
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

TEST(AttemptCodecTest, StoredEndOfAnotherVersionIsNotRead) {
  ByteWriter stored;
  PutStoredEnd(stored, Sample());
  ByteReader in(stored.bytes());
  EXPECT_EQ(GetStoredEnd(in).result, Sample().result);
  EXPECT_TRUE(in.Finished());
  ByteWriter later;
  later.U32(kAttemptCodecVersion + 1);
  PutEnded(later, Sample());
  ByteReader unknown(later.bytes());
  GetStoredEnd(unknown);
  EXPECT_FALSE(unknown.Finished());
}

TEST(WardenProtocolTest, StartKeepsEverythingThatItMayHave) {
  StartAttempt start;
  start.masked = {"hunter22"};
  start.limits = Limits{.memory_mb = 64, .cpu = 0.5};
  start.script = {.interpreter = "/bin/sh", .suffix = ".sh", .args = {"a"}};
  start.user = ProcessUser{.name = "alice", .uid = 7, .gid = 8, .groups = {9}, .home = "/h"};
  start.container.emplace();
  start.container->engine = "/usr/bin/docker";
  start.container->definition.image = "alpine";
  const size_t without_directory = EncodeFrame(warden_message::Start{start}).size();
  start.working_directory = "/srv";
  FrameReader reader;
  reader.Feed(EncodeFrame(warden_message::Start{start}));
  WardenMessage message;
  ASSERT_TRUE(reader.Next(&message).value_or(false));
  const StartAttempt& back = std::get<warden_message::Start>(message).start;
  EXPECT_EQ(back.working_directory, "/srv");
  EXPECT_EQ(EncodeFrame(warden_message::Start{start}).size(), without_directory + 4 + 4)
      << "a start without one is the same as before";
  StartAttempt encoded;
  encoded.output_encoding = "gb18030";
  reader.Feed(EncodeFrame(warden_message::Start{encoded}));
  WardenMessage other;
  ASSERT_TRUE(reader.Next(&other).value_or(false));
  EXPECT_EQ(std::get<warden_message::Start>(other).start.working_directory, "");
  EXPECT_EQ(std::get<warden_message::Start>(other).start.output_encoding, "gb18030");
  EXPECT_EQ(back.masked, start.masked);
  EXPECT_EQ(back.limits, start.limits);
  EXPECT_EQ(back.script->args, start.script->args);
  EXPECT_EQ(back.script->suffix, start.script->suffix);
  EXPECT_EQ(back.user, start.user);
  EXPECT_EQ(back.container->engine, start.container->engine);
  EXPECT_EQ(back.container->definition, start.container->definition);
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
  const std::string good = EncodeFrame(warden_message::Ended{Sample()}) +
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
