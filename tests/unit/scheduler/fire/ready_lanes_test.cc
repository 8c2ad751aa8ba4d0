#include "scheduler/fire/ready_lanes.h"

#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace carillon::scheduler {
namespace {

class ReadyLanesTest : public ::testing::Test {
 protected:
  // Makes a run of priority 0 ready that may go to this executor only; empty = any.
  RunKey Ready(const std::string& executor, int64_t due_s) {
    PendingRun run;
    run.key = {FromUnixMicros(due_s * 1'000'000), ScheduleId(++made_), 0};
    run.due = run.key.fire;
    TrackedRun* tracked = runs_.Add(run);
    JobVersionRecord record;
    record.definition.executor_id = executor;
    tracked->definition = std::make_shared<const Definition>(record);
    lanes_.Enter(*tracked, runs_.Move(*tracked, Place::kReady, {}));
    return run.key;
  }
  void Leave(const RunKey& key) { runs_.Move(*runs_.Find(key), Place::kInFlight, {}); }
  // The run that is first now, and the executor of its lane; takes it out.
  std::pair<RunKey, std::string> Take() {
    auto* best = lanes_.Best();
    if (best == nullptr) return {};
    const RunKey key = best->second.heap.Top().key;
    best->second.heap.Pop();
    Leave(key);
    return {key, best->first.pinned.value()};
  }

  RunTable runs_{100'000};
  ReadyLanes lanes_{runs_, 1s};
  uint64_t made_ = 0;
};

TEST_F(ReadyLanesTest, TheEarliestRunOfAllLanesIsFirst) {
  const RunKey late = Ready("e1", 30);
  const RunKey early = Ready("e2", 10);
  const RunKey middle = Ready("", 20);
  const RunKey next = Ready("e2", 25);
  EXPECT_EQ(Take(), std::pair(early, std::string("e2")));
  EXPECT_EQ(Take(), std::pair(middle, std::string()));
  EXPECT_EQ(Take(), std::pair(next, std::string("e2")));
  const RunKey urgent = Ready("e1", 5);
  EXPECT_EQ(Take().first, urgent);
  EXPECT_EQ(Take().first, late);
  EXPECT_EQ(lanes_.Best(), nullptr);
  EXPECT_EQ(lanes_.all().size(), 1u) << "only the lane of any executor stays";
}

TEST_F(ReadyLanesTest, ABlockedLaneIsLeftOutUntilItIsUnblocked) {
  Ready("e1", 10);
  const RunKey other = Ready("e2", 20);
  lanes_.Block(*lanes_.Best());
  Ready("e1", 5);
  EXPECT_EQ(Take().first, other) << "a new run does not unblock its lane";
  EXPECT_EQ(lanes_.Best(), nullptr);
  lanes_.Unblock();
  EXPECT_EQ(Take().second, "e1");
  EXPECT_EQ(Take().second, "e1");
}

TEST_F(ReadyLanesTest, ABlockedLaneWhoseRunsHaveLeftIsForgotten) {
  std::vector<RunKey> keys;
  for (int i = 0; i < 10'000; ++i) keys.push_back(Ready("e1", i));
  lanes_.Block(*lanes_.Best());
  for (const RunKey& key : keys) Leave(key);
  lanes_.Prune(lanes_.all().begin()->second);
  EXPECT_EQ(lanes_.entries(), 0u);
  lanes_.Unblock();
  EXPECT_EQ(lanes_.Best(), nullptr);
  EXPECT_TRUE(lanes_.all().empty());
}

// Against a plain list of what is ready.
TEST_F(ReadyLanesTest, KeepsTheOrderThroughEveryMixOfSteps) {
  Rng rng(5);
  std::map<RunKey, std::string> ready;
  std::set<std::string> blocked;
  for (int step = 0; step < 30'000; ++step) {
    switch (rng.Below(8)) {
      case 0:
      case 1:
      case 2: {
        const std::string executor = rng.Chance(0.2) ? "" : "e" + std::to_string(rng.Below(40));
        ready[Ready(executor, static_cast<int64_t>(rng.Below(1000)))] = executor;
        break;
      }
      case 3:
        if (!ready.empty()) {  // a cancel
          auto one = ready.begin();
          std::advance(one, static_cast<long>(rng.Below(ready.size())));
          Leave(one->first);
          ready.erase(one);
        }
        break;
      case 4:
        lanes_.Unblock();
        blocked.clear();
        break;
      case 5:
        if (auto* best = lanes_.Best(); best != nullptr) {
          blocked.insert(best->first.pinned.value());
          lanes_.Block(*best);
        }
        break;
      default: {
        std::optional<RunKey> first;
        for (const auto& [key, executor] : ready) {
          if (!blocked.contains(executor) && (!first || key < *first)) first = key;
        }
        const RunKey taken = Take().first;
        ASSERT_EQ(taken, first.value_or(RunKey{})) << "step " << step;
        if (first) ready.erase(*first);
      }
    }
  }
}

}  // namespace
}  // namespace carillon::scheduler
