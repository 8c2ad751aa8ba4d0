#include "common/wire/json/event_json.h"
#include "scheduler/events/open_runs.h"
#include "tests/unit/scheduler/api/events/event_env.h"

namespace carillon::test {
namespace {

using OpenRunsRouteTest = EventEnv;

TEST_F(OpenRunsRouteTest, NothingIsAcceptedWhileTooManyRunsWait) {
  Listen("bill");
  const Event event{.origin = {.id = "1", .source = "shop", .type = "order.paid"},
                    .values = EventFromJson(Paid("1"))->values};
  const auto first = stores_.events.Accept({"default", {event}}, clock_.Wall());
  ASSERT_TRUE(first.ok()) << first.error().message;
  const RunKey key = *first->at(0).starts.at(0).run;
  {
    MutexLock lock(stores_.tables.mu);
    for (int64_t i = 1; i <= kOpenEventRunsMax; ++i) {
      auto entry = stores_.tables.runs().at(key);
      entry.row.key.fire += Duration(i);
      stores_.tables.PutRun(std::move(entry));
    }
  }
  const Answer refused = Post("/api/events", Paid("2"));
  EXPECT_EQ(refused.status, 429) << refused.text;
  EXPECT_EQ(refused.code(), "too_many_requests");
  EXPECT_EQ(refused.header("retry-after"), "5");
  EXPECT_EQ(Listed().size(), 1u);
}

TEST_F(OpenRunsRouteTest, EventsAreCountedByTheirResult) {
  Listen("bill");
  Listen("large", Trigger({{"filter", "data.amount > 9"}}));
  Sent(Paid("1", {{"data", {{"amount", "ten"}}}}));
  Sent(Paid("1"));
  Sent(Paid("2", {{"type", "stock"}}));
  const auto count = [this](const char* result) {
    return metrics_.counter("carillon_events_total", LabelValues({"api", result})).value();
  };
  EXPECT_EQ(count("started"), 1u);
  EXPECT_EQ(count("duplicate"), 1u);
  EXPECT_EQ(count("no_match"), 1u);
  EXPECT_EQ(count("gap"), 0u);
  // In the repeated event there is no amount at all.
  EXPECT_EQ(metrics_.counter("carillon_event_filters_failed_total").value(), 2u);
}

}  // namespace
}  // namespace carillon::test
