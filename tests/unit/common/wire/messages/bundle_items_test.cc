#include "common/wire/messages/bundle_items.h"

#include <gtest/gtest.h>

#include "carillon/v1/task.pb.h"
#include "tests/unit/common/wire/wire_samples.h"

namespace carillon::wire {
namespace {

constexpr int kSegmentField = v1::TaskResult::kSegmentFieldNumber;

// A bundle of one item with these bytes.
std::string BundleOf(const std::string& item) {
  std::string bundle(1, '\x0a');
  bundle += static_cast<char>(item.size());
  return bundle + item;
}

std::optional<SegmentId> SegmentIn(const std::string& item) {
  const std::string bundle = BundleOf(item);
  const auto items = ItemsOfBundle(bundle, kSegmentField);
  if (!items.ok() || items->size() != 1) {
    ADD_FAILURE() << "not one item";
    return std::nullopt;
  }
  EXPECT_EQ(items->at(0).bytes, item);
  return items->at(0).segment;
}

TEST(BundleItemsTest, SegmentsAreThoseOfTheResults) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    std::vector<ResultMessage> results;
    for (size_t n = rng.Below(20); n > 0; --n) results.push_back(test::RandomResult(rng));
    const std::string bundle = EncodeResults(results);
    const auto items = ItemsOfBundle(bundle, kSegmentField);
    ASSERT_TRUE(items.ok()) << "seed " << seed;
    ASSERT_EQ(items->size(), results.size()) << "seed " << seed;
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(items->at(i).segment, results[i].report.segment) << "seed " << seed;
      v1::TaskResult parsed;
      const std::string_view bytes = items->at(i).bytes;
      ASSERT_TRUE(parsed.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
      EXPECT_EQ(parsed.task_id(), EncodeRunId(results[i].report.key));
    }
  }
}

TEST(BundleItemsTest, SegmentIsWhatAParserWouldTake) {
  EXPECT_EQ(SegmentIn(""), SegmentId(0)) << "zero is not on the wire";
  EXPECT_EQ(SegmentIn("\x68\x07"), SegmentId(7));
  EXPECT_EQ(SegmentIn("\x68\x07\x68\x09"), SegmentId(9)) << "the last one counts";
  EXPECT_EQ(SegmentIn("\x68\x07\x6a\x01x"), SegmentId(7)) << "of another type: an unknown field";
  EXPECT_EQ(SegmentIn("\x68\x07\xc0\x38\x01\xc3\x38\xc4\x38"), SegmentId(7)) << "a later version";
}

TEST(BundleItemsTest, SegmentOfWhatNobodyOwnsIsNotSaid) {
  EXPECT_EQ(SegmentIn("\x68\xff\xff\x03"), SegmentId(65'535));
  EXPECT_EQ(SegmentIn("\x68\x80\x80\x04"), std::nullopt) << "65,536";
  EXPECT_EQ(SegmentIn("\x68"), std::nullopt) << "cut off";
  EXPECT_EQ(SegmentIn("\x68\x07\x0a\x05x"), std::nullopt) << "a field is longer than the item";
  EXPECT_EQ(SegmentIn("\x68\x07\x6c"), std::nullopt) << "the end of a group";
}

TEST(BundleItemsTest, BytesThatDoNotDivideAreCorrupt) {
  for (const std::string& bytes :
       {std::string("\x0a"), std::string("\x0a\x02x"), std::string("\x0c"), std::string(1, '\0'),
        std::string("\x0a\xff\xff\xff\xff\x0f"), std::string("\x0a\xff\xff\xff\xff\x07")}) {
    EXPECT_EQ(ItemsOfBundle(bytes, kSegmentField).code(), ErrorCode::kCorrupt);
  }
  EXPECT_TRUE(ItemsOfBundle("", kSegmentField)->empty());
  EXPECT_TRUE(ItemsOfBundle("\x10\x01", kSegmentField)->empty()) << "a field of a later version";
}

}  // namespace
}  // namespace carillon::wire
