// The checks of the world from time to time, and of what must come in time.
#include <fmt/format.h>

#include "scheduler/letters/letter_publisher.h"
#include "tests/sim/processes.h"
#include "tests/sim/world.h"

namespace carillon::sim {
namespace {

// Once faults and pauses are over, nobody may wait for longer than this beside a free slot.
constexpr Duration kFreeSlotMax = 5s;
constexpr Duration kFreeGroupSlotMax = 3s;
// An end that no loop of its owner has told of is found with the next scan, after a second.
constexpr Duration kFireEndsWithin = 2s;
// A batch whose answers were lost, and the longest wait after it.
constexpr Duration kLettersWithin =
    scheduler::LetterPublisher::kAnswerWithin + scheduler::LetterPublisher::kRetry.longest + 10s;

// A wait after failures, and some tries.
constexpr Duration kRecordsWithin = 60s;
constexpr Duration kTopicsLook = 5s;

}  // namespace

void World::CheckQueues() {
  if (!stores.QueuesAgree()) {
    checker.Fail("queues", "a queued run is not in its queue, or another run is in one");
  }
  if (!settled_) return;
  std::map<JobNo, std::pair<RunKey, SteadyTime>> waits;
  for (const auto& [key, row] : checker.rows()) {
    const bool first = row.state == RunState::kPending && row.due == kQueued &&
                       !checker.WaitsForGroup(key) && !waits.contains(row.job_no) &&
                       stores.HasFreeSlot(row.job_no);
    if (!first) continue;
    const auto before = beside_free_slot_.find(row.job_no);
    const bool same = before != beside_free_slot_.end() && before->second.first == key;
    const SteadyTime since = same ? before->second.second : clock.Steady();
    waits[row.job_no] = {key, since};
    if (clock.Steady() - since > kFreeSlotMax) {
      checker.Fail("queues", "waits beside a free slot: run " + EncodeRunId(key));
    }
  }
  beside_free_slot_ = std::move(waits);
  CheckGroupQueues();
}

void World::CheckGroupQueues() {
  std::map<std::string, std::pair<RunKey, SteadyTime>> waits;
  for (const auto& [name, queue] : checker.group_queues()) {
    if (queue.empty() || checker.GroupHolders(name) >= checker.group_limits().at(name)) continue;
    const RunKey key = queue.begin()->key;
    const auto before = beside_free_group_slot_.find(name);
    const bool same = before != beside_free_group_slot_.end() && before->second.first == key;
    const SteadyTime since = same ? before->second.second : clock.Steady();
    waits[name] = {key, since};
    if (clock.Steady() - since > kFreeGroupSlotMax) {
      checker.Fail("queues", "waits beside a free slot of its group: run " + EncodeRunId(key));
    }
  }
  beside_free_group_slot_ = std::move(waits);
}

void World::CheckFiresEnd() {
  if (!settled_ || clock.Wall() < *settled_ + kMembersBackAfter) return;
  const auto wrong = checker.parts().EndedBefore(clock.Wall() - kFireEndsWithin);
  if (wrong) checker.Fail("parts", *wrong);
}

void World::CheckWaits() {
  if (!settled_ || clock.Wall() < *settled_ + kMembersBackAfter) return;
  const auto wrong = checker.waits().Look(*settled_ + kMembersBackAfter);
  if (wrong) checker.Fail("waits", *wrong);
}

void World::CheckNodes() {
  if (!settled_ || clock.Wall() < *settled_ + kMembersBackAfter) return;
  if (const auto wrong = checker.nodes().Look(*settled_ + kMembersBackAfter)) {
    checker.Fail("nodes", *wrong);
  }
  if (const auto wrong = checker.workflows().Look(clock.Wall())) checker.Fail("workflows", *wrong);
}

void World::CheckStreaks() {
  if (calm_ && !settled_ && clock.Wall() >= *calm_) streaks.Look();
}

// If nothing is killed, stopped or cut, every executor beats as it has announced, and the first
// process of each id stays.
void World::CheckExecutors() {
  for (const auto& scheduler : schedulers_) {
    if (scheduler->member() == nullptr) continue;
    for (const ExecutorRecord& executor : scheduler->member()->GetStatus().executors) {
      if (executor.state == ExecutorState::kLost) {
        checker.Fail("quiet",
                     fmt::format("{} takes {} for lost", scheduler->name(), executor.id.value()));
      }
      const auto [first, fresh] =
          accepted_.try_emplace({scheduler->name(), executor.id}, executor.incarnation);
      if (first->second != executor.incarnation) {
        checker.Fail("quiet", fmt::format("{}: {} replaces {}", scheduler->name(),
                                          executor.incarnation.value(), first->second.value()));
      }
    }
  }
}

void World::CheckLetters() {
  if (!letters_ || !checker.ok()) return;
  RunUntil(clock.Steady() + kMembersBackAfter + kLettersWithin);
  const auto wrong = letters_->Missing();
  if (wrong) checker.Fail("letters", *wrong);
}

// Before the schedules end, so that the runs of late events come to an end with the others.
void World::CheckTopics() {
  if (!event_topics_) return;
  const SteadyTime limit = clock.Steady() + kMembersBackAfter + kRecordsWithin;
  auto wrong = event_topics_->Missing();
  while (wrong && Going(limit)) {
    RunUntil(std::min(limit, clock.Steady() + kTopicsLook));
    wrong = event_topics_->Missing();
  }
  if (wrong) checker.Fail("events topics", *wrong);
}

void World::CheckBounds() {
  if (letters_) letters_->Read();
  if (options_.guest != nullptr) return;
  CheckQueues();
  CheckFiresEnd();
  CheckStreaks();
  if (options_.waits) CheckWaits();
  if (options_.approvals || options_.finally) CheckNodes();
  if (options_.quiet && plan_.kills_nothing) CheckExecutors();
  if (!stores.DelaysAgree()) {
    checker.Fail("delay", "a schedule waits for nothing, or has a fire although it waits");
  }
  for (const auto& scheduler : schedulers_) {
    if (scheduler->member() == nullptr) continue;
    for (const scheduler::QueueDepth& queue : scheduler->member()->GetStatus().queues) {
      if (queue.depth > queue.capacity) {
        checker.Fail("P7 bounded",
                     fmt::format("{}: queue {} holds {}, at most {}", scheduler->name(), queue.name,
                                 queue.depth, queue.capacity));
      }
    }
  }
}

}  // namespace carillon::sim
