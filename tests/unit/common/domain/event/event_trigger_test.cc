#include "common/domain/event/event_trigger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/base/rng.h"
#include "common/ports/events/event_store.h"
#include "tests/unit/common/domain/event/event_samples.h"

namespace carillon::test {
namespace {

ScheduleSpec TriggerOf(std::string type, std::string source = "", std::string filter = "") {
  return {.kind = ScheduleKind::kEvent,
          .event_type = std::move(type),
          .event_source = std::move(source),
          .filter = std::move(filter)};
}

JobVersionRecord TriggersRecord(std::vector<ScheduleSpec> specs, uint64_t first_id = 1) {
  JobVersionRecord record{.job_no = JobNo(7), .version = 3, .job_id = JobId("import")};
  record.definition.name = "import";
  record.definition.schedules = std::move(specs);
  for (size_t i = 0; i < record.definition.schedules.size(); ++i) {
    record.schedule_ids.emplace_back(first_id + i);
  }
  return record;
}

TriggerSet SetOf(std::vector<ScheduleSpec> specs) {
  return TriggerSet(TriggersOf(TriggersRecord(std::move(specs))));
}

Event OrderOf(std::string type, std::string source, int64_t n) {
  return EventOf({.id = "1", .source = std::move(source), .type = std::move(type)},
                 {{"data.n", Whole(n)}});
}

std::vector<uint64_t> TriggerIds(const std::vector<const EventTrigger*>& triggers) {
  std::vector<uint64_t> ids;
  for (const EventTrigger* trigger : triggers) ids.push_back(trigger->id.value());
  return ids;
}
using IdList = std::vector<uint64_t>;

Truth FilterMatches(const ScheduleSpec& spec, const Event& event) {
  const auto filter = EventFilter::Compile(spec);
  EXPECT_TRUE(filter.ok()) << filter.error().message;
  return filter->Matches(event);
}

TEST(EventFilterTest, TypeSourceAndConditionMustAllMatch) {
  const Event event = OrderOf("order.paid", "shop", 9);
  EXPECT_EQ(FilterMatches(TriggerOf("order.paid"), event), Truth::kTrue);
  EXPECT_EQ(FilterMatches(TriggerOf("order.*", "shop", "data.n > 8"), event), Truth::kTrue);
  EXPECT_EQ(FilterMatches(TriggerOf("order"), event), Truth::kFalse);
  EXPECT_EQ(FilterMatches(TriggerOf("order.*", "shop2"), event), Truth::kFalse);
  EXPECT_EQ(FilterMatches(TriggerOf("order.*", "sho"), event), Truth::kFalse);
  EXPECT_EQ(FilterMatches(TriggerOf("order.*", "", "data.n > 9"), event), Truth::kFalse);
  EXPECT_EQ(FilterMatches(TriggerOf("*", "", "id == '1' and source == 'shop'"), event),
            Truth::kTrue);
  EXPECT_EQ(FilterMatches(TriggerOf("*", "", "subject == null"), event), Truth::kTrue);
}

TEST(EventFilterTest, AFilterWithoutAnswerCountsOnlyWhereTypeAndSourceMatch) {
  const Event event = OrderOf("order.paid", "shop", 9);
  EXPECT_EQ(FilterMatches(TriggerOf("order.*", "shop", "data.gone > 9"), event),
            Truth::kNotComputable);
  EXPECT_EQ(FilterMatches(TriggerOf("item.*", "shop", "data.gone > 9"), event), Truth::kFalse);
  EXPECT_EQ(FilterMatches(TriggerOf("order.*", "till", "data.gone > 9"), event), Truth::kFalse);
}

TEST(EventFilterTest, ARefusalNamesItsField) {
  const auto pointer = [](const ScheduleSpec& spec) {
    const auto filter = EventFilter::Compile(spec);
    if (filter.ok()) return std::string();
    EXPECT_EQ(filter.code(), ErrorCode::kInvalid);
    return filter.error().pointer;
  };
  EXPECT_EQ(pointer(TriggerOf("")), "/type");
  EXPECT_EQ(pointer(TriggerOf("a*b")), "/type");
  EXPECT_EQ(pointer(TriggerOf("a", "*")), "/source");
  EXPECT_EQ(pointer(TriggerOf("a", "", "data.n >")), "/filter");
  EXPECT_EQ(pointer(TriggerOf("a", "", "exit_code == 0")), "/filter");
  EXPECT_EQ(pointer(TriggerOf("a", "b", "data.ok")), "");
}

TEST(TriggerSetTest, IsByScheduleIdAndFindsExactTypesAndBeginnings) {
  const TriggerSet set =
      SetOf({TriggerOf("order.paid"), TriggerOf("*"), TriggerOf("item.new"), TriggerOf("order.*"),
             TriggerOf("order.paid", "shop"), TriggerOf("order.paid2")});
  EXPECT_EQ(set.all().size(), 6u);
  EXPECT_EQ(TriggerIds(set.ForType("order.paid")), (IdList{1, 2, 4, 5}));
  EXPECT_EQ(TriggerIds(set.ForType("order.")), (IdList{2, 4}));
  EXPECT_EQ(TriggerIds(set.ForType("order")), (IdList{2}));
  EXPECT_EQ(TriggerIds(set.ForType("item.new")), (IdList{2, 3}));
  EXPECT_TRUE(TriggerSet({}).ForType("order.paid").empty());
  auto triggers = TriggersOf(TriggersRecord({TriggerOf("a"), TriggerOf("a")}, 10));
  for (EventTrigger& trigger : TriggersOf(TriggersRecord({TriggerOf("a"), TriggerOf("*")}, 3))) {
    triggers.push_back(std::move(trigger));
  }
  EXPECT_EQ(TriggerIds(TriggerSet(std::move(triggers)).ForType("a")), (IdList{3, 4, 10, 11}));
}

TEST(TriggerSetTest, TriggersAreTheEventSchedulesOfAPresentVersion) {
  const ScheduleSpec hourly{.kind = ScheduleKind::kCron, .cron_expression = "0 * * * *"};
  const auto triggers = TriggersOf(TriggersRecord(
      {hourly, TriggerOf("a"), TriggerOf("b", "", "no such name"), TriggerOf("c", "s")}));
  ASSERT_EQ(triggers.size(), 2u);
  EXPECT_EQ(triggers[0].id, ScheduleId(2));
  EXPECT_EQ(triggers[0].position, 1u);
  EXPECT_EQ(triggers[0].job_no, JobNo(7));
  EXPECT_EQ(triggers[0].job_id, JobId("import"));
  EXPECT_EQ(triggers[0].job_version, 3);
  EXPECT_EQ(triggers[1].spec().event_type, "c");
  EXPECT_EQ(triggers[0].job, triggers[1].job);
  EXPECT_EQ(triggers[0].job->name, "import");

  JobVersionRecord former = TriggersRecord({TriggerOf("a")});
  former.schedule_ids.clear();
  EXPECT_TRUE(TriggersOf(former).empty());
  JobVersionRecord unreadable = TriggersRecord({TriggerOf("a")});
  unreadable.readable = false;
  EXPECT_TRUE(TriggersOf(unreadable).empty());
}

TEST(EventOutcomeTest, IsReadAsItIsWritten) {
  for (const EventOutcome outcome :
       {EventOutcome::kStarted, EventOutcome::kGap, EventOutcome::kRefused}) {
    EXPECT_EQ(ParseEventOutcome(Name(outcome)).value(), outcome);
  }
  EXPECT_EQ(Name(EventOutcome::kGap), "gap");
  EXPECT_EQ(ParseEventOutcome("Gap").code(), ErrorCode::kInvalid);
}

TEST(MatchEventTest, CountsFiltersWithoutAnAnswer) {
  const TriggerSet set = SetOf(
      {TriggerOf("t", "", "data.gone == 1"), TriggerOf("t"), TriggerOf("t", "", "data.n == 1"),
       TriggerOf("t", "", "data.n == 'x'"), TriggerOf("u", "", "data.gone == 1")});
  const auto matches = MatchEvent(set, OrderOf("t", "s", 5));
  ASSERT_TRUE(matches.ok());
  EXPECT_EQ(TriggerIds(matches->matched), (IdList{2}));
  EXPECT_EQ(matches->not_computable, 2);
}

TEST(MatchEventTest, AnEventMatchesAtMostAHundredTriggers) {
  std::vector<ScheduleSpec> specs(100, TriggerOf("t"));
  specs.push_back(TriggerOf("t", "other"));
  const auto most = MatchEvent(SetOf(specs), OrderOf("t", "s", 1));
  ASSERT_TRUE(most.ok());
  EXPECT_EQ(most->matched.size(), 100u);
  specs.push_back(TriggerOf("*"));
  const auto more = MatchEvent(SetOf(specs), OrderOf("t", "s", 1));
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.code(), ErrorCode::kInvalid);
  EXPECT_TRUE(MatchEvent(SetOf(specs), OrderOf("u", "s", 1)).ok());
}

struct WantedTrigger {
  std::string beginning;
  bool open = false;
  std::string source;
  std::optional<int64_t> least;
};

bool IsWanted(const WantedTrigger& wanted, const std::string& type, const std::string& source,
              int64_t n) {
  const bool fits = wanted.open ? type.compare(0, wanted.beginning.size(), wanted.beginning) == 0
                                : type == wanted.beginning;
  return fits && (wanted.source.empty() || wanted.source == source) &&
         (!wanted.least || n >= *wanted.least);
}

TEST(MatchEventTest, AThousandTriggersMatchAsALoopOverThem) {
  const std::vector<std::string> types{"order.paid", "order.new", "order", "item.new", "i", ""};
  const std::vector<std::string> sources{"", "", "shop", "till"};
  Rng rng(46);
  std::vector<WantedTrigger> all;
  std::vector<ScheduleSpec> specs;
  for (size_t i = 0; i < kTriggersPerNamespace; ++i) {
    WantedTrigger wanted{.beginning = types[rng.Below(types.size())],
                         .source = sources[rng.Below(4)]};
    wanted.beginning.resize(rng.Below(4) == 0 ? rng.Below(wanted.beginning.size() + 1)
                                              : wanted.beginning.size());
    wanted.open = wanted.beginning.empty() || rng.Below(5) == 0;
    // Most ask for a large number, so that few of the thousand match.
    if (rng.Below(50) != 0) wanted.least = static_cast<int64_t>(900 + rng.Below(100));
    specs.push_back(TriggerOf(wanted.beginning + (wanted.open ? "*" : ""), wanted.source,
                              wanted.least ? "data.n >= " + std::to_string(*wanted.least) : ""));
    all.push_back(std::move(wanted));
  }
  const TriggerSet set = SetOf(specs);
  int refused = 0;
  int matched = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string& type = types[rng.Below(types.size() - 1)];
    const std::string& source = sources[1 + rng.Below(3)];
    const auto n = static_cast<int64_t>(rng.Below(1'000));
    IdList expected;
    for (size_t at = 0; at < all.size(); ++at) {
      if (IsWanted(all[at], type, source, n)) expected.push_back(at + 1);
    }
    const auto matches = MatchEvent(set, OrderOf(type, source, n));
    ASSERT_EQ(matches.ok(), expected.size() <= kMatchesPerEvent) << type << " " << source << n;
    if (!matches.ok()) {
      ++refused;
      continue;
    }
    matched += expected.empty() ? 0 : 1;
    ASSERT_EQ(TriggerIds(matches->matched), expected) << type << " " << source << " " << n;
    ASSERT_EQ(matches->not_computable, 0);
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(matched, 100);
}

}  // namespace
}  // namespace carillon::test
