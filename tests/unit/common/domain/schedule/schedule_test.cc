#include "common/domain/schedule/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "common/domain/schedule/zone.h"

namespace carillon::test::schedule_test {
namespace {

WallTime T(std::string_view text) { return ParseRfc3339(text).value(); }

ScheduleSpec Cron(std::string text, std::string zone = "UTC") {
  return {.kind = ScheduleKind::kCron,
          .cron_expression = std::move(text),
          .time_zone = std::move(zone)};
}

Schedule Compiled(const ScheduleSpec& spec, DstGap gap = DstGap::kFire,
                  DstRepeat repeat = DstRepeat::kAuto) {
  auto schedule = Schedule::Compile(spec, gap, repeat);
  EXPECT_TRUE(schedule.ok()) << schedule.error().message;
  return *schedule;
}

using Times = std::vector<WallTime>;

Times Fires(const Schedule& schedule, std::string_view after, std::string_view until) {
  Times fires;
  for (WallTime at = T(after);;) {
    const auto fire = schedule.Next(at);
    if (!fire || fire->time > T(until)) return fires;
    fires.push_back(at = fire->time);
  }
}

Times Ts(std::initializer_list<std::string_view> texts) {
  Times times;
  for (const auto text : texts) times.push_back(T(text));
  return times;
}

TEST(ScheduleTest, FiresStrictlyAfterAndNeverEarly) {
  const Schedule daily = Compiled(Cron("0 12 * * *"));
  EXPECT_EQ(daily.Next(T("2026-03-01T12:00:00Z"))->time, T("2026-03-02T12:00:00Z"));
  EXPECT_EQ(daily.Next(T("2026-03-01T11:59:59.999999Z"))->time, T("2026-03-01T12:00:00Z"));
  EXPECT_EQ(daily.Next(T("2026-03-01T12:00:00.000001Z"))->time, T("2026-03-02T12:00:00Z"));
}

TEST(ScheduleTest, StartsIn1970AndEndsWithItsTable) {
  const Schedule hourly = Compiled(Cron("0 * * * *"));
  EXPECT_EQ(hourly.Next(WallTime::min())->time, WallTime{});
  EXPECT_EQ(hourly.Next(T("2299-12-31T22:30:00Z"))->time, T("2299-12-31T23:00:00Z"));
  EXPECT_FALSE(hourly.Next(T("2299-12-31T23:00:00Z")).has_value());
  EXPECT_FALSE(hourly.Next(kNever).has_value());
  EXPECT_EQ(hourly.Count(WallTime::min(), WallTime::max()), 330LL * 365 * 24 + 80 * 24);
}

TEST(ScheduleTest, ADateThatNeverComesHasNoFire) {
  for (const char* text : {"0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 30-31 2 ?", "0 0 L-29 2 ?"}) {
    const Schedule schedule = Compiled(Cron(text, "America/New_York"));
    EXPECT_FALSE(schedule.Next(T("2026-01-01T00:00:00Z")).has_value()) << text;
    EXPECT_EQ(schedule.Count(T("2026-01-01T00:00:00Z"), kNever), 0) << text;
    EXPECT_FALSE(schedule.Nth(T("2026-01-01T00:00:00Z"), 0).has_value()) << text;
  }
}

TEST(ScheduleTest, RareDatesAreFoundWithinAHundredYears) {
  // 29 February on a Monday: 2044 is the first after 2026. 2100 is no leap year.
  const Schedule leap_monday = Compiled(Cron("0 0 */28 2 1", "Europe/Paris"));
  Times fires = Fires(leap_monday, "2043-02-28T00:00:00Z", "2044-12-31T00:00:00Z");
  EXPECT_EQ(fires, Ts({"2044-01-31T23:00:00Z", "2044-02-28T23:00:00Z"}));
  const Schedule leap = Compiled(Cron("0 0 29 2 *"));
  EXPECT_EQ(leap.Next(T("2096-02-29T00:00:00Z"))->time, T("2104-02-29T00:00:00Z"));
}

TEST(ScheduleTest, GapAndRepeatSayWhatTheyDid) {
  const Schedule night = Compiled(Cron("30 2 * * *", "Europe/Paris"));
  EXPECT_EQ(night.Next(T("2026-03-28T12:00:00Z"))->note, DstNote::kMovedByGap);
  EXPECT_EQ(night.Next(T("2026-03-29T12:00:00Z"))->note, DstNote::kNone);
  EXPECT_EQ(night.Next(T("2026-10-24T12:00:00Z"))->note, DstNote::kRepeated);
  const Schedule both =
      Compiled(Cron("30 2 * * *", "Europe/Paris"), DstGap::kFire, DstRepeat::kBoth);
  EXPECT_EQ(both.Next(T("2026-10-25T00:30:00Z"))->note, DstNote::kRepeated);
}

TEST(ScheduleTest, AWholeDayThatDoesNotExistFiresOnceAtItsEnd) {
  // Samoa had no 30 December 2011: the clock went from the 29th, 24:00 to the 31st, 00:00.
  const Schedule nine = Compiled(Cron("0 9,17 * * *", "Pacific/Apia"));
  EXPECT_EQ(Fires(nine, "2011-12-29T10:00:00Z", "2011-12-31T12:00:00Z"),
            Ts({"2011-12-29T19:00:00Z", "2011-12-30T03:00:00Z", "2011-12-30T10:00:00Z",
                "2011-12-30T19:00:00Z", "2011-12-31T03:00:00Z"}));
  const Schedule skip = Compiled(Cron("0 9,17 * * *", "Pacific/Apia"), DstGap::kSkip);
  EXPECT_EQ(Fires(skip, "2011-12-30T04:00:00Z", "2011-12-30T20:00:00Z"),
            Ts({"2011-12-30T19:00:00Z"}));
}

TEST(ScheduleTest, OffsetsWithSecondsAreKept) {
  // Monrovia was 44 minutes 30 seconds behind until 7 January 1972.
  const Schedule noon = Compiled(Cron("0 12 * * *", "Africa/Monrovia"));
  EXPECT_EQ(Fires(noon, "1972-01-05T13:00:00Z", "1972-01-08T13:00:00Z"),
            Ts({"1972-01-06T12:44:30Z", "1972-01-07T12:00:00Z", "1972-01-08T12:00:00Z"}));
}

TEST(ScheduleTest, AFireOfItsOwnAndAMovedOneAreOneInstant) {
  const Schedule both = Compiled(Cron("0,30 2,3 * * *", "Europe/Paris"));
  EXPECT_EQ(Fires(both, "2026-03-29T00:00:00Z", "2026-03-29T02:00:00Z"),
            Ts({"2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"}));
  EXPECT_EQ(both.Next(T("2026-03-29T00:00:00Z"))->note, DstNote::kNone);
}

TEST(ScheduleTest, WrongTextAndWrongZoneNameTheirField) {
  const auto text = Schedule::Compile(Cron("61 * * * *"), DstGap::kFire, DstRepeat::kAuto);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.code(), ErrorCode::kInvalid);
  EXPECT_EQ(text.error().pointer, "/cron_expression");
  for (const char* zone : {"", "Mars/Base", "/etc/passwd", "../../etc/passwd", "europe/paris",
                           "localtime", "right/UTC", "posix/UTC", "Fixed/UTC+01:00:00", "Europe",
                           "Europe/", "Europe//Paris", "CET\n", "Factory"}) {
    const auto schedule =
        Schedule::Compile(Cron("* * * * *", zone), DstGap::kFire, DstRepeat::kAuto);
    ASSERT_FALSE(schedule.ok()) << zone;
    EXPECT_EQ(schedule.code(), ErrorCode::kInvalid);
    EXPECT_EQ(schedule.error().pointer, "/time_zone");
  }
  for (const char* zone :
       {"UTC", "Etc/GMT+12", "America/Argentina/Buenos_Aires", "GB", "EST5EDT"}) {
    EXPECT_TRUE(Zone::Load(zone).ok()) << zone;
  }
}

TEST(ScheduleTest, RateFiresAtStartPlusWholePeriods) {
  const ScheduleSpec spec{
      .kind = ScheduleKind::kRate, .every = 1500ms, .start = T("2026-03-01T00:00:00.25Z")};
  const Schedule rate = Compiled(spec);
  EXPECT_EQ(rate.Next(T("2020-01-01T00:00:00Z"))->time, spec.start);
  EXPECT_EQ(rate.Next(spec.start)->time, spec.start + 1500ms);
  EXPECT_EQ(rate.Next(spec.start + 1us)->time, spec.start + 1500ms);
  EXPECT_EQ(rate.Next(spec.start + 1499999us)->time, spec.start + 1500ms);
  EXPECT_EQ(rate.Count(spec.start, spec.start + 3s), 2);
  EXPECT_EQ(rate.Count(spec.start, spec.start + 3s + 1us), 3);
  EXPECT_EQ(rate.Nth(spec.start + 1us, 1'000'000'000), spec.start + 1500ms * 1'000'000'001);
  EXPECT_FALSE(rate.Next(kNever).has_value());
  EXPECT_FALSE(rate.Nth(spec.start, int64_t{1} << 62).has_value());
}

TEST(ScheduleTest, RateBoundsAreChecked) {
  for (const Duration every : {0us, 999us, -1000us, 1001us, Duration(87'600h) + 1ms}) {
    const auto rate = Schedule::Compile({.kind = ScheduleKind::kRate, .every = every},
                                        DstGap::kFire, DstRepeat::kAuto);
    ASSERT_FALSE(rate.ok()) << every.count();
    EXPECT_EQ(rate.error().pointer, "/every_ms");
  }
  const auto early =
      Schedule::Compile({.kind = ScheduleKind::kRate, .every = 1s, .start = FromUnixMicros(-1)},
                        DstGap::kFire, DstRepeat::kAuto);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().pointer, "/start_time");
}

TEST(ScheduleTest, OnceFiresOnceAndManualNever) {
  const Schedule once =
      Compiled({.kind = ScheduleKind::kOnce, .at = T("2026-03-01T00:00:00.000001Z")});
  EXPECT_EQ(once.Next(T("2026-03-01T00:00:00Z"))->time, T("2026-03-01T00:00:00.000001Z"));
  EXPECT_FALSE(once.Next(T("2026-03-01T00:00:00.000001Z")).has_value());
  EXPECT_EQ(once.Count(WallTime{}, kNever), 1);
  EXPECT_EQ(once.Nth(WallTime{}, 0), T("2026-03-01T00:00:00.000001Z"));
  EXPECT_FALSE(once.Nth(WallTime{}, 1).has_value());
  const Schedule manual = Compiled({});
  EXPECT_EQ(manual.kind(), ScheduleKind::kManual);
  EXPECT_FALSE(manual.Next(WallTime::min()).has_value());
  EXPECT_EQ(manual.Count(WallTime::min(), kNever), 0);
}

TEST(ScheduleTest, OfADelayScheduleOnlyTheFirstFireIsKnown) {
  const WallTime start = T("2026-03-01T00:00:00Z");
  ScheduleSpec spec{.kind = ScheduleKind::kDelay, .every = 90s, .start = start};
  const Schedule delay = Compiled(spec);
  EXPECT_EQ(delay.Next(start - 1h)->time, start);
  EXPECT_FALSE(delay.Next(start).has_value());
  EXPECT_EQ(delay.Count(start, kNever), 1);
  EXPECT_EQ(delay.Count(start + 1us, kNever), 0);
  EXPECT_EQ(delay.Explain(),
            "1 minute 30 seconds after its last run ended, from 2026-03-01 00:00:00 UTC");
  spec.start = WallTime{};
  EXPECT_FALSE(Compiled(spec).Next(WallTime::min()).has_value());
  EXPECT_EQ(Compiled(spec).Count(WallTime::min(), kNever), 0);
  EXPECT_EQ(Compiled(spec).Explain(), "1 minute 30 seconds after its last run ended");
  spec.every = Duration(0);
  const auto none = Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().pointer, "/every_ms");
}

TEST(ScheduleTest, AnEventScheduleHasNoFiresOfItsOwn) {
  ScheduleSpec spec{.kind = ScheduleKind::kEvent, .event_type = "order.paid"};
  const Schedule event = Compiled(spec);
  EXPECT_EQ(event.kind(), ScheduleKind::kEvent);
  EXPECT_FALSE(event.Next(WallTime::min()).has_value());
  EXPECT_EQ(event.Count(WallTime::min(), kNever), 0);
  EXPECT_FALSE(event.Nth(WallTime::min(), 0).has_value());
  EXPECT_EQ(event.Explain(), "On each event of type order.paid");
  spec.event_type = "order.*";
  spec.event_source = "shop";
  EXPECT_EQ(Compiled(spec).Explain(), "On each event whose type begins with order. from shop");
  spec.event_type = "*";
  spec.filter = "data.n > 3";
  EXPECT_EQ(Compiled(spec).Explain(), "On each event from shop that its filter lets through");
  spec.event_type = "";
  EXPECT_EQ(Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto).error().pointer, "/type");
}

TEST(ScheduleTest, KindsAreReadAsTheyAreWritten) {
  const std::vector<std::pair<ScheduleKind, std::string_view>> names{
      {ScheduleKind::kCron, "cron"},   {ScheduleKind::kRate, "rate"},
      {ScheduleKind::kOnce, "once"},   {ScheduleKind::kManual, "manual"},
      {ScheduleKind::kDelay, "delay"}, {ScheduleKind::kAfter, "after"},
      {ScheduleKind::kEvent, "event"}};
  for (const auto& [kind, name] : names) {
    EXPECT_EQ(Name(kind), name);
    EXPECT_EQ(ParseName<ScheduleKind>(name).value(), kind);
    const bool by_itself = name == "cron" || name == "rate" || name == "once";
    EXPECT_EQ(HasTimes(kind), by_itself) << name;
    const ScheduleSpec spec{.kind = kind, .parameters = {{"a", "{{event.id}}"}}};
    EXPECT_EQ(FixedParametersOf(spec).size(), kind == ScheduleKind::kEvent ? 0u : 1u) << name;
  }
  EXPECT_EQ(ParseName<ScheduleKind>("Event").code(), ErrorCode::kInvalid);
}

TEST(ScheduleTest, SchedulesOfDifferentEventsDoNotFireAlike) {
  const ScheduleSpec spec{
      .kind = ScheduleKind::kEvent, .event_type = "a", .event_source = "s", .filter = "data.ok"};
  ScheduleSpec other = spec;
  other.parameters["x"] = "{{event.id}}";
  EXPECT_TRUE(FireAlike(spec, other));
  for (std::string ScheduleSpec::*field :
       {&ScheduleSpec::event_type, &ScheduleSpec::event_source, &ScheduleSpec::filter}) {
    other = spec;
    other.*field = "b";
    EXPECT_FALSE(FireAlike(spec, other));
  }
}

TEST(ScheduleTest, AWindowIncludesItsStartAndExcludesItsEnd) {
  ScheduleSpec spec = Cron("0 * * * *");
  spec.start = T("2026-03-01T02:00:00Z");
  spec.end = T("2026-03-01T05:00:00Z");
  const Schedule cron = Compiled(spec);
  EXPECT_EQ(Fires(cron, "2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),
            Ts({"2026-03-01T02:00:00Z", "2026-03-01T03:00:00Z", "2026-03-01T04:00:00Z"}));
  EXPECT_EQ(cron.Count(WallTime::min(), WallTime::max()), 3);
  EXPECT_EQ(cron.Nth(WallTime::min(), 2), T("2026-03-01T04:00:00Z"));
  EXPECT_FALSE(cron.Nth(WallTime::min(), 3).has_value());
  spec.end = spec.start;
  EXPECT_FALSE(Compiled(spec).Next(WallTime::min()).has_value());
  spec.end += Duration(1);
  EXPECT_EQ(Compiled(spec).Count(WallTime::min(), WallTime::max()), 1);
}

TEST(ScheduleTest, TheEndOfARateDoesNotMoveItsFires) {
  const ScheduleSpec spec{.kind = ScheduleKind::kRate,
                          .every = 1h,
                          .start = T("2026-03-01T00:10:00Z"),
                          .end = T("2026-03-01T02:10:00Z")};
  const Schedule rate = Compiled(spec);
  EXPECT_EQ(Fires(rate, "2026-01-01T00:00:00Z", "2026-04-01T00:00:00Z"),
            Ts({"2026-03-01T00:10:00Z", "2026-03-01T01:10:00Z"}));
  EXPECT_EQ(rate.Nth(spec.start, 1), T("2026-03-01T01:10:00Z"));
  EXPECT_FALSE(rate.Nth(spec.start, 2).has_value());
  EXPECT_FALSE(rate.Next(T("2026-03-01T01:10:00Z")).has_value());
}

TEST(ScheduleTest, WindowAndJitterAreChecked) {
  const auto refused = [](auto change) {
    ScheduleSpec spec = Cron("@daily");
    change(spec);
    return Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto).error().pointer;
  };
  EXPECT_EQ(refused([](auto& s) { s.start = FromUnixMicros(-1); }), "/start_time");
  EXPECT_EQ(refused([](auto& s) { s.end = FromUnixMicros(-1); }), "/end_time");
  EXPECT_EQ(refused([](auto& s) { s.end = kNever - 1us; }), "/end_time");
  EXPECT_EQ(refused([](auto& s) {
              s.start = FromUnixMicros(5);
              s.end = FromUnixMicros(4);
            }),
            "/end_time");
  for (const Duration jitter : {-1s, 3601s}) {
    EXPECT_EQ(refused([jitter](auto& s) { s.jitter = jitter; }), "/jitter_s");
  }
  EXPECT_EQ(refused([](auto& s) { s.jitter = 1500ms; }), "/jitter_s");
}

// Compares with the fires of the unlimited schedule, filtered one by one.
TEST(ScheduleTest, AWindowFiltersTheFiresOfTheUnlimitedSchedule) {
  const std::vector<ScheduleSpec> specs{Cron("*/7 * * * *", "Australia/Lord_Howe"),
                                        Cron("30 2 * * *", "Europe/Paris"),
                                        Cron("0 */5 * * *"),
                                        {.kind = ScheduleKind::kRate, .every = 977s}};
  const WallTime base = T("2026-03-27T00:00:00Z");
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const auto any = [&rng] { return Duration(rng.Below(3 * 86'400'000'000ull)); };
    ScheduleSpec spec = specs[rng.Below(specs.size())];
    const Schedule unlimited = Compiled(spec);
    const bool rate = spec.kind == ScheduleKind::kRate;  // whose start moves its fires
    const WallTime start = rate ? WallTime{} : base + any();
    spec.start = start;
    if (rng.Chance(0.8)) spec.end = std::max(start, base) + any();
    const Schedule limited = Compiled(spec);
    const WallTime from = base + any();
    const WallTime until = from + any();
    Times expected;
    for (auto fire = unlimited.Next(from - 1us); fire && fire->time < until;
         fire = unlimited.Next(fire->time)) {
      if (fire->time >= start && fire->time < spec.end) expected.push_back(fire->time);
    }
    Times fires;
    for (auto fire = limited.Next(from - 1us); fire && fire->time < until;
         fire = limited.Next(fire->time)) {
      fires.push_back(fire->time);
    }
    ASSERT_EQ(fires, expected);
    ASSERT_EQ(limited.Count(from, until), static_cast<int64_t>(expected.size()));
    for (size_t i = 0; i < expected.size(); i += 1 + expected.size() / 5) {
      ASSERT_EQ(limited.Nth(from, static_cast<int64_t>(i)), expected[i]);
    }
  }
}

TEST(ScheduleTest, NthAndCountAgreeWithNextFromAnywhere) {
  const std::vector<Schedule> schedules{
      Compiled(Cron("*/7 * * * *", "Australia/Lord_Howe"), DstGap::kFire, DstRepeat::kBoth),
      Compiled(Cron("15 1,2,3 * * *", "America/New_York"), DstGap::kFire, DstRepeat::kLate),
      Compiled(Cron("0 0 9 LW * *", "Asia/Tokyo")),
      Compiled({.kind = ScheduleKind::kRate, .every = 977ms, .start = T("2025-01-01T00:00:00Z")})};
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    const Schedule& schedule = schedules[rng.Below(schedules.size())];
    const WallTime from = T("2025-10-01T00:00:00Z") + Duration(rng.Below(20'000'000'000'000ull));
    WallTime at = from - 1us;
    for (int64_t i = 0; i < 60; ++i) {
      at = schedule.Next(at)->time;
      ASSERT_EQ(schedule.Count(from, at), i) << "seed " << seed;
      ASSERT_EQ(schedule.Count(from, at + 1us), i + 1) << "seed " << seed;
      if (i % 20 == 0) {
        ASSERT_EQ(schedule.Nth(from, i), at) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace carillon::test::schedule_test
