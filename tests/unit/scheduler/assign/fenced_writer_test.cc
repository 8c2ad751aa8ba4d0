#include "scheduler/assign/fenced_writer.h"

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

// The memory store's segments, whose rows may be missing.
class HollowSegments final : public test::FaultSegmentStore {
 public:
  using FaultSegmentStore::FaultSegmentStore;
  Result<std::vector<SegmentRecord>> ReadEpochs(const std::vector<SegmentId>& segments) override {
    if (hollow) return std::vector<SegmentRecord>{};
    return FaultSegmentStore::ReadEpochs(segments);
  }
  bool hollow = false;
};

class FencedWriterTest : public test::RoomTest {
 protected:
  Fence Held() { return table_.View()->FenceFor(table_.View()->Segments()); }
  HollowSegments segments_{stores_.segments, faults_.plan};
  FencedWriter watch_{clock_, segments_, table_, metrics_};
};

TEST_F(FencedWriterTest, SegmentsWhoseEpochMovedAreDropped) {
  TakeAll("m2");
  EXPECT_TRUE(watch_.Check(Held()).ok());
  EXPECT_EQ(owned(), 0u);
}

// Rows may be missing while a dump is restored. This does not mean that another member has taken
// the segments.
TEST_F(FencedWriterTest, SegmentsWithoutARowAreNotTakenForLost) {
  segments_.hollow = true;
  EXPECT_EQ(watch_.Check(Held()).code(), ErrorCode::kBrokenStore);
  EXPECT_EQ(owned(), test::kSegments);
  segments_.hollow = false;
  EXPECT_TRUE(watch_.Check(Held()).ok());
}

}  // namespace
}  // namespace carillon::scheduler
