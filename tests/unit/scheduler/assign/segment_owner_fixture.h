// Fixture with an owner of segments on memory adapters, and the loop of session proofs.
#pragma once

#include "common/adapters/memory/memory_coordinator.h"
#include "scheduler/assign/segment_owner.h"
#include "scheduler/assign/session_proof.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {

// The memory store's ownership port, with injected errors.
class FaultySegments final : public SegmentStore {
 public:
  explicit FaultySegments(SegmentStore& store) : store_(store) {}
  bool away = false;                  // every call fails
  bool no_epochs = false;             // reads of epochs fail, other calls work
  std::function<void()> hang;         // called by each call while `away`, before it fails
  bool lose_take = false;             // the next Take takes effect, but its reply is lost
  Duration clock_error{};             // error of the database's clock
  std::function<void()> during_read;  // called while a read of epochs is in progress

  Result<WallTime> Now() override {
    if (away) return Away();
    CARILLON_ASSIGN_OR_RETURN(const WallTime now, store_.Now());
    return now + clock_error;
  }
  Result<TakenSegments> Take(const TakeRequest& request) override {
    if (away) return Away();
    auto taken = store_.Take(request);
    if (!std::exchange(lose_take, false)) return taken;
    return Error{ErrorCode::kTimeout, "reply lost by the test"};
  }
  Status Release(const Fence& fence) override {
    if (away) return Away();
    return store_.Release(fence);
  }
  Result<std::vector<SegmentRecord>> ReadEpochs(const std::vector<SegmentId>& segments) override {
    if (away || no_epochs) return Away();
    auto records = store_.ReadEpochs(segments);
    if (during_read) during_read();
    return records;
  }
  Result<std::vector<SegmentRecord>> ListSegments() override {
    if (away) return Away();
    return store_.ListSegments();
  }

 private:
  Error Away() const {
    if (hang) hang();
    return {ErrorCode::kUnavailable, "away by the test"};
  }
  SegmentStore& store_;
};

class SegmentOwnerTest : public ::testing::Test {
 protected:
  SegmentOwnerTest() : coordinator_(ensemble_.NewClient()) {
    EXPECT_TRUE(coordinator_->Join({.id = MemberId("m1"), .incarnation = Incarnation("i1")}).ok());
    table_.OnChange([this] { ++changes_; });
  }
  ~SegmentOwnerTest() override { failpoint::Reset(); }

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
  FaultySegments segments_{stores_.segments};
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
