#include "common/wire/messages/log_codec.h"

#include <gtest/gtest.h>

#include "tests/unit/common/wire/wire_samples.h"

namespace carillon {
namespace {

LogMessage Sample() {
  LogMessage message;
  message.attempt = {.key = {.fire = FromUnixMicros(1'772'323'200'000'000),
                             .schedule_id = ScheduleId(7),
                             .shard = 2},
                     .segment = SegmentId(3),
                     .job_no = JobNo(9),
                     .attempt = 2,
                     .token = {.high = 1, .low = 2}};
  message.job_id = JobId("job-9");
  message.executor = ExecutorId("e1");
  message.chunk = {.first_seq = 5, .count = 2, .last = true};
  AppendEntry(message.chunk.entries, {.time = FromUnixMicros(1), .text = "a\n"});
  AppendEntry(message.chunk.entries,
              {.time = FromUnixMicros(2), .stream = LogStream::kStderr, .text = "\xff"});
  return message;
}

TEST(LogCodecTest, PiecesComeBack) {
  LogMessage end = Sample();
  end.chunk = {.first_seq = 7, .count = 0, .last = true};
  const auto decoded = DecodeLogs(EncodeLogs({Sample(), end}));
  ASSERT_TRUE(decoded.ok());
  ASSERT_EQ(decoded->size(), 2u);
  EXPECT_EQ(decoded->at(0).chunk, Sample().chunk);
  EXPECT_EQ(decoded->at(0).attempt.key, Sample().attempt.key);
  EXPECT_EQ(decoded->at(0).attempt.token, Sample().attempt.token);
  EXPECT_EQ(decoded->at(0).attempt.attempt, 2);
  EXPECT_EQ(decoded->at(0).executor, ExecutorId("e1"));
  EXPECT_EQ(decoded->at(0).job_id, JobId("job-9"));
  EXPECT_EQ(decoded->at(1).chunk, end.chunk);
}

TEST(LogCodecTest, NonsenseIsCorrupt) {
  const auto refused = [](const std::function<void(LogMessage&)>& spoil) {
    LogMessage message = Sample();
    spoil(message);
    const auto decoded = DecodeLogs(EncodeLogs({message}));
    return !decoded.ok() && decoded.code() == ErrorCode::kCorrupt;
  };
  EXPECT_FALSE(refused([](LogMessage&) {}));
  EXPECT_TRUE(refused([](LogMessage& m) { m.attempt.token = {}; }));
  EXPECT_TRUE(refused([](LogMessage& m) { m.attempt.attempt = 0; }));
  EXPECT_TRUE(refused([](LogMessage& m) { m.job_id = JobId("NO"); }));
  EXPECT_TRUE(refused([](LogMessage& m) { m.executor = ExecutorId("a b"); }));
  EXPECT_TRUE(refused([](LogMessage& m) { m.chunk.first_seq = 0; }));
  EXPECT_TRUE(refused([](LogMessage& m) { m.chunk.count = 3; }));
  EXPECT_TRUE(refused([](LogMessage& m) { m.chunk = {.first_seq = 1, .count = 0, .last = false}; }))
      << "a piece of nothing";
  EXPECT_TRUE(refused([](LogMessage& m) { m.chunk.entries.pop_back(); }));
  EXPECT_TRUE(refused([](LogMessage& m) {
    m.chunk.entries.clear();
    m.chunk.count = 1;
    AppendEntry(m.chunk.entries, {.text = std::string(kLogChunkBytesMax, 'x')});
  }));
  EXPECT_EQ(DecodeLogs("\x01garbage").code(), ErrorCode::kCorrupt);
  EXPECT_EQ(DecodeLogs(EncodeLogs(std::vector<LogMessage>(kBundleChunksMax + 1, Sample()))).code(),
            ErrorCode::kCorrupt);
}

TEST(LogCodecTest, PiecesOfSegmentsThatAreNotWantedAreLeftOut) {
  LogMessage other = Sample();
  other.attempt.segment = SegmentId(4);
  other.executor = ExecutorId("a b");
  const auto wanted = [](SegmentId segment) { return segment == SegmentId(3); };
  const auto decoded = DecodeLogs(EncodeLogs({other, Sample(), other}), wanted);
  ASSERT_TRUE(decoded.ok());
  ASSERT_EQ(decoded->size(), 1u);
  EXPECT_EQ(decoded->at(0).attempt.segment, SegmentId(3));
  EXPECT_EQ(DecodeLogs(EncodeLogs({other, Sample()})).code(), ErrorCode::kCorrupt);
}

TEST(LogCodecTest, MutantsAreRefusedOrWhole) {
  Rng rng(21);
  const std::string good = EncodeLogs({Sample(), Sample()});
  size_t accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (size_t n = 1 + rng.Below(3); n > 0; --n) {
      bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Next());
    }
    const auto decoded = DecodeLogs(bytes);
    if (!decoded.ok()) {
      ASSERT_EQ(decoded.code(), ErrorCode::kCorrupt);
      continue;
    }
    ++accepted;
    const auto again = DecodeLogs(EncodeLogs(*decoded));
    ASSERT_TRUE(again.ok());
    for (size_t k = 0; k < decoded->size(); ++k) {
      ASSERT_EQ(again->at(k).chunk, decoded->at(k).chunk);
    }
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, 20'000u);
}

}  // namespace
}  // namespace carillon
