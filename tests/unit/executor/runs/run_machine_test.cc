#include "executor/runs/run_machine.h"

#include <gtest/gtest.h>

#include "executor/runs/run_table.h"

namespace carillon::executor {
namespace {

constexpr RunStage kStages[] = {RunStage::kQueued,  RunStage::kClaiming,  RunStage::kStarting,
                                RunStage::kRunning, RunStage::kReporting, RunStage::kGone};
constexpr RunEvent kEvents[] = {
    RunEvent::kSlotTaken,   RunEvent::kQueueExpired, RunEvent::kAccepted, RunEvent::kAcceptedLate,
    RunEvent::kRefused,     RunEvent::kGivenUp,      RunEvent::kStarted,  RunEvent::kEnded,
    RunEvent::kCancelAsked, RunEvent::kApplied};

TEST(RunMachineTest, PathOfAnAttempt) {
  EXPECT_EQ(Next(RunStage::kQueued, RunEvent::kSlotTaken),
            (RunStep{RunStage::kClaiming, RunAction::kClaim}));
  EXPECT_EQ(Next(RunStage::kClaiming, RunEvent::kAccepted),
            (RunStep{RunStage::kStarting, RunAction::kStart}));
  EXPECT_EQ(Next(RunStage::kStarting, RunEvent::kStarted),
            (RunStep{RunStage::kRunning, RunAction::kNone}));
  EXPECT_EQ(Next(RunStage::kRunning, RunEvent::kEnded),
            (RunStep{RunStage::kReporting, RunAction::kReport}));
  EXPECT_EQ(Next(RunStage::kReporting, RunEvent::kApplied),
            (RunStep{RunStage::kGone, RunAction::kForget}));
}

TEST(RunMachineTest, StartsOnlyFromAnAcceptedClaim) {
  for (const RunStage stage : kStages) {
    for (const RunEvent event : kEvents) {
      const RunStep step = Next(stage, event);
      if (step.action != RunAction::kStart) continue;
      EXPECT_EQ(stage, RunStage::kClaiming);
      EXPECT_EQ(event, RunEvent::kAccepted);
    }
  }
}

TEST(RunMachineTest, NeverGoesBackAndForgetsOnlyWhatWasApplied) {
  for (const RunStage stage : kStages) {
    for (const RunEvent event : kEvents) {
      const RunStep step = Next(stage, event);
      EXPECT_GE(static_cast<int>(step.stage), static_cast<int>(stage));
      if (step.action == RunAction::kForget) {
        EXPECT_EQ(stage, RunStage::kReporting);
        EXPECT_EQ(event, RunEvent::kApplied);
      }
      if (stage == RunStage::kReporting && event != RunEvent::kApplied) {
        EXPECT_EQ(step, (RunStep{RunStage::kReporting, RunAction::kNone}));
      }
    }
  }
}

RunEntry EntryOf(uint64_t number, Runner runner) {
  RunEntry entry;
  entry.id = {{.fire = FromUnixMicros(1), .schedule_id = ScheduleId(number)}, 1};
  entry.held.key = entry.id.key;
  entry.runner = runner;
  return entry;
}

TEST(RunTableTest, ProcessGivesItsSlotBackAtItsEnd) {
  RunTable table;
  RunEntry& entry = table.Insert(EntryOf(1, Runner::kWarden));
  EXPECT_EQ(table.used(Lane::kProcess), 0);
  table.Move(entry, RunStage::kClaiming);
  EXPECT_EQ(table.used(Lane::kProcess), 1);
  table.Move(entry, RunStage::kReporting);
  EXPECT_EQ(table.used(Lane::kProcess), 0);
  EXPECT_EQ(table.count(RunStage::kReporting), 1);
  table.AddOutput(entry, 10);
  EXPECT_EQ(table.reporting_bytes(), 10u);
  table.Move(entry, RunStage::kGone);
  EXPECT_EQ(table.reporting_bytes(), 0u);
  EXPECT_EQ(table.size(), 0u);
}

TEST(RunTableTest, LightAttemptKeepsItsSlotUntilItIsApplied) {
  RunTable table;
  RunEntry& entry = table.Insert(EntryOf(1, Runner::kHttp));
  table.Move(entry, RunStage::kClaiming);
  table.Move(entry, RunStage::kReporting);
  EXPECT_EQ(table.used(Lane::kLight), 1);
  table.Move(entry, RunStage::kGone);
  EXPECT_EQ(table.used(Lane::kLight), 0);
}

TEST(RunTableTest, ClaimWithoutAnAnswerCanGiveItsSlotBack) {
  RunTable table;
  RunEntry& entry = table.Insert(EntryOf(1, Runner::kWarden));
  table.Move(entry, RunStage::kClaiming);
  table.SetSlot(entry, false);
  EXPECT_EQ(table.used(Lane::kProcess), 0);
  table.Move(entry, RunStage::kStarting);
  EXPECT_EQ(table.used(Lane::kProcess), 1);
}

TEST(RunTableTest, FindsByTokenOnly) {
  RunTable table;
  RunEntry& entry = table.Insert(EntryOf(1, Runner::kWarden));
  entry.held.token = {1, 2};
  HeldAttempt held = entry.held;
  EXPECT_EQ(table.FindHeld(held), &entry);
  held.token = {1, 3};
  EXPECT_EQ(table.FindHeld(held), nullptr);
}

}  // namespace
}  // namespace carillon::executor
