#include "common/domain/run/run_kind.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace carillon {
namespace {

using enum RunKind;

// The kinds in the order of run.h, one letter each: "CROMDBAWSE" answers yes for all.
std::string Letters(const std::vector<RunKind>& kinds) {
  static const std::map<RunKind, char> letters = {
      {kCron, 'C'},     {kRate, 'R'},  {kOnce, 'O'},     {kManual, 'M'}, {kDelay, 'D'},
      {kBackfill, 'B'}, {kAfter, 'A'}, {kWorkflow, 'W'}, {kShard, 'S'},  {kEvent, 'E'}};
  std::string text;
  for (const RunKind kind : kinds) text += letters.at(kind);
  return text;
}

template <typename Question>
std::string Yes(Question question) {
  std::vector<RunKind> kinds;
  for (const RunKind kind : kRunKinds) {
    if (question(kind)) kinds.push_back(kind);
  }
  return Letters(kinds);
}

std::string Answer(Answer RunKindRules::*rule) {
  return Yes([rule](RunKind kind) { return RulesOf(kind).*rule; });
}

TEST(RunKindTest, EveryKindAnswersEveryQuestion) {
  // Names every question, so that a new one does not compile until it is in the table.
  const auto [planned_ahead, may_misfire, skipped_by_pause, in_streak, queued_without_slot,
              keeps_priority, has_request, of_a_fire, fire_of_a_schedule, may_expire, may_be_late,
              starts_dependents, moved_by_workflow, tells_failure, counts_for_job] = RulesOf(kCron);
  EXPECT_TRUE(planned_ahead);
  EXPECT_EQ(Answer(&RunKindRules::planned_ahead), "CROD");
  EXPECT_EQ(Answer(&RunKindRules::may_misfire), "CRO");
  EXPECT_EQ(Answer(&RunKindRules::skipped_by_pause), "CROMDAE");
  EXPECT_EQ(Answer(&RunKindRules::in_streak), "CRODAE");
  EXPECT_EQ(Answer(&RunKindRules::queued_without_slot), "BWS");
  EXPECT_EQ(Answer(&RunKindRules::keeps_priority), "MBS");
  EXPECT_EQ(Answer(&RunKindRules::has_request), "M");
  EXPECT_EQ(Answer(&RunKindRules::of_a_fire), "CRODBAWE");
  EXPECT_EQ(Answer(&RunKindRules::fire_of_a_schedule), "CRODB");
  EXPECT_EQ(Answer(&RunKindRules::may_expire), "CROMDAWSE");
  EXPECT_EQ(Answer(&RunKindRules::may_be_late), "CROMDAWE");
  EXPECT_EQ(Answer(&RunKindRules::starts_dependents), "CROMDAWE");
  EXPECT_EQ(Answer(&RunKindRules::moved_by_workflow), "W");
  EXPECT_EQ(Answer(&RunKindRules::tells_failure), "CROMDBAWE");
  EXPECT_EQ(Answer(&RunKindRules::counts_for_job), "CROMDBAWE");
}

TEST(RunKindTest, ABackgroundRunAnswersLikeABackfilledOne) {
  for (const RunKind kind : kRunKinds) {
    const uint32_t flags = run_flag::kBackground;
    EXPECT_EQ(MayExpire(kind, flags), MayExpire(kBackfill, 0)) << Name(kind);
    EXPECT_EQ(MayBeLate(kind, flags), MayBeLate(kBackfill, 0)) << Name(kind);
    EXPECT_EQ(MayStartDependents(kind, flags), MayStartDependents(kBackfill, 0)) << Name(kind);
    EXPECT_TRUE(HasRequest(kind, run_flag::kHasRequest)) << Name(kind);
  }
}

TEST(RunKindTest, TheListHasEveryKindThatHasAName) {
  std::vector<RunKind> named;
  for (int number = 0; number < 64; ++number) {
    if (!Name(static_cast<RunKind>(number)).empty()) named.push_back(static_cast<RunKind>(number));
  }
  EXPECT_EQ(named, std::vector<RunKind>(kRunKinds.begin(), kRunKinds.end()));
  for (const RunKind kind : kRunKinds) EXPECT_EQ(*ParseRunKind(Name(kind)), kind);
}

TEST(RunKindTest, OnlyItsWorkflowReopensAFinalNode) {
  RunRow row;
  for (const RunKind kind : kRunKinds) {
    row.kind = kind;
    row.state = RunState::kFailed;
    const bool refused = IsMovedByWorkflow(kind);
    EXPECT_EQ(CheckReopening(row, RunState::kPending, Reopener::kOthers).ok(), !refused);
    EXPECT_TRUE(CheckReopening(row, RunState::kPending, Reopener::kWorkflows).ok());
    // A late result may still change the end.
    EXPECT_TRUE(CheckReopening(row, RunState::kCompleted, Reopener::kOthers).ok());
    row.state = RunState::kRunning;
    EXPECT_TRUE(CheckReopening(row, RunState::kPending, Reopener::kOthers).ok());
  }
}

TEST(RunKindTest, AQueuedRunExpiresIfItsKindMay) {
  const WallTime queued = FromUnixMicros(1'772'323'200'000'000);
  for (const RunKind kind : kRunKinds) {
    RunRow row{.kind = kind};
    EXPECT_EQ(QueueExpiry(row, 10s, queued), MayExpire(kind, 0) ? queued + 10s : kNever);
    EXPECT_EQ(QueueExpiry(row, Duration::zero(), queued), kNever);
    row.flags = run_flag::kBackground;
    EXPECT_EQ(QueueExpiry(row, 10s, queued), kNever);
  }
}

}  // namespace
}  // namespace carillon
