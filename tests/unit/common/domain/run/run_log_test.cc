#include "common/domain/run/run_log.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

TEST(RunLogTest, EntriesComeBack) {
  const std::vector<LogEntry> entries = {
      {FromUnixMicros(1), LogStream::kStdout, "a\n"},
      {FromUnixMicros(-5), LogStream::kStderr, ""},
      {FromUnixMicros(1'772'323'200'000'000), LogStream::kCarillon, std::string("\0\xff", 2)}};
  std::string encoded;
  for (const LogEntry& entry : entries) AppendEntry(encoded, entry);
  const auto decoded = DecodeEntries(encoded, 3);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, entries);
}

TEST(RunLogTest, NonsenseIsCorrupt) {
  std::string encoded;
  AppendEntry(encoded, {FromUnixMicros(1), LogStream::kStdout, "text"});
  EXPECT_TRUE(DecodeEntries("", 0).ok());
  for (const uint32_t count : {0u, 2u, 4'000'000'000u}) {
    EXPECT_EQ(DecodeEntries(encoded, count).code(), ErrorCode::kCorrupt) << count;
  }
  for (size_t cut = 1; cut < encoded.size(); ++cut) {
    EXPECT_EQ(DecodeEntries(encoded.substr(0, cut), 1).code(), ErrorCode::kCorrupt) << cut;
  }
  std::string stream = encoded;
  stream[0] = 3;
  EXPECT_EQ(DecodeEntries(stream, 1).code(), ErrorCode::kCorrupt);
  std::string length = encoded;
  length[9] = '\xff';
  EXPECT_EQ(DecodeEntries(length, 1).code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace carillon
