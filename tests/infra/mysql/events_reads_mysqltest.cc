// Statements and rows that accepting events costs the server, and the number of the triggers.
#include <fmt/core.h>

#include "tests/infra/mysql/event_stores.h"
#include "tests/infra/mysql/store_reads.h"

namespace carillon::test {
namespace {

constexpr char kStatements[] = "'COM_STMT_EXECUTE', 'COM_COMMIT'";

class EventReadsTest : public StoreReadsTest {
 protected:
  EventDriver events() { return EventDriver(handle_); }

  int64_t TriggerNumber() {
    auto rows = outside_->Ask("SELECT next_id FROM id_blocks WHERE name = 'event_trigger'");
    CARILLON_CHECK(rows.ok() && rows->Next(), "id_blocks");
    return rows->Int(1);
  }
  // Other events, a second apart, up to kT0.
  void FillEvents() {
    ASSERT_OK(outside_->Run(
        "INSERT INTO events (event_key, namespace, source, id, type, outcome, accepted_us, starts, "
        "problem) SELECT UNHEX(LEFT(SHA2(seq, 256), 32)), 'default', 'shop', CONCAT('old-', seq), "
        "'order.paid', "
        "'gap', " +
        std::to_string(ToUnixMicros(kT0)) + " - seq * 1000000, '[]', '' FROM " + Sequence(20'000) +
        " n"));
    ASSERT_OK(outside_->Ask("ANALYZE TABLE events"));
  }
};

TEST_F(EventReadsTest, AnEventWithoutAMatchCostsOneStatement) {
  EventDriver s = events();
  s.Create("on", s.On("order.*"));
  s.Accept(s.Of("warm"), kT0);
  const auto accept = [&] { s.Accept(s.Of("e1", {}, "invoice.paid"), kT0 + 1s); };
  EXPECT_EQ(Grown(kStatements, accept), 1);
  EXPECT_LT(RowsRead(accept), 30);
  std::vector<Event> batch;
  for (int i = 0; i < 100; ++i) batch.push_back(s.Of(std::to_string(i), {}, "invoice.paid"));
  EXPECT_EQ(Grown(kStatements, [&] { s.AcceptAll(batch, kT0 + 2s); }), 1);
}

TEST_F(EventReadsTest, AMatchCostsAFewStatementsHoweverManyEventsACallHas) {
  EventDriver s = events();
  for (int i = 0; i < 3; ++i) s.Create("on" + std::to_string(i), s.On("order.*"));
  s.Accept(s.Of("warm"), kT0);
  EXPECT_LE(Grown(kStatements, [&] { s.Accept(s.Of("e1"), kT0 + 1s); }), 8);
  std::vector<Event> batch;
  for (int i = 0; i < 100; ++i) batch.push_back(s.Of("b" + std::to_string(i)));
  EXPECT_LE(Grown(kStatements, [&] { s.AcceptAll(batch, kT0 + 2s); }), 8);
  EXPECT_LE(Grown(kStatements, [&] { s.AcceptAll(batch, kT0 + 3s); }), 3) << "known";
}

TEST_F(EventReadsTest, AMatchReadsNoRowsOfOthers) {
  EventDriver s = events();
  FillEvents();
  const StoredJob job = s.Create("on", s.On("order.*"));
  // The job has a history, and runs that a schedule of time planned ahead.
  ASSERT_OK(outside_->Run(
      fmt::format("INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, "
                  "open_segment, kind, state, due_us, def_version) SELECT {} + seq * 1000000, {}, "
                  "0, {}, {}, NULL, 'CRON', 'COMPLETED', 0, 1 FROM {} n",
                  ToUnixMicros(kT0 - 20'000s), job.schedules[0].schedule_id.value(),
                  job.job_no.value(), job.segment.value(), Sequence(19'000))));
  ASSERT_OK(outside_->Ask("ANALYZE TABLE job_runs"));
  s.Accept(s.Of("warm"), kT0);
  EXPECT_LT(RowsRead([&] { s.Accept(s.Of("e1"), kT0 + 1s); }), 60);
  EXPECT_LT(RowsRead([&] { s.Accept(s.Of("e1"), kT0 + 2s); }), 40) << "known";
}

TEST_F(EventReadsTest, TriggersAreReadAloneAndOnlyThoseThatWereEdited) {
  EventDriver s = events();
  ASSERT_OK(outside_->Run(
      "INSERT INTO job_schedules (schedule_id, job_no, segment, position, version, job_version, "
      "next_fire_us, kind, cron_expression, dst_gap, dst_repeat, misfire_policy, "
      "misfire_grace_us, catch_up_window_us, catch_up_max, priority) SELECT 900000 + seq, 900000 "
      "+ seq, 0, 0, 1, 1, 0, 'cron', '* * * * *', 'fire', 'auto', 'latest', 0, 0, 0, 0 FROM " +
      Sequence(20'000) + " n"));
  ASSERT_OK(outside_->Ask("ANALYZE TABLE job_schedules"));
  std::vector<StoredJob> jobs;
  for (int i = 0; i < 40; ++i) {
    JobDefinition definition = s.On("order." + std::to_string(i));
    definition.name = "on" + std::to_string(i);
    jobs.push_back(s.Create(definition.name, definition));
  }
  const auto look = [&] { EXPECT_EQ(s.v(s.events.ReadTriggers("default"))->all().size(), 40u); };
  EXPECT_LT(RowsRead(look), 600);
  EXPECT_LT(RowsRead(look), 30) << "nothing was edited";
  s.Replace(jobs[7], s.On("order.7", "data.amount > 1"), kT0 + 1s);
  EXPECT_LT(RowsRead(look), 250);
}

TEST_F(EventReadsTest, APageOfAListReadsItsShare) {
  EventDriver s = events();
  FillEvents();
  EventListFilter filter{.namespaces = {"default"}, .type = "order.*", .limit = 50};
  for (int page = 0; page < 3; ++page) {
    EventPage found;
    EXPECT_LT(RowsRead([&] { found = s.v(s.events.ListEvents(filter)); }), 200);
    ASSERT_EQ(found.events.size(), 50u);
    EXPECT_EQ(found.events[0].origin.id, "old-" + std::to_string(page * 50 + 1));
    filter.before = found.next;
  }
  const EventListFilter one{.namespaces = {"default"}, .source = "shop", .id = "old-9"};
  EXPECT_LT(RowsRead([&] { s.v(s.events.ListEvents(one)); }), 40);
  EXPECT_LT(RowsRead([&] { EXPECT_EQ(s.v(s.events.CountOpenEventRuns(100)), 0); }), 3'000)
      << "the open runs";
}

TEST_F(EventReadsTest, EachWriteOfATriggerRaisesTheNumber) {
  EventDriver s = events();
  int64_t number = TriggerNumber();
  const auto raised = [&] {
    const int64_t before = std::exchange(number, TriggerNumber());
    return number > before;
  };
  StoredJob other = s.Create("other", s.Every(1h));
  other = s.Replace(other, s.Every(2h), kT0 + 1s);
  other = s.Resume(s.Pause(other, kT0 + 1s), kT0 + 2s);
  EXPECT_FALSE(raised()) << "a schedule of time";

  StoredJob job = s.Create("on", s.On("order.*"));
  EXPECT_TRUE(raised());
  JobDefinition described = s.On("order.*");
  described.description = "text";
  job = s.Replace(job, described, kT0 + 1s);
  EXPECT_TRUE(raised()) << "triggers have the version of their job";
  job = s.Pause(job, kT0 + 2s);
  EXPECT_TRUE(raised());
  job = s.Resume(job, kT0 + 3s);
  EXPECT_TRUE(raised());
  job = s.Replace(job, s.Every(1h), kT0 + 4s);
  EXPECT_TRUE(raised()) << "the trigger is gone";
  job = s.Replace(job, s.On("order.paid"), kT0 + 5s);
  EXPECT_TRUE(raised());
  EXPECT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 6s}));
  EXPECT_TRUE(raised());
  EXPECT_OK(s.jobs.DeleteJob(other.job_id, other.version, {.now = kT0 + 6s}));
  EXPECT_FALSE(raised());
  s.Accept(s.Of("e1"), kT0 + 7s);
  EXPECT_FALSE(raised()) << "only read";
}

}  // namespace
}  // namespace carillon::test
