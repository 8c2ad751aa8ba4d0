#include "common/domain/nodes/approval.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

constexpr WallTime kOpened = FromUnixMicros(1'700'000'000'000'000);
const Decider kAnna{.user_id = "user-1", .name = "anna"};

TEST(ApprovalTest, AnyoneWhoMayRunItDecidesUnlessPeopleAreNamed) {
  const Approval named{.by = {"user-1", "user-2"}};
  struct Case {
    Approval approval;
    Decider who;
    bool may;
  };
  for (const Case& one : std::vector<Case>{{{}, kAnna, true},
                                           {{}, {.name = "token"}, true},
                                           {named, kAnna, true},
                                           {named, {.user_id = "user-3", .name = "user-1"}, false},
                                           {named, {.user_id = "", .name = "user-1"}, false},
                                           {{.by = {""}}, {}, false}}) {
    const Status checked = CheckMayDecide(one.approval, one.who);
    EXPECT_EQ(checked.ok(), one.may) << one.who.user_id << "/" << one.who.name;
    if (one.may) continue;
    EXPECT_EQ(checked.error().code, ErrorCode::kDenied);
  }
}

TEST(ApprovalTest, AnApprovalCompletes) {
  const AttemptResult end =
      EndOfApproval({}, Decision::kApprove, kAnna, "looks good", kOpened, kOpened + 5s);
  EXPECT_EQ(end.state, RunState::kCompleted);
  EXPECT_EQ(end.reason, "");
  EXPECT_EQ(end.outputs,
            (Outputs{{"decision", "approved"}, {"by", "anna"}, {"reason", "looks good"}}));
  EXPECT_EQ(end.started, kOpened);
  EXPECT_EQ(end.ended, kOpened + 5s);
}

TEST(ApprovalTest, ARefusalFailsAndSaysWhoAndWhy) {
  const AttemptResult end = EndOfApproval({.approves_on_timeout = true}, Decision::kRefuse, kAnna,
                                          "too few rows", kOpened, kOpened + 5s);
  EXPECT_EQ(end.state, RunState::kFailed);
  EXPECT_EQ(end.reason, reason::kRefused);
  EXPECT_EQ(end.error, "refused by anna: too few rows");
  EXPECT_EQ(end.outputs.at("decision"), "refused");
  EXPECT_FALSE(end.exit_code);
  const AttemptResult bare =
      EndOfApproval({}, Decision::kRefuse, {.user_id = "user-9"}, "", kOpened, kOpened);
  EXPECT_EQ(bare.error, "refused by user-9");
}

TEST(ApprovalTest, ATimeoutRefusesOrApproves) {
  const AttemptResult refused =
      EndOfApproval({.timeout_s = 60}, Decision::kTimeout, {}, "", kOpened, kOpened + 60s);
  EXPECT_EQ(refused.state, RunState::kFailed);
  EXPECT_EQ(refused.reason, reason::kNotDecided);
  EXPECT_EQ(refused.error, "nobody decided within 60 seconds");
  EXPECT_EQ(refused.outputs, (Outputs{{"decision", "timeout"}, {"by", ""}, {"reason", ""}}));
  const AttemptResult approved = EndOfApproval({.timeout_s = 60, .approves_on_timeout = true},
                                               Decision::kTimeout, {}, "", kOpened, kOpened + 60s);
  EXPECT_EQ(approved.state, RunState::kCompleted);
  EXPECT_EQ(approved.error, "");
  EXPECT_EQ(approved.outputs.at("decision"), "timeout");
}

TEST(ApprovalTest, DecisionsHaveNames) {
  EXPECT_EQ(Name(Decision::kApprove), "approve");
  EXPECT_EQ(Name(Decision::kRefuse), "refuse");
  EXPECT_EQ(Name(Decision::kTimeout), "timeout");
}

}  // namespace
}  // namespace carillon::test
