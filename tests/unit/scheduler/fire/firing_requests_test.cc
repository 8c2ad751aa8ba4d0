#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {
namespace {

// A run that is run again may have other parameters. Its row, and not memory, says which.
TEST_F(FiringLoopTest, EachAttemptAsksForItsOwnParameters) {
  const StoredJob job = Shell("job");
  Beat("x1", 4);
  PendingRun run = Pending(job, 1ms);
  run.kind = RunKind::kBackfill;
  run.flags = run_flag::kHasRequest;
  const PendingRun first = run;
  Feed({run});
  Step();
  ASSERT_EQ(loads_.PopUpTo(10).size(), 1u);
  run.extras = std::make_shared<const RunExtras>(RunExtras{.request_loaded = true});
  Feed({run});
  Step();
  ASSERT_EQ(Tasks().size(), 1u);
  Tell(RunEvent::What::kClaimed, run.key);
  Step();
  Tell(RunEvent::What::kEnded, run.key);
  Step();
  PendingRun again = first;  // a SKIPPED run is run again as the same attempt, due at another time
  for (const int attempt : {1, 2}) {
    again.attempt = attempt;
    again.due += 1ms;
    Feed({again});
    Step(5ms);
    EXPECT_TRUE(Tasks().empty()) << attempt;
    EXPECT_EQ(loads_.PopUpTo(10).size(), 1u) << attempt;
    // The answer to a question that was asked for the attempt before.
    PendingRun late = run;
    Feed({late});
    Step(1ms);
    EXPECT_TRUE(Tasks().empty()) << attempt;
  }
  again.extras = run.extras;
  Feed({again});
  Step();
  EXPECT_EQ(Tasks().size(), 1u);
}

// Its schedule has templates only; after an edit it may have others than those of then.
TEST_F(FiringLoopTest, ARunThatAnEventStartedHasItsOwnParametersAlone) {
  JobDefinition definition;
  definition.parameters = {{"n", int64_t{1}}};
  definition.schedules = {{.kind = ScheduleKind::kEvent,
                           .event_type = "order.paid",
                           .parameters = {{"amount", std::string("{{event.data.amount}}")},
                                          {"later", std::string("{{event.data.later}}")}}}};
  const StoredJob job = Shell("job", definition);
  Beat("x1", 4);
  PendingRun run = Pending(job, 1ms);
  run.key.schedule_id = job.schedules.at(0).schedule_id;
  run.kind = RunKind::kEvent;
  run.flags = run_flag::kHasRequest;
  run.extras = std::make_shared<const RunExtras>(
      RunExtras{.request_loaded = true, .request = {.parameters_json = R"({"amount":5})"}});
  Feed({run});
  Step();
  const std::vector<TaskMessage> tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  std::map<std::string, std::string> given;
  for (const auto& [name, value] : tasks[0].env) {
    if (name.starts_with("CARILLON_PARAM_")) given[name] = value;
  }
  EXPECT_EQ(given, (std::map<std::string, std::string>{{"CARILLON_PARAM_AMOUNT", "5"},
                                                       {"CARILLON_PARAM_N", "1"}}));
}

// An edit that removes a schedule writes its parameters into the runs that wait.
TEST_F(FiringLoopTest, AnEditedRunAsksForItsParametersAgain) {
  const StoredJob job = Shell("job");
  PendingRun run = Pending(job, 1ms);
  run.flags = run_flag::kHasRequest;
  run.extras = std::make_shared<const RunExtras>(RunExtras{.request_loaded = true});
  Feed({run});
  Step(5ms);
  EXPECT_EQ(loads_.size(), 0u);
  run.extras.reset();
  ++run.def_version;
  Feed({run});
  Step();
  EXPECT_EQ(loads_.PopUpTo(10).size(), 1u);
}

}  // namespace
}  // namespace carillon::scheduler
