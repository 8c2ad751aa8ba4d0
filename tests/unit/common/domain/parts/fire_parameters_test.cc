#include "common/domain/parts/fire_parameters.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace carillon {
namespace {

using std::string_literals::operator""s;

constexpr ScheduleId kId(7);
constexpr ScheduleId kGone(8);  // before the edit

struct Edit {
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
  Edit edit;
  edit.before.parameters = {{"t", "ALL"s}, {"n", int64_t{1}}};
  edit.after.parameters = {{"t", "ALL"s}, {"n", int64_t{1}}, {"new", true}};
  EXPECT_TRUE(edit.Fires().empty());
  // The same value, now of the schedule.
  edit.after.parameters.erase("n");
  edit.has->parameters = {{"n", int64_t{1}}};
  EXPECT_EQ(edit.Kept(), std::nullopt);
  EXPECT_FALSE(edit.Fires().Concern(kId));
  EXPECT_EQ(edit.Kept(kGone), (Parameters{{"n", int64_t{1}}}));
  EXPECT_FALSE(edit.Fires().empty());
}

TEST(FireParameters, TheOnesThatWereInEffectAreKept) {
  Edit edit;
  edit.before.parameters = {{"t", "ALL"s}, {"n", int64_t{1}}};
  edit.after.parameters = {{"t", "NONE"s}};
  edit.had.parameters = edit.has->parameters = {{"t", "north"s}};
  EXPECT_EQ(edit.Kept(), (Parameters{{"n", int64_t{1}}}));
  EXPECT_EQ(edit.Kept(kGone), (Parameters{{"t", "ALL"s}, {"n", int64_t{1}}}));
  edit.has->parameters["t"] = "south"s;
  EXPECT_EQ(edit.Kept(), (Parameters{{"t", "north"s}, {"n", int64_t{1}}}));
  edit.after = edit.before;
  edit.has.reset();
  EXPECT_EQ(edit.Kept(), (Parameters{{"t", "north"s}}));
  EXPECT_EQ(edit.Kept(kGone), std::nullopt);
}

TEST(FireParameters, TheTriggerFillsThoseOfTheSchedule) {
  Edit edit;
  edit.before.parameters = {{"of_job", "{{trigger.state}}"s}};
  edit.had.parameters = {{"of_schedule", "{{trigger.state}}"s}};
  const RunTrigger trigger{.state = RunState::kFailed};
  EXPECT_EQ(edit.Fires().ToKeep(kId, trigger),
            (Parameters{{"of_job", "{{trigger.state}}"s}, {"of_schedule", "FAILED"s}}));
}

TEST(FireParameters, ANameThatOnlyChangesItsCaseIsNotKept) {
  Edit edit;
  edit.before.parameters = {{"t", "ALL"s}, {"n", int64_t{1}}};
  edit.has->parameters = {{"T", "ALL"s}};
  edit.after.schedules = {*edit.has};
  EXPECT_EQ(edit.Kept(), (Parameters{{"n", int64_t{1}}}));
}

}  // namespace
}  // namespace carillon
