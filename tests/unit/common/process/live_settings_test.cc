// Live settings: every setting must change the options of the parts that it concerns.
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/process/process.h"
#include "executor/server/executor_settings.h"
#include "scheduler/server/scheduler_settings.h"

namespace carillon::process {
namespace {

config::Config Start() {
  return config::Load({.flags = {{"executor.slots", "5", "--set"}}}).value();
}

// A valid value other than the default.
std::string OtherValue(const config::Setting& setting) {
  if (setting.type == config::SettingType::kInteger) {
    return std::to_string(std::to_string(setting.least) == setting.fallback ? setting.most
                                                                            : setting.least);
  }
  if (setting.type == config::SettingType::kLevels) return "10:20, 60:60";
  std::string choices(setting.choices);
  return choices.substr(choices.rfind('|') + 1);
}

TEST(FollowSettingsTest, EachLiveSettingConcernsSomebody) {
  const config::Config start = Start();
  for (const config::Setting& setting : config::SettingTable()) {
    if (!setting.live) continue;
    LiveSettings live;
    scheduler::MemberTuning member = scheduler::MemberTuningOf(start);
    executor::ExecutorTuning executor = executor::ExecutorTuningOf(start);
    FollowSettings(live, start, [&](const config::Config& now) {
      member = scheduler::MemberTuningOf(now);
      executor = executor::ExecutorTuningOf(now);
    });
    const std::string value = OtherValue(setting);
    live.Adopt({.version = 1, .values = {{std::string(setting.name), value}}});
    const bool logs_less = !log::Enabled(log::Level::kError);  // "off"
    EXPECT_TRUE(logs_less || member != scheduler::MemberTuningOf(start) ||
                executor != executor::ExecutorTuningOf(start))
        << setting.name << " = " << value;
    live.Adopt({.version = 2});
    EXPECT_TRUE(log::Enabled(log::Level::kInfo));
    EXPECT_EQ(member, scheduler::MemberTuningOf(start)) << setting.name;
    EXPECT_EQ(executor, executor::ExecutorTuningOf(start)) << setting.name;
  }
}

TEST(FollowSettingsTest, LiveValueGoesBeforeTheFlagUntilItIsTakenBack) {
  LiveSettings live;
  int slots = 0;
  FollowSettings(live, Start(),
                 [&](const config::Config& now) { slots = executor::ExecutorTuningOf(now).slots; });
  live.Adopt({.version = 1, .values = {{"executor.slots", "2"}}});
  EXPECT_EQ(slots, 2);
  live.Adopt({.version = 2});
  EXPECT_EQ(slots, 5);
}

TEST(FollowSettingsTest, WhatThisVersionDoesNotTakeIsPassedOver) {
  LiveSettings live;
  int slots = 0;
  FollowSettings(live, Start(),
                 [&](const config::Config& now) { slots = executor::ExecutorTuningOf(now).slots; });
  live.Adopt({.version = 1, .values = {{"executor.slots", "many"}, {"of.a_newer_version", "1"}}});
  EXPECT_EQ(slots, 5);
}

}  // namespace
}  // namespace carillon::process
