#include "scheduler/assign/fenced_writer.h"

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

// The memory store's segments, whose rows may be missing.
class HollowSegments final : public SegmentStore {
 public:
  explicit HollowSegments(SegmentStore& store) : store_(store) {}
  Result<WallTime> Now() override { return store_.Now(); }
  Result<TakenSegments> Take(const TakeRequest& request) override { return store_.Take(request); }
  Status Release(const Fence& fence) override { return store_.Release(fence); }
  Result<std::vector<SegmentRecord>> ReadEpochs(const std::vector<SegmentId>& segments) override {
    if (hollow) return std::vector<SegmentRecord>{};
    return store_.ReadEpochs(segments);
  }
  Result<std::vector<SegmentRecord>> ListSegments() override { return store_.ListSegments(); }
  bool hollow = false;

 private:
  SegmentStore& store_;
};

class FencedWriterTest : public test::RoomTest {
 protected:
  Fence Held() { return table_.View()->FenceFor(table_.View()->Segments()); }
  HollowSegments segments_{stores_.segments};
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
