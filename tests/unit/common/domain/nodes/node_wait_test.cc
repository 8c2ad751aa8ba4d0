#include "common/domain/nodes/node_wait.h"

#include <gtest/gtest.h>

#include <string>

namespace carillon::test {
namespace {

WallTime TimeAt(std::string_view text) { return ParseRfc3339(text).value(); }

// In whole seconds; "" if there is none.
std::string UntilAfter(const NodeWait& wait, std::string_view fire,
                       const std::string& zone = "Europe/Paris",
                       const std::map<std::string, ParameterValue>& parameters = {}) {
  const auto end = EndOfWait(wait, TimeAt(fire), zone, parameters, TimeAt(fire) + 1h);
  if (end.ok()) {
    EXPECT_EQ(ToUnixMicros(*end) % kMicrosPerSecond, 0);
    return FormatRfc3339(*end).substr(0, 19) + "Z";
  }
  EXPECT_EQ(end.code(), ErrorCode::kInvalid);
  return "";
}

TEST(NodeWaitTest, ATimeIsTheFirstAtOrAfterTheFire) {
  const NodeWait morning{.until = "06:30"};
  EXPECT_EQ(UntilAfter(morning, "2026-01-10T21:00:00Z"), "2026-01-11T05:30:00Z") << "at night";
  EXPECT_EQ(UntilAfter(morning, "2026-01-10T05:29:59.999999Z"), "2026-01-10T05:30:00Z");
  EXPECT_EQ(UntilAfter(morning, "2026-01-10T05:30:00Z"), "2026-01-10T05:30:00Z") << "at it";
  EXPECT_EQ(UntilAfter(morning, "2026-01-10T05:30:00.000001Z"), "2026-01-11T05:30:00Z");
  EXPECT_EQ(UntilAfter({.until = "23:59:59"}, "2026-01-10T23:00:00Z", "UTC"),
            "2026-01-10T23:59:59Z");
  EXPECT_EQ(UntilAfter({.until = "00:00"}, "2026-12-31T12:00:00Z", "UTC"), "2027-01-01T00:00:00Z");
}

TEST(NodeWaitTest, DaysAreThoseOfTheZone) {
  EXPECT_EQ(UntilAfter({.until = "06:30", .day = 1}, "2026-01-10T21:00:00Z"),
            "2026-01-12T05:30:00Z");
  EXPECT_EQ(UntilAfter({.until = "06:30", .day = 31}, "2026-03-10T00:00:00Z"),
            "2026-04-10T04:30:00Z")
      << "in summer";
}

// The clocks of Paris go from 02:00 to 03:00 on 29 March 2026, at 01:00 UTC.
TEST(NodeWaitTest, ATimeThatIsLeftOutIsTheFirstInstantAfterTheGap) {
  EXPECT_EQ(UntilAfter({.until = "02:30"}, "2026-03-28T20:00:00Z"), "2026-03-29T01:00:00Z");
  EXPECT_EQ(UntilAfter({.until = "02:30", .day = 1}, "2026-03-28T20:00:00Z"),
            "2026-03-30T00:30:00Z");
  EXPECT_EQ(UntilAfter({.until = "02:30", .day = 1}, "2026-03-28T00:30:00Z"),
            "2026-03-29T01:00:00Z");
}

// The hour from 02:00 to 03:00 comes twice on 25 October 2026: from 00:00 and from 01:00 UTC.
TEST(NodeWaitTest, ATimeThatComesTwiceIsItsFirst) {
  EXPECT_EQ(UntilAfter({.until = "02:30"}, "2026-10-24T20:00:00Z"), "2026-10-25T00:30:00Z");
  EXPECT_EQ(UntilAfter({.until = "02:30"}, "2026-10-25T00:45:00Z"), "2026-10-26T01:30:00Z")
      << "not the second one";
}

// Samoa had no 30 December 2011.
TEST(NodeWaitTest, ADayThatIsLeftOutIsADay) {
  EXPECT_EQ(UntilAfter({.until = "06:30", .day = 1}, "2011-12-29T16:00:00Z", "Pacific/Apia"),
            "2011-12-30T10:00:00Z");
}

TEST(NodeWaitTest, ATimeSinceItOpenedDoesNotDependOnTheFire) {
  const WallTime now = TimeAt("2026-01-10T12:00:00Z");
  EXPECT_EQ(*EndOfWait({.for_s = 900}, TimeAt("2020-01-01T00:00:00Z"), "no zone", {}, now),
            now + 900s);
}

TEST(NodeWaitTest, AParameterHasTheTime) {
  const NodeWait wait{.until = "{{ workflow.parameters.open }}"};
  const auto with = [&](const ParameterValue& value) {
    return UntilAfter(wait, "2026-01-10T21:00:00Z", "UTC", {{"open", value}});
  };
  EXPECT_EQ(with(std::string("22:15")), "2026-01-10T22:15:00Z");
  EXPECT_EQ(with(std::string("noon")), "");
  EXPECT_EQ(with(std::string("{{workflow.parameters.open}}")), "") << "no template itself";
  EXPECT_EQ(with(int64_t{630}), "");
  EXPECT_EQ(UntilAfter(wait, "2026-01-10T21:00:00Z", "UTC"), "") << "not set";
  EXPECT_EQ(UntilAfter({.until = "06:30"}, "2026-01-10T21:00:00Z", "Mars/Olympus"), "");
}

TEST(NodeWaitTest, OnlyTimesAndLoneParametersAreAccepted) {
  for (const std::string text : {"00:00", "23:59", "06:30:15", "{{workflow.parameters.a}}"}) {
    EXPECT_TRUE(CheckUntil(text).ok()) << text;
  }
  for (const std::string text :
       {"", "6:30", "24:00", "23:60", "06:30:60", "06:30:1", "06-30", "06:3x", " 06:30", "06:30 ",
        "+6:30", "{{workflow.parameters.a}}:30", "{{workflow.parameters.a}}{{fire_time}}",
        "{{nodes.a.outputs.t}}", "{{fire_time}}", "{{workflow.run_id}}", "{{", "{{x}}",
        "{{{{06:30"}) {
    const Status checked = CheckUntil(text);
    ASSERT_FALSE(checked.ok()) << text;
    EXPECT_EQ(checked.error().pointer, "/until") << text;
  }
}

}  // namespace
}  // namespace carillon::test
