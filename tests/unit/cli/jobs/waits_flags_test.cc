#include "cli/jobs/flags/waits_flags.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace carillon::cli::waits_flags_test {
namespace {

using nlohmann::json;

json Applied(const WaitsFlags& flags, FlagsBody form = FlagsBody::kPatch,
             json body = json::object()) {
  const Status applied = ApplyWaitsFlags(flags, form, body);
  return applied.ok() ? body : json(applied.error().message);
}

json Entry(const std::string& text) { return Applied({.waits_for = {text}})["waits_for"].at(0); }

TEST(WaitsFlagsTest, AnEntryHasItsSettings) {
  EXPECT_EQ(Entry("load"), (json{{"job", "load"}, {"window", {{"day", 0}}}}));
  EXPECT_EQ(Entry("load,on=done"),
            (json{{"job", "load"}, {"on", "done"}, {"window", {{"day", 0}}}}));
  EXPECT_EQ(Entry("load,day=-31"), (json{{"job", "load"}, {"window", {{"day", -31}}}}));
  EXPECT_EQ(Entry("load,ahead=90s"), (json{{"job", "load"}, {"window", {{"ahead_s", 90}}}}));
  EXPECT_EQ(Entry("load,which=all,back=2h,in=nightly,ahead=1d"),
            (json{{"job", "load"},
                  {"in", "nightly"},
                  {"which", "all"},
                  {"window", {{"back_s", 7200}, {"ahead_s", 86'400}}}}));
  EXPECT_EQ(Entry("none,day=0"), (json{{"job", "none"}, {"window", {{"day", 0}}}}));
}

TEST(WaitsFlagsTest, TheFlagsReplaceTheEntries) {
  const json before = {{"waits_for", {{{"job", "old"}, {"window", {{"day", -2}}}}}},
                       {"wait_limit_s", 60}};
  for (const FlagsBody form : {FlagsBody::kJob, FlagsBody::kPatch}) {
    EXPECT_EQ(Applied({}, form, before), before);
    EXPECT_EQ(Applied({.limit = "6h"}, form, before)["wait_limit_s"], 21'600);
    EXPECT_EQ(Applied({.limit = "6h"}, form, before)["waits_for"], before["waits_for"]);
    EXPECT_EQ(Applied({.waits_for = {"a", "b,day=-1"}}, form, before),
              (json{{"waits_for",
                     {{{"job", "a"}, {"window", {{"day", 0}}}},
                      {{"job", "b"}, {"window", {{"day", -1}}}}}},
                    {"wait_limit_s", 60}}));
  }
}

// Null stands for a value that was forgotten in a job.
TEST(WaitsFlagsTest, NoneRemovesTheEntriesAndTheirLimit) {
  const json before = {{"waits_for", {{{"job", "old"}}}}, {"wait_limit_s", 60}, {"name", "N"}};
  EXPECT_EQ(Applied({.waits_for = {"none"}}),
            (json{{"waits_for", nullptr}, {"wait_limit_s", nullptr}}));
  EXPECT_EQ(Applied({.waits_for = {"none"}}, FlagsBody::kJob, before), (json{{"name", "N"}}));
  const std::string excludes = "--waits-for none: excludes other jobs and --wait-limit";
  EXPECT_EQ(Applied({.waits_for = {"none", "a"}}), excludes);
  EXPECT_EQ(Applied({.waits_for = {"a", "none"}}), excludes);
  EXPECT_EQ(Applied({.waits_for = {"none"}, .limit = "6h"}), excludes);
}

TEST(WaitsFlagsTest, MistakesNameTheEntry) {
  for (const auto& [wrong, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "must begin with the ID of a job"},
           {",day=0", "must begin with the ID of a job"},
           {"day=0", "must begin with the ID of a job"},
           {"a,", "'' is not 'name=value'"},
           {"a,day", "'day' is not 'name=value'"},
           {"a,day=", "'day=' is not 'name=value'"},
           {"a,day=0,day=-1", "has day twice"},
           {"a,in=w,in=x", "has in twice"},
           {"a,day=yesterday", "day must be a whole number, e.g. -1 for the day before"},
           {"a,day=-1.5", "day must be a whole number, e.g. -1 for the day before"},
           {"a,back_s=5", "has no setting 'back_s' (use in, on, day, back, ahead or which)"},
           {"a,=5", "has no setting '' (use in, on, day, back, ahead or which)"}}) {
    EXPECT_EQ(Applied({.waits_for = {"good", wrong}}), "--waits-for " + wrong + ": " + why);
  }
  EXPECT_EQ(Applied({.waits_for = {"a,back=500ms"}}), "--waits-for: back: must be whole seconds");
  EXPECT_TRUE(Applied({.waits_for = {"a,ahead=soon"}}).is_string());
  EXPECT_EQ(Applied({.limit = "500ms"}), "--wait-limit: must be whole seconds");
  EXPECT_TRUE(Applied({.limit = "-1"}).is_string());
}

}  // namespace
}  // namespace carillon::cli::waits_flags_test
