// The firing loop and one executor, with messages in transit in both directions at the same time.
#include <map>
#include <optional>
#include <set>

#include "common/base/rng.h"
#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {
namespace {

constexpr int kSlots = 4;

// An executor as its member sees it: claims and heartbeats arrive in the order in which they were
// sent, answers and results in any order, and answers may be lost.
struct ModelExecutor {
  enum class Stage { kClaiming, kRunning, kReporting };
  struct Report {
    Heartbeat heartbeat;
  };
  struct Claim {
    RunKey key;
  };
  std::map<RunKey, Stage> runs;
  std::deque<std::variant<Report, Claim>> to_member;
  std::vector<RunKey> answers;  // accepted claims
  std::vector<RunKey> results;
  std::vector<RunKey> applied;  // acknowledgements in transit

  int Holding(bool light) const {
    int holding = 0;
    for (const auto& [key, stage] : runs) {
      holding += stage == Stage::kRunning || (light && stage == Stage::kReporting) ? 1 : 0;
    }
    return holding;
  }
  void Ask(const RunKey& key) { to_member.push_back(Claim{key}); }
  void Beat(bool light) {
    Heartbeat beat;
    (light ? beat.free_light_slots : beat.free_slots) = std::max(0, kSlots - Holding(light));
    for (const auto& [key, stage] : runs) {
      const HeldAttempt held{.key = key, .attempt = 1};
      if (stage == Stage::kClaiming) beat.claiming.push_back(held);
      if (stage == Stage::kRunning) beat.running.push_back(held);
      if (stage == Stage::kReporting) beat.reporting.push_back(held);
    }
    to_member.push_back(Report{beat});
  }
};

class FiringCreditTest : public FiringLoopTest, public ::testing::WithParamInterface<SlotClass> {
 protected:
  bool light() const { return GetParam() == SlotClass::kLight; }

  void Begin(uint64_t seed) {
    rng_.emplace(seed);
    executor_ = {};
    travelling_.clear();
    asking_.clear();
    claimed_.clear();
    SampleClock();
    loop_ = Make({.dispatch_interval = {}, .prefetch_max = 0});
    executor_.Beat(light());
    DeliverToMember();
  }
  // Steps the loop. The tasks that it publishes are in transit after that.
  void Turn() {
    Step(1ms);
    for (const TaskMessage& task : Tasks()) travelling_.push_back(task.key);
  }
  template <typename T>
  std::optional<T> TakeOne(std::vector<T>& from) {
    if (from.empty()) return std::nullopt;
    std::swap(from[rng_->Below(from.size())], from.back());
    const T taken = from.back();
    from.pop_back();
    return taken;
  }
  void DeliverTask() {
    const auto key = TakeOne(travelling_);
    if (!key) return;
    executor_.runs[*key] = ModelExecutor::Stage::kClaiming;
    executor_.Ask(*key);
  }
  void DeliverToMember() {
    if (executor_.to_member.empty()) return;
    const auto message = executor_.to_member.front();
    executor_.to_member.pop_front();
    const ExecutorId id("x1");
    if (const auto* claim = std::get_if<ModelExecutor::Claim>(&message)) {
      executors_.MessageFrom(id, Incarnation("e1"), clock_.Steady());
      return asking_.push_back(claim->key);
    }
    if (!executors_.IncarnationOf(id)) {
      executors_.Accept({.id = id, .incarnation = Incarnation("e1")}, clock_.Steady());
    }
    executors_.HeartbeatFrom(id, Incarnation("e1"),
                             std::get<ModelExecutor::Report>(message).heartbeat, clock_.Wall(),
                             clock_.Steady());
  }
  void DecideClaim() {
    const auto key = TakeOne(asking_);
    if (!key || !executor_.runs.contains(*key)) return;  // was answered in the meantime
    if (!claimed_.contains(*key) && rng_->Below(8) == 0) {
      executor_.runs.erase(*key);
      return Tell(rng_->Below(2) == 0 ? RunEvent::What::kRefused : RunEvent::What::kReturned, *key);
    }
    claimed_.insert(*key);
    Tell(RunEvent::What::kClaimed, *key);
    executor_.answers.push_back(*key);
  }
  void DeliverAnswer(bool may_be_lost) {
    const auto key = TakeOne(executor_.answers);
    if (!key) return;
    const auto run = executor_.runs.find(*key);
    if (run == executor_.runs.end() || run->second != ModelExecutor::Stage::kClaiming) return;
    if (may_be_lost && rng_->Below(4) == 0) return executor_.Ask(*key);
    run->second = ModelExecutor::Stage::kRunning;
  }
  void EndOne() {
    std::vector<RunKey> running;
    for (const auto& [key, stage] : executor_.runs) {
      if (stage == ModelExecutor::Stage::kRunning) running.push_back(key);
    }
    const auto key = TakeOne(running);
    if (!key) return;
    executor_.runs[*key] = ModelExecutor::Stage::kReporting;
    executor_.results.push_back(*key);
  }
  void ApplyResult() {
    const auto key = TakeOne(executor_.results);
    if (!key) return;
    Tell(RunEvent::What::kEnded, *key);
    claimed_.erase(*key);
    executor_.applied.push_back(*key);
  }
  void DeliverApplied() {
    if (const auto key = TakeOne(executor_.applied)) executor_.runs.erase(*key);
  }
  void Act(uint64_t what, const StoredJob& job) {
    switch (what) {
      case 0: return Feed({Pending(job, 0ms)});
      case 1:
      case 2: return Turn();
      case 3: return DeliverTask();
      case 4: return DeliverToMember();
      case 5: return DecideClaim();
      case 6: return DeliverAnswer(true);
      case 7: return EndOne();
      case 8: return ApplyResult();
      case 9: return DeliverApplied();
      default: return executor_.Beat(light());
    }
  }
  // The number of runs with a reserved slot: published and not decided, or claimed and not ended.
  int Given() const {
    std::set<RunKey> given(travelling_.begin(), travelling_.end());
    for (const auto& [key, stage] : executor_.runs) {
      if (light() || stage != ModelExecutor::Stage::kReporting) given.insert(key);
    }
    // For attempts within the executor's process, the slot counts as free when the result
    // is applied.
    for (const RunKey& key : executor_.applied) given.erase(key);
    return static_cast<int>(given.size());
  }
  bool Busy() const {
    return !travelling_.empty() || !executor_.to_member.empty() || !executor_.answers.empty() ||
           !asking_.empty() || !executor_.runs.empty();
  }
  // All messages in transit arrive and all runs end, without a further heartbeat.
  void Quiesce() {
    for (int round = 0; round < 1000 && (Busy() || loop_->backlog() > 0); ++round) {
      Turn();
      DeliverTask();
      DeliverToMember();
      DecideClaim();
      DeliverAnswer(false);
      EndOne();
      ApplyResult();
      DeliverApplied();
    }
    Turn();
  }

  std::optional<Rng> rng_;
  ModelExecutor executor_;
  std::vector<RunKey> travelling_;  // published, but not yet at the executor
  std::vector<RunKey> asking_;      // claims that the member has not decided
  std::set<RunKey> claimed_;        // accepted, but the end is not applied
};

TEST_P(FiringCreditTest, EveryInterleavingGivesWhatIsFreeAndNoMore) {
  JobDefinition definition;
  if (light()) definition.type = JobType::kNoop;
  const StoredJob job = light() ? CreateJob("noop", definition) : Shell("shell");
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Begin(seed);
    for (int action = 0; action < 300; ++action) {
      Act(rng_->Below(11), job);
      ASSERT_LE(Given(), kSlots);
    }
    Quiesce();
    ASSERT_FALSE(Busy());
    std::vector<PendingRun> runs;
    for (int i = 0; i < kSlots + 3; ++i) runs.push_back(Pending(job, 0ms));
    Feed(runs);
    Turn();
    ASSERT_EQ(travelling_.size(), static_cast<size_t>(kSlots)) << "all that is free, at once";
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, FiringCreditTest,
                         ::testing::Values(SlotClass::kProcess, SlotClass::kLight),
                         [](const auto& lane) {
                           return lane.param == SlotClass::kLight ? "light" : "process";
                         });

}  // namespace
}  // namespace carillon::scheduler
