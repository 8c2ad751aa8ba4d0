// Events on the database: edits at each moment of a call, unknown outcomes, members that accept at
// once, and what the columns must hold.
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "tests/infra/mysql/event_stores.h"
#include "tests/support/failpoint_on.h"

namespace carillon::test {
namespace {

constexpr std::array kReads = {"event.number_read", "event.list_read", "event.definitions_read"};

class EventsAcceptTest : public ::testing::Test {
 protected:
  ~EventsAcceptTest() override { failpoint::Reset(); }

  EventDriver driver() { return EventDriver(handle_); }
  static JobDefinition Marked(const std::string& mark, const std::string& type = "order.*") {
    return EventDriver::On(type, "", {{"mark", mark}});
  }
  // Does `edit` once, at this moment of the next call, as another member would.
  void Meanwhile(const std::string& moment, std::function<void()> edit) {
    const auto done = std::make_shared<bool>(false);  // the action is copied
    failpoint::Arm(moment, [edit = std::move(edit), done] {
      if (!std::exchange(*done, true)) edit();
      return false;
    });
  }
  ParameterValue MarkOf(EventDriver& s, const RunKey& key) { return s.GivenTo(key).values["mark"]; }

  MariadbDatabase database_;
  MysqlHandle handle_{database_.Open(kSegments)};
  MysqlHandle other_{database_.Open(kSegments)};
};

TEST_F(EventsAcceptTest, AnEditDuringACallIsSeenAsAWhole) {
  std::vector<std::string> moments(kReads.begin(), kReads.end());
  moments.emplace_back("event.matched");
  EventDriver s = driver();
  EventDriver editor(other_);
  int64_t number = 0;
  for (const std::string& moment : moments) {
    SCOPED_TRACE(moment);
    const std::string id = std::to_string(++number);
    const std::string type = "order" + id;
    const StoredJob job = s.Create("job" + id, Marked("old", type));
    Meanwhile(moment, [&] { editor.Replace(job, Marked("new", type), kT0 + 1s); });
    const EventEffect effect = s.Accept(s.Of(id, {}, type), kT0 + 2s);
    EXPECT_EQ(failpoint::Reached(moment) > 0, true);
    ASSERT_EQ(effect.starts.size(), 1u);
    ASSERT_TRUE(effect.starts[0].run);
    EXPECT_EQ(s.Get(*effect.starts[0].run).row.def_version, 2);
    EXPECT_EQ(MarkOf(s, *effect.starts[0].run), ParameterValue(std::string("new")));
    failpoint::Reset();
  }
}

TEST_F(EventsAcceptTest, ATriggerThatIsWrittenDuringAReadIsSeenByTheNextCall) {
  EventDriver s = driver();
  EventDriver editor(other_);
  for (const std::string moment : kReads) {
    SCOPED_TRACE(moment);
    const StoredJob job = s.Create(moment, Marked("x", "nothing"));
    Meanwhile(moment, [&] { editor.Replace(job, Marked("x", moment), kT0 + 1s); });
    s.Accept(s.Of("first " + moment, {}, "other"), kT0 + 2s);
    failpoint::Reset();
    EXPECT_EQ(s.Accept(s.Of("then " + moment, {}, moment), kT0 + 3s).starts.size(), 1u);
  }
}

TEST_F(EventsAcceptTest, WithoutTheSecondLookAtTheNumberItWouldBeMissed) {
  EventDriver s = driver();
  EventDriver editor(other_);
  const StoredJob job = s.Create("job", Marked("x", "nothing"));
  failpoint::Break("event.number_after");
  Meanwhile("event.list_read", [&] { editor.Replace(job, Marked("x", "order.*"), kT0 + 1s); });
  s.Accept(s.Of("e1", {}, "other"), kT0 + 2s);
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e2"), kT0 + 3s)));
}

TEST_F(EventsAcceptTest, TriggersThatAreEditedDuringEachReadAreToldUnavailable) {
  EventDriver s = driver();
  EventDriver editor(other_);
  StoredJob job = s.Create("job", Marked("0"));
  failpoint::Arm("event.list_read", [&] {
    job = editor.Replace(job, Marked(std::to_string(job.version)), kT0 + 1s);
    return false;
  });
  EXPECT_CODE(s.events.Accept({.name_space = "default", .events = {s.Of("e1")}}, kT0 + 2s),
              ErrorCode::kUnavailable);
  EXPECT_EQ(failpoint::Reached("event.list_read"), 5u);
  failpoint::Reset();
  EXPECT_EQ(s.Accept(s.Of("e1"), kT0 + 3s).starts.size(), 1u);
}

TEST_F(EventsAcceptTest, TheLockedJobDecides) {
  EventDriver s = driver();
  EventDriver editor(other_);
  const auto accept = [&](const std::string& id, std::function<void()> edit) {
    Meanwhile("event.matched", std::move(edit));
    const EventEffect effect = s.Accept(s.Of(id), kT0 + 2s);
    failpoint::Reset();
    return effect;
  };
  StoredJob job = s.Create("job", Marked("x"));
  EventEffect effect = accept("paused", [&] { job = editor.Pause(job, kT0 + 1s); });
  ASSERT_EQ(effect.starts.size(), 1u);
  EXPECT_EQ(effect.starts[0].gap, GapReason::kPaused);
  effect = accept("resumed", [&] { job = editor.Resume(job, kT0 + 1s); });
  ASSERT_EQ(effect.starts.size(), 1u);
  EXPECT_TRUE(effect.starts[0].run);
  effect = accept("filtered",
                  [&] { job = editor.Replace(job, s.On("order.*", "data.amount > 9"), kT0 + 1s); });
  EXPECT_TRUE(s.IsNoMatch(effect));
  job = s.Replace(job, Marked("x"), kT0 + 2s);
  effect = accept("moved", [&] {
    JobDefinition elsewhere = Marked("x");
    elsewhere.name_space = "elsewhere";
    job = editor.Replace(job, elsewhere, kT0 + 1s);
  });
  EXPECT_TRUE(s.IsNoMatch(effect)) << "it is of another namespace";
  job = s.Replace(job, Marked("x"), kT0 + 2s);
  effect = accept("two", [&] {
    JobDefinition two = Marked("x");
    two.schedules.push_back(s.Trigger("order.created"));
    job = editor.Replace(job, two, kT0 + 1s);
  });
  EXPECT_EQ(effect.starts.size(), 2u);
  effect = accept("deleted", [&] {
    EXPECT_OK(editor.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 1s}));
  });
  EXPECT_TRUE(s.IsNoMatch(effect));
  EXPECT_EQ(s.Stored().size(), 3u) << "paused, resumed, two";
}

TEST_F(EventsAcceptTest, AfterAnUnknownOutcomeTheSameCallTellsTheRuns) {
  EventDriver s = driver();
  s.Create("job", Marked("x"));
  const NewEvents batch{.name_space = "default", .events = {s.Of("e1"), s.Of("e2")}};
  failpoint::ArmTimes("mysql.lose_commit_reply", 1);
  EXPECT_CODE(s.events.Accept(batch, kT0), ErrorCode::kTimeout);
  const std::vector<RunRow> runs = s.Pending(kNever);
  ASSERT_EQ(runs.size(), 2u);
  const auto again = s.v(s.events.Accept(batch, kT0 + 1s));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(again[i].duplicate);
    ASSERT_EQ(again[i].starts.size(), 1u);
    EXPECT_EQ(again[i].starts[0].run, runs[i].key);
  }
  EXPECT_EQ(s.Pending(kNever).size(), 2u);

  const NewEvents next{.name_space = "default", .events = {s.Of("e3")}};
  failpoint::ArmTimes("mysql.fail_commit", 1);
  EXPECT_CODE(s.events.Accept(next, kT0 + 2s), ErrorCode::kTimeout);
  EXPECT_EQ(s.Pending(kNever).size(), 2u);
  EXPECT_FALSE(s.v(s.events.Accept(next, kT0 + 3s))[0].duplicate);
  EXPECT_EQ(s.Pending(kNever).size(), 3u);
}

// Members that accept at once, each through a store of its own.
class EventMembers {
 public:
  EventMembers(MariadbDatabase& database, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      members_.push_back(std::make_unique<MysqlHandle>(database.Open(kSegments)));
    }
  }
  // Calls work(store, i) in a thread for each member.
  template <typename Work>
  void Together(Work work) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < members_.size(); ++i) {
      threads.emplace_back([&, i] { work(members_[i]->events(), i); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  MysqlHandle& at(size_t i) { return *members_[i]; }

 private:
  std::vector<std::unique_ptr<MysqlHandle>> members_;
};

// Repeats a call that may be repeated.
Result<std::vector<EventEffect>> AcceptUntilDone(EventStore& store, const NewEvents& batch,
                                                 WallTime now) {
  for (int tries = 0;; ++tries) {
    auto effects = store.Accept(batch, now);
    if (effects.ok() || effects.code() != ErrorCode::kUnavailable || tries == 50) return effects;
  }
}

TEST_F(EventsAcceptTest, OfMembersThatAcceptTheSameEventOneStartsIt) {
  EventDriver s = driver();
  s.Create("job", Marked("x"));
  EventMembers members(database_, 4);
  for (int round = 0; round < 10; ++round) {
    std::vector<Event> batch;
    for (int i = 0; i < 5; ++i) batch.push_back(s.Of(std::to_string(round * 5 + i)));
    std::array<std::vector<EventEffect>, 4> effects;
    members.Together([&](EventStore& store, size_t i) {
      std::vector<Event> mine = batch;
      if (i % 2 == 1) std::reverse(mine.begin(), mine.end());
      auto accepted = AcceptUntilDone(store, {.name_space = "default", .events = mine},
                                      kT0 + Duration(1s) * round + Duration(static_cast<int>(i)));
      ASSERT_TRUE(accepted.ok()) << accepted.error().message;
      effects[i] = std::move(*accepted);
      if (i % 2 == 1) std::reverse(effects[i].begin(), effects[i].end());
    });
    for (size_t e = 0; e < batch.size(); ++e) {
      int first = 0;
      for (const auto& of_member : effects) {
        ASSERT_EQ(of_member.size(), batch.size());
        first += of_member[e].duplicate ? 0 : 1;
        EXPECT_EQ(of_member[e].starts, effects[0][e].starts);
      }
      EXPECT_EQ(first, 1);
    }
  }
  EXPECT_EQ(s.Pending(kNever).size(), 50u);
}

TEST_F(EventsAcceptTest, MembersThatTakeOneMicrosecondTakeTheNext) {
  EventDriver s = driver();
  s.Create("job", Marked("x"));
  EventMembers members(database_, 4);
  members.Together([&](EventStore& store, size_t i) {
    for (int n = 0; n < 25; ++n) {
      const std::string id = std::to_string(i) + "-" + std::to_string(n);
      const auto accepted =
          AcceptUntilDone(store, {.name_space = "default", .events = {s.Of(id)}}, kT0);
      ASSERT_TRUE(accepted.ok()) << accepted.error().message;
    }
  });
  const std::vector<RunRow> runs = s.Pending(kNever);
  ASSERT_EQ(runs.size(), 100u);
  EXPECT_EQ(runs.front().key.fire, kT0);
  EXPECT_EQ(runs.back().key.fire, kT0 + 99us);
}

// Accepts, edits, a delete and the upkeep, all at once. Each of them ends; each event has its run
// or its gap.
TEST_F(EventsAcceptTest, EditsOfTheJobsOfEventsHinderNobody) {
  EventDriver s = driver();
  std::vector<StoredJob> jobs;
  for (int i = 0; i < 4; ++i) {
    JobDefinition definition = Marked("0");
    definition.name = "job" + std::to_string(i);
    jobs.push_back(s.Create(definition.name, definition));
  }
  constexpr int kRounds = 15;
  std::mutex mu;
  std::vector<std::string> problems;
  const auto check = [&](const auto& result, std::string_view what) {
    const bool fine = result.ok() || result.code() == ErrorCode::kConflict ||
                      result.code() == ErrorCode::kNotFound || result.code() == ErrorCode::kExists;
    const std::lock_guard lock(mu);
    if (!fine) problems.push_back(std::string(what) + ": " + result.error().message);
  };
  std::atomic<int> accepted = 0;
  EventMembers members(database_, 6);
  members.Together([&](EventStore& store, size_t member) {
    EventDriver editor(members.at(member));
    for (int round = 0; round < kRounds; ++round) {
      const WallTime now = kT0 + Duration(1s) * round;
      const StoredJob& job = jobs[static_cast<size_t>(round) % 3];
      if (member < 3) {
        NewEvents batch{.name_space = "default"};
        for (int i = 0; i < 5; ++i) {
          batch.events.push_back(
              s.Of(std::to_string(member) + "-" + std::to_string(round) + "-" + std::to_string(i)));
        }
        const auto effects = AcceptUntilDone(store, batch, now);
        check(effects, "accept");
        if (!effects.ok()) continue;
        for (const EventEffect& effect : *effects) {
          accepted += !effect.duplicate && effect.starts.size() >= 3 ? 1 : 0;
        }
      } else if (member == 3) {
        const auto present = editor.jobs.GetJob(job.job_id);
        JobDefinition edited = present->definition;
        edited.schedules[0].parameters["mark"] = std::to_string(round);
        check(editor.jobs.ReplaceJob(job.job_id, present->version, edited, {.now = now}),
              "replace");
        check(editor.jobs.CreateJob(JobId("after" + std::to_string(round)),
                                    [&] {
                                      JobDefinition after = s.After(job.job_id.value());
                                      after.name = "after" + std::to_string(round);
                                      return after;
                                    }(),
                                    {.now = now}),
              "create after");
      } else if (member == 4) {
        check(editor.jobs.PauseJob(job.job_id, "test", {.now = now}), "pause");
        check(editor.jobs.ResumeJob(job.job_id, "test", {.now = now}), "resume");
        if (round == kRounds / 2) {
          check(editor.jobs.DeleteJob(jobs[3].job_id, 1, {.now = now}), "delete");
        }
      } else {
        check(editor.housekeeping.Maintain(now, {.runs = 24h * 30}), "maintain");
      }
    }
  });
  EXPECT_EQ(problems, std::vector<std::string>());
  EXPECT_EQ(accepted, 3 * kRounds * 5);
  std::set<RunKey> keys;
  for (const EventRecord& record : s.v(s.events.ListEvents({.limit = 500})).events) {
    std::set<ScheduleId> schedules;
    for (const EventStart& start : record.starts) {
      EXPECT_TRUE(schedules.insert(start.schedule_id).second);
      if (!start.run) continue;
      EXPECT_TRUE(keys.insert(*start.run).second);
    }
  }
  EXPECT_GT(keys.size(), 0u);
  for (const RunKey& key : keys) EXPECT_OK(s.runs.GetRun(key));
}

TEST_F(EventsAcceptTest, NamesAtTheirBoundsAreKeptWhole) {
  EventDriver s = driver();
  s.Create("job", Marked("{{event.subject}}", "*"));
  const auto filled = [](size_t bytes) {
    std::string text = "'\"\\%_! ";
    while (text.size() + 4 <= bytes) text += "\xF0\x9F\x98\x80";
    return text + std::string(bytes - text.size(), 'x');
  };
  Event event = s.Of(filled(kEventIdBytesMax), {{"subject", filled(kEventSubjectBytesMax)}},
                     filled(kEventTypeBytesMax), filled(kEventSourceBytesMax));
  event.origin.subject = filled(kEventSubjectBytesMax);
  const RunKey key = s.Started(event, kT0);
  EXPECT_EQ(s.GivenTo(key).event, event.origin);
  EXPECT_EQ(MarkOf(s, key), ParameterValue(event.origin.subject));
  EXPECT_TRUE(s.Accept(event, kT0 + 1s).duplicate);
  for (const EventListFilter& filter :
       {EventListFilter{}, EventListFilter{.id = event.origin.id},
        EventListFilter{.source = event.origin.source}, EventListFilter{.type = event.origin.type},
        EventListFilter{
            .namespaces = {"default"}, .source = event.origin.source, .id = event.origin.id},
        EventListFilter{.type = event.origin.type.substr(0, 5) + "*"}}) {
    const auto found = s.Stored(filter);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].origin, event.origin);
  }
  EXPECT_TRUE(s.Stored({.type = "'\"\\_*"}).empty()) << "no wildcard of SQL";
  const std::string place = std::string(249, 't') + "/2147483647/9223372036854775807";
  EXPECT_OK(s.events.Refuse({.name_space = "default", .place = place, .problem = "no JSON"}, kT0));
  ASSERT_EQ(s.Stored({.outcome = EventOutcome::kRefused}).size(), 1u);
  EXPECT_EQ(s.Stored({.outcome = EventOutcome::kRefused})[0].origin.id, place);
}

TEST_F(EventsAcceptTest, ManyLargeParametersFitIntoOneCall) {
  EventDriver s = driver();
  for (int i = 0; i < 3; ++i) {
    JobDefinition definition = s.On("order.*", "", {{"text", std::string("{{event.data.text}}")}});
    definition.name = "job" + std::to_string(i);
    s.Create(definition.name, definition);
  }
  std::vector<Event> batch;
  for (int i = 0; i < 100; ++i) {
    batch.push_back(s.Of(std::to_string(i), {{"data.text", std::string(30'000, 'x')}}));
  }
  const auto effects = s.AcceptAll(batch, kT0);
  ASSERT_EQ(effects.size(), 100u);
  ASSERT_EQ(effects[99].starts.size(), 3u);
  EXPECT_EQ(s.GivenTo(*effects[99].starts[2].run).values["text"],
            ParameterValue(std::string(30'000, 'x')));
  EXPECT_EQ(s.Pending(kNever).size(), 300u);
}

TEST_F(EventsAcceptTest, AnEventWhoseRowCannotBeReadIsKnown) {
  EventDriver s = driver();
  s.Create("job", Marked("x"));
  s.Accept(s.Of("e1"), kT0);
  s.Accept(s.Of("e2"), kT0);
  for (const std::string starts : {"?", "[{\"run_id\": 7}]", "[7]", "7", "[{\"gap\": \"new\"}]"}) {
    handle_.Run("UPDATE events SET starts = '" + starts + "' WHERE id = 'e1'");
    const EventEffect again = s.Accept(s.Of("e1"), kT0 + 1s);
    EXPECT_TRUE(again.duplicate) << starts;
    EXPECT_TRUE(again.starts.empty()) << starts;
    EXPECT_EQ(s.IdsOf(s.Stored()), (std::vector<std::string>{"e2"})) << starts;
  }
}

TEST_F(EventsAcceptTest, AfterAChangeOfTheStoreItsTriggersAreReadAnew) {
  EventDriver s = driver();
  const StoredJob job = s.Create("job", Marked("x"));
  EXPECT_EQ(s.Accept(s.Of("e1"), kT0).starts.size(), 1u);
  // Another store with the same number: the job has another trigger there.
  handle_.Run("UPDATE job_versions SET definition = REPLACE(definition, 'order.*', 'other.*')");
  EXPECT_EQ(s.Accept(s.Of("e2"), kT0).starts.size(), 1u) << "kept in memory";
  handle_.identity().Forget();
  EXPECT_TRUE(s.IsNoMatch(s.Accept(s.Of("e3"), kT0)));
}

}  // namespace
}  // namespace carillon::test
