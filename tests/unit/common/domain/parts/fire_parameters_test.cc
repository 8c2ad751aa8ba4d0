#include "common/domain/parts/fire_parameters.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace carillon {
namespace {

constexpr ScheduleId kId(7);
constexpr ScheduleId kEarlier(8);  // before the edit

struct ParametersEdit {
  JobDefinition before = {};
  JobDefinition after = {};
  ScheduleSpec had = {};
  std::optional<ScheduleSpec> has = ScheduleSpec();

  FireParameters Fires() const {
    FireParameters::Specs left;
    if (has) left[kId] = &*has;
    return {before, {{kId, &had}}, after, left};
  }
  std::optional<Parameters> Kept(ScheduleId id = kId) const {
    return Fires().ToKeep(id, std::nullopt);
  }
};

TEST(FireParameters, WhatStaysNeedNotBeKept) {
  ParametersEdit edit;
  edit.before.parameters = {{"t", std::string("ALL")}, {"n", int64_t{1}}};
  edit.after.parameters = {{"t", std::string("ALL")}, {"n", int64_t{1}}, {"new", true}};
  EXPECT_TRUE(edit.Fires().empty());
  // The same value, now of the schedule.
  edit.after.parameters.erase("n");
  edit.has->parameters = {{"n", int64_t{1}}};
  EXPECT_EQ(edit.Kept(), std::nullopt);
  EXPECT_FALSE(edit.Fires().Concern(kId));
  EXPECT_EQ(edit.Kept(kEarlier), (Parameters{{"n", int64_t{1}}}));
  EXPECT_FALSE(edit.Fires().empty());
}

TEST(FireParameters, TheOnesThatWereInEffectAreKept) {
  ParametersEdit edit;
  edit.before.parameters = {{"t", std::string("ALL")}, {"n", int64_t{1}}};
  edit.after.parameters = {{"t", std::string("NONE")}};
  edit.had.parameters = edit.has->parameters = {{"t", std::string("north")}};
  EXPECT_EQ(edit.Kept(), (Parameters{{"n", int64_t{1}}}));
  EXPECT_EQ(edit.Kept(kEarlier), (Parameters{{"t", std::string("ALL")}, {"n", int64_t{1}}}));
  edit.has->parameters["t"] = std::string("south");
  EXPECT_EQ(edit.Kept(), (Parameters{{"t", std::string("north")}, {"n", int64_t{1}}}));
  edit.after = edit.before;
  edit.has.reset();
  EXPECT_EQ(edit.Kept(), (Parameters{{"t", std::string("north")}}));
  EXPECT_EQ(edit.Kept(kEarlier), std::nullopt);
}

TEST(FireParameters, TheTriggerFillsThoseOfTheSchedule) {
  ParametersEdit edit;
  edit.before.parameters = {{"of_job", std::string("{{trigger.state}}")}};
  edit.had.parameters = {{"of_schedule", std::string("{{trigger.state}}")}};
  const RunTrigger trigger{.state = RunState::kFailed};
  EXPECT_EQ(edit.Fires().ToKeep(kId, trigger),
            (Parameters{{"of_job", std::string("{{trigger.state}}")},
                        {"of_schedule", std::string("FAILED")}}));
}

// The parameters of such a schedule are templates, which the run has rendered.
TEST(FireParameters, ThoseOfATriggerOfEventsAreNotKept) {
  ParametersEdit edit;
  edit.before.parameters = {{"n", int64_t{1}}};
  edit.had = {.kind = ScheduleKind::kEvent,
              .event_type = "order.paid",
              .parameters = {{"amount", std::string("{{event.data.amount}}")}}};
  edit.has.reset();
  EXPECT_EQ(edit.Kept(), (Parameters{{"n", int64_t{1}}})) << "that of the job";
  edit.after = edit.before;
  EXPECT_EQ(edit.Kept(), std::nullopt);
  edit.has = edit.had;
  edit.has->parameters["n"] = std::string("{{event.data.n}}");
  EXPECT_EQ(edit.Kept(), std::nullopt) << "the run does not get the new one either";
}

TEST(FireParameters, ANameThatOnlyChangesItsCaseIsNotKept) {
  ParametersEdit edit;
  edit.before.parameters = {{"t", std::string("ALL")}, {"n", int64_t{1}}};
  edit.has->parameters = {{"T", std::string("ALL")}};
  EXPECT_EQ(edit.Kept(), (Parameters{{"n", int64_t{1}}}));
}

}  // namespace
}  // namespace carillon
