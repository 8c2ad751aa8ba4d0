// Fixture with an owner of segments on memory adapters, and the loop of session proofs.
#pragma once

#include "common/adapters/memory/memory_coordinator.h"
#include "scheduler/assign/segment_owner.h"
#include "scheduler/assign/session_proof.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {

// A store whose clock may be wrong.
class SkewedSegments final : public test::FaultSegmentStore {
 public:
  using FaultSegmentStore::FaultSegmentStore;
  Duration clock_error{};

  Result<WallTime> Now() override {
    CARILLON_ASSIGN_OR_RETURN(const WallTime now, FaultSegmentStore::Now());
    return now + clock_error;
  }
};

class SegmentOwnerTest : public ::testing::Test {
 protected:
  SegmentOwnerTest() : coordinator_(ensemble_.NewClient()) {
    EXPECT_TRUE(coordinator_->Join({.id = MemberId("m1"), .incarnation = Incarnation("i1")}).ok());
    table_.OnChange([this] { ++changes_; });
  }
  ~SegmentOwnerTest() override { failpoint::Reset(); }

  void SetAway() { faults_.ArmAlways("*", ErrorCode::kUnavailable); }
  // Assigns all four segments to `member`; the last one to `of_the_last`, if that is given.
  void Assign(const std::string& member, const std::string& of_the_last = {}) {
    Assignment assignment{.generation = Generation(++generation_)};
    for (uint32_t n = 0; n < 4; ++n) assignment.owners[SegmentId(n)] = MemberId(member);
    if (!of_the_last.empty()) assignment.owners[SegmentId(3)] = MemberId(of_the_last);
    ASSERT_TRUE(coordinator_->WriteAssignment(assignment).ok());
  }
  void StepOwner(Duration ahead = 1s) {
    clock_.Advance(ahead);
    owner_.Step(clock_.Steady());
  }
  void Step(Duration ahead = 1s) {
    StepOwner(ahead);
    session_.Step(clock_.Steady());
  }
  size_t owned() const { return table_.View()->all().size(); }
  void ActivateAll() {
    const auto view = table_.View();
    table_.Activate(view->FenceFor(view->Segments()));
  }
  bool MayRenew() {
    const OwnedSegment& first = table_.View()->all().at(0);
    return table_.MayRenew(first.segment, first.epoch, clock_.Steady());
  }

  test::ManualClock clock_;
  memory::MemoryStores stores_{clock_, {.segment_count = 4}};
  test::FaultPlan faults_;
  SkewedSegments segments_{stores_.segments, faults_};
  memory::MemoryEnsemble ensemble_;
  std::unique_ptr<Coordinator> coordinator_;
  Metrics metrics_;
  ClusterClock cluster_{clock_};
  SegmentTable table_{4s};
  AssignmentFollower assignment_{*coordinator_, table_, MemberId("m1")};
  FencedWriter fences_{clock_, segments_, table_, metrics_};
  SegmentOwner owner_{{.clock = clock_,
                       .segments = segments_,
                       .coordinator = *coordinator_,
                       .cluster = cluster_,
                       .table = table_,
                       .assignment = assignment_,
                       .fences = fences_,
                       .metrics = metrics_},
                      {.self = MemberId("m1"), .incarnation = Incarnation("i1")}};
  SessionProof session_{clock_, *coordinator_, table_, assignment_};
  uint64_t generation_ = 0;
  int changes_ = 0;
};

}  // namespace carillon::scheduler
