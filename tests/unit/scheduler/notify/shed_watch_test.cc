#include "scheduler/notify/shed_watch.h"

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class ShedWatchTest : public test::RoomTest {
 protected:
  ShedWatchTest() {
    const RunRow run = Execute(CreateNoop("job"));
    first_ = {.kind = NoticeKind::kShed,
              .segment = run.segment,
              .job_no = run.job_no,
              .key = run.key,
              .state = RunState::kSkipped,
              .reason = std::string(reason::kShed)};
  }
  void Step() {
    clock_.Advance(ShedWatch::kLookEvery);
    SampleClock();
    watch_.Step(clock_.Steady());
  }
  size_t Notices() {
    return stores_.notices.ScanNotices(table_.View()->ActiveSegments(), 10)->size();
  }

  Notice first_;
  ShedStorm storm_;
  ShedWatch watch_{
      {.notices = faults_.notices, .cluster = cluster_, .segments = table_, .fences = fences_},
      [this] { return storm_; }};
};

TEST_F(ShedWatchTest, AStormIsToldOnce) {
  Step();
  EXPECT_EQ(Notices(), 0u);
  storm_.number = 1;
  Step();
  EXPECT_EQ(Notices(), 0u) << "nothing is shed yet";
  storm_.newest = first_;
  for (int i = 0; i < 5; ++i) Step();
  EXPECT_EQ(Notices(), 1u);
  const auto open = stores_.notices.ScanNotices(table_.View()->ActiveSegments(), 10);
  EXPECT_EQ(open->at(0).notice.kind, NoticeKind::kShed);
  EXPECT_EQ(open->at(0).job_id, JobId("job"));
}

TEST_F(ShedWatchTest, TheNextStormIsToldAgain) {
  storm_ = {.number = 1, .newest = first_};
  Step();
  storm_ = {.number = 2};
  Step();
  EXPECT_EQ(Notices(), 1u);
  storm_.newest = first_;
  storm_.newest->key.fire += 1s;
  Step();
  EXPECT_EQ(Notices(), 2u);
}

TEST_F(ShedWatchTest, ItIsToldOnceTheStoreAnswersAgain) {
  faults_.plan.Arm("AddNotices", ErrorCode::kUnavailable);
  storm_ = {.number = 1, .newest = first_};
  Step();
  EXPECT_EQ(Notices(), 0u);
  Step();
  EXPECT_EQ(Notices(), 1u);
}

}  // namespace
}  // namespace carillon::scheduler
