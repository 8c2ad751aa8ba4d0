// Runs every decoder on mutations of valid bytes. A decoded value must stay the same when it is
// encoded and decoded again, so a decoder that accepts an unchecked value fails here or aborts.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"
#include "common/wire/messages/task_codec.h"
#include "tests/unit/common/wire/wire_samples.h"

namespace carillon {
namespace {

constexpr uint64_t kMutants = 20'000;

// Applies one to four changes: flip, overwrite, insert, delete, duplicate a piece, cut the end.
std::string Mutate(std::string bytes, Rng& rng) {
  for (size_t n = 1 + rng.Below(4); n > 0 && !bytes.empty(); --n) {
    const size_t at = rng.Below(bytes.size());
    const size_t length = 1 + rng.Below(std::min<size_t>(16, bytes.size() - at));
    switch (rng.Below(6)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.Below(8))); break;
      case 1: bytes[at] = static_cast<char>(rng.Next()); break;
      case 2: bytes.insert(at, 1, static_cast<char>(rng.Next())); break;
      case 3: bytes.erase(at, length); break;
      case 4: bytes.insert(at, bytes.substr(at, length)); break;
      case 5: bytes.resize(at); break;
    }
  }
  return bytes;
}

TEST(DecoderMutationTest, TasksAreRefusedOrWhole) {
  Rng rng(11);
  uint64_t accepted = 0;
  for (uint64_t i = 0; i < kMutants; ++i) {
    const auto format = i % 2 == 0 ? BusFormat::kBinary : BusFormat::kJson;
    const auto tasks = DecodeTasks(Mutate(EncodeTasks({test::RandomTask(rng)}, format), rng));
    if (!tasks.ok()) {
      ASSERT_EQ(tasks.code(), ErrorCode::kCorrupt);
      continue;
    }
    ++accepted;
    const auto again = DecodeTasks(EncodeTasks(*tasks));
    ASSERT_TRUE(again.ok()) << "mutant " << i;
    ASSERT_EQ(*again, *tasks) << "mutant " << i;
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, kMutants);
}

TEST(DecoderMutationTest, ResultsAreRefusedOrWhole) {
  Rng rng(12);
  uint64_t accepted = 0;
  for (uint64_t i = 0; i < kMutants; ++i) {
    const auto format = i % 2 == 0 ? BusFormat::kBinary : BusFormat::kJson;
    const auto results =
        DecodeResults(Mutate(EncodeResults({test::RandomResult(rng)}, format), rng));
    if (!results.ok()) {
      ASSERT_EQ(results.code(), ErrorCode::kCorrupt);
      continue;
    }
    ++accepted;
    const std::string bytes = EncodeResults(*results);
    const auto again = DecodeResults(bytes);
    ASSERT_TRUE(again.ok()) << "mutant " << i;
    ASSERT_EQ(EncodeResults(*again), bytes) << "mutant " << i;
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, kMutants);
}

// A member that skips the results of other segments must find the same results for its own segments
// as a member that reads everything. A bundle that it refuses must be refused by all members.
TEST(DecoderMutationTest, ResultsThatAreLeftOutAreThoseOfOtherSegments) {
  Rng rng(15);
  uint64_t accepted = 0;
  for (uint64_t i = 0; i < kMutants; ++i) {
    std::vector<ResultMessage> sent = {test::RandomResult(rng)};
    const bool as_json = rng.Chance(0.3);
    while (!as_json && rng.Chance(0.6)) sent.push_back(test::RandomResult(rng));
    std::string bytes = EncodeResults(sent, as_json ? BusFormat::kJson : BusFormat::kBinary);
    if (rng.Chance(0.8)) bytes = Mutate(std::move(bytes), rng);
    const uint64_t owned = rng.Next();  // one bit per segment
    const auto wanted = [&](SegmentId segment) {
      return (owned >> (segment.value() % 64) & 1) != 0;
    };
    std::vector<Error> unreadable;
    std::vector<Error> unreadable_here;
    auto all = DecodeResults(bytes, &unreadable);
    const auto here = DecodeResults(bytes, &unreadable_here, wanted);
    if (!all.ok() || !here.ok()) {
      ASSERT_TRUE(here.ok() || here.code() == ErrorCode::kCorrupt);
      ASSERT_EQ(all.ok(), here.ok()) << "mutant " << i;
      continue;
    }
    accepted += all->size();
    std::erase_if(*all,
                  [&](const ResultMessage& message) { return !wanted(message.report.segment); });
    ASSERT_EQ(EncodeResults(*here), EncodeResults(*all)) << "mutant " << i;
    ASSERT_LE(unreadable_here.size(), unreadable.size()) << "mutant " << i;
  }
  EXPECT_GT(accepted, 0u);
}

TEST(DecoderMutationTest, JobsAreRefusedOrWhole) {
  Rng rng(13);
  uint64_t accepted = 0;
  for (uint64_t i = 0; i < kMutants / 4; ++i) {
    const std::string text = Mutate(DefinitionToText(test::RandomJob(rng)), rng);
    const auto job = ParseJobText(text);
    if (!job.ok()) {
      ASSERT_EQ(job.code(), ErrorCode::kInvalid) << text;
      continue;
    }
    ++accepted;
    const auto again = DefinitionFromText(DefinitionToText(job->definition), JobId(job->job_id));
    ASSERT_TRUE(again.ok()) << text;
    ASSERT_EQ(*again, job->definition) << text;
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, kMutants / 4);
}

TEST(DecoderMutationTest, NoiseIsNoBundle) {
  Rng rng(14);
  for (uint64_t i = 0; i < kMutants; ++i) {
    std::string noise;
    for (size_t n = 1 + rng.Below(64); n > 0; --n) noise += static_cast<char>(rng.Next());
    const auto tasks = DecodeTasks(noise);
    ASSERT_TRUE(!tasks.ok() || tasks->empty());
    const auto results = DecodeResults(noise);
    ASSERT_TRUE(!results.ok() || results->empty());
    const auto document = ParseJsonText(ToValidUtf8(noise));
    if (!document.ok()) continue;
    EXPECT_TRUE(ParseJsonText(JsonToText(*document)).ok());
  }
}

}  // namespace
}  // namespace carillon
