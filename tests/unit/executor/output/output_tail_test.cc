#include "executor/output/output_tail.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace carillon::executor {
namespace {

using enum OutputStream;

TEST(OutputTailTest, KeepsTheOrderOfBothStreams) {
  OutputTail tail(100);
  tail.Append(kOut, "a\n");
  tail.Append(kErr, "b\n");
  tail.Append(kErr, "c\n");
  tail.Append(kOut, "d\n");
  EXPECT_EQ(tail.Render(), "a\nb\nc\nd\n");
  EXPECT_FALSE(tail.truncated());
}

TEST(OutputTailTest, LinesOfWindowsLoseTheirCr) {
  OutputTail tail(100);
  tail.Append(kOut, "a\r");
  tail.Append(kOut, "\n10%\r20%\r\n");
  EXPECT_EQ(tail.Render(), "a\n10%\r20%\n");
}

TEST(OutputTailTest, ExampleOfTheHeader) {
  OutputTail tail(4);
  tail.Append(kOut, "ab");
  tail.Append(kErr, "X");
  tail.Append(kOut, "cdef");
  EXPECT_EQ(tail.Render(), "X\n[carillon: the first 2 bytes of stdout were cut]\ncdef");
  EXPECT_TRUE(tail.truncated());
}

TEST(OutputTailTest, ExactlyFullIsNotCut) {
  OutputTail tail(4);
  tail.Append(kOut, "abcd");
  EXPECT_FALSE(tail.truncated());
  tail.Append(kOut, "e");
  EXPECT_EQ(tail.Render(), "[carillon: the first 1 bytes of stdout were cut]\nbcde");
}

TEST(OutputTailTest, PieceLargerThanTheLimitKeepsItsEnd) {
  OutputTail tail(3);
  tail.Append(kErr, "abcdefgh");
  EXPECT_EQ(tail.Render(), "[carillon: the first 5 bytes of stderr were cut]\nfgh");
}

// Compares with a simple model that keeps every byte and cuts at the end.
TEST(OutputTailTest, AgreesWithAPlainModel) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    const size_t limit = 1 + rng.Below(40);
    OutputTail tail(limit);
    std::string all[2];
    std::vector<std::pair<int, char>> order;
    for (int i = 0; i < 60; ++i) {
      const int which = static_cast<int>(rng.Below(2));
      std::string piece;
      for (uint64_t n = rng.Below(12); n > 0; --n) {
        piece.push_back(static_cast<char>('a' + rng.Below(26)));
      }
      tail.Append(which == 0 ? kOut : kErr, piece);
      all[which] += piece;
      for (const char c : piece) order.emplace_back(which, c);
    }
    std::string expected;
    size_t seen[2] = {0, 0};
    for (const auto& [which, c] : order) {
      const size_t cut = all[which].size() - std::min(limit, all[which].size());
      if (seen[which]++ >= cut) expected.push_back(c);
    }
    std::string got;
    std::string text = tail.Render();
    for (size_t at = 0; at < text.size();) {
      if (text.compare(at, 10, "[carillon:") == 0) {
        at = text.find('\n', at) + 1;
      } else if (text[at] == '\n') {
        ++at;
      } else {
        got.push_back(text[at++]);
      }
    }
    ASSERT_EQ(got, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace carillon::executor
