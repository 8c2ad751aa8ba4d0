// Contract of the outputs that a run of a job gets from the run after which it starts.
#pragma once

#include "common/domain/workflow/node_rules.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/contract/store/dependents_contract.h"

namespace carillon::test {

// Job "a", and "b" that asks for its output `rows`.
class AfterOutputsDriver : public DependentsDriver {
 public:
  using DependentsDriver::DependentsDriver;

  static JobDefinition Asking(AfterOutcome on = AfterOutcome::kSuccess) {
    JobDefinition definition = After("a", on);
    definition.schedules[0].parameters = {{"rows", std::string("{{trigger.outputs.rows}}")},
                                          {"mode", std::string("after {{trigger.state}}")}};
    return definition;
  }
  RunRow EndedWith(const StoredJob& job, const Outputs& outputs, WallTime now,
                   RunState state = RunState::kCompleted) {
    const RunRow row = Started(Execute(job, now), now + 1ms);
    ResultReport report = ReportOf(row, state, now + 1s);
    report.result.outputs = outputs;
    Apply(report, fence, now + 1s + 1ms);
    return Get(row.key).row;
  }
  RenderedParameters GivenTo(const RunKey& key) {
    return v(GivenFromText(Get(key).parameters_json));
  }
};

template <typename Factory>
class AfterOutputsContract : public ConcurrentStoreContract<Factory> {
 protected:
  AfterOutputsDriver driver() { return AfterOutputsDriver(this->handle()); }
};
TYPED_TEST_SUITE(AfterOutputsContract, StoreFactories);

TYPED_TEST(AfterOutputsContract, TheRunHasThoseOfItsUpstreamRun) {
  AfterOutputsDriver s = this->driver();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Asking());
  const std::string strange = "{{trigger.state}} \"ü\" \\ $(x)";
  // Two ends of one batch.
  const RunRow first = s.EndedWith(a, {{"rows", "12"}, {"more", "x"}}, kT0 + 1s);
  const RunRow second = s.EndedWith(a, {{"rows", strange}}, kT0 + 10s);
  const CompletionEffect effect = s.Act(kT0 + 20s);
  ASSERT_EQ(effect.started.size(), 2u);
  const std::map<RunKey, std::string> expected = {{first.key, "12"}, {second.key, strange}};
  for (const RunRow& row : effect.started) {
    const RunDetail run = s.Get(row.key);
    EXPECT_EQ(run.row, row);
    ASSERT_TRUE(run.trigger.has_value());
    const RenderedParameters given = s.GivenTo(row.key);
    // Those without outputs stay with the schedule.
    EXPECT_EQ(given.values, (Parameters{{"rows", expected.at(run.trigger->run)}}));
    EXPECT_EQ(given.untrusted, std::set<std::string>{"rows"});
    EXPECT_EQ(s.v(s.firing.LoadRunRequest(row.key)).parameters_json, run.parameters_json);
  }
}

TYPED_TEST(AfterOutputsContract, ARunWithoutItsOutputIsSkippedWithASentence) {
  AfterOutputsDriver s = this->driver();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Asking(AfterOutcome::kDone));
  const StoredJob plain = s.Create("plain", s.After("a", AfterOutcome::kDone));
  s.Create("c", s.After("b", AfterOutcome::kDone));
  const RunRow ended = s.EndedWith(a, {{"row", "12"}}, kT0 + 1s);
  const auto effects = s.v(s.completions.Apply(s.Ends(), s.fence, kT0 + 5s));
  ASSERT_EQ(effects.size(), 1u);
  const CompletionEffect& effect = effects[0];
  // The neighbour in the batch starts.
  ASSERT_EQ(effect.started.size(), 1u);
  EXPECT_EQ(effect.started[0].job_no, plain.job_no);
  const RunKey key{ended.key.fire, b.schedules[0].schedule_id, 0};
  const RunDetail skipped = s.Get(key);
  EXPECT_EQ(skipped.row.state, RunState::kSkipped);
  EXPECT_EQ(skipped.result.reason, reason::kBadParameters);
  EXPECT_EQ(skipped.result.error, "/parameters/rows: The run " + EncodeRunId(ended.key) +
                                      " of job a has no output 'rows'.");
  EXPECT_EQ(skipped.result.ended, kT0 + 5s);
  ASSERT_TRUE(skipped.trigger.has_value());
  EXPECT_EQ(skipped.trigger->run, ended.key);
  EXPECT_EQ(s.OnlyPending(kT0 + 1h).job_no, plain.job_no);
  // It tells its end as each skipped run does, and starts nothing; nor is it started again.
  ASSERT_EQ(s.Ends().size(), 1u);
  EXPECT_EQ(s.Ends()[0].key, key);
  EXPECT_TRUE(s.Act(kT0 + 6s).started.empty());
}

TYPED_TEST(AfterOutputsContract, OutputsOfAFailureMayBeAskedFor) {
  AfterOutputsDriver s = this->driver();
  const StoredJob a = s.Create("a", s.Manual());
  s.Create("b", s.Asking(AfterOutcome::kFailure));
  s.EndedWith(a, {{"rows", "3"}}, kT0 + 1s, RunState::kFailed);
  const CompletionEffect effect = s.Act(kT0 + 5s);
  ASSERT_EQ(effect.started.size(), 1u);
  EXPECT_EQ(s.GivenTo(effect.started[0].key).values.at("rows"), ParameterValue("3"));
}

TYPED_TEST(AfterOutputsContract, AnEditLeavesTheValuesOfRunsThatHaveStarted) {
  AfterOutputsDriver s = this->driver();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Asking());
  s.EndedWith(a, {{"rows", "12"}, {"day", "monday"}}, kT0 + 1s);
  const RunRow started = s.Act(kT0 + 5s).started.at(0);
  JobDefinition edited = s.Asking();
  edited.schedules[0].parameters["rows"] = std::string("{{trigger.outputs.day}}");
  const StoredJob after = s.Replace(b, edited, kT0 + 6s);
  EXPECT_EQ(after.schedules[0].schedule_id, b.schedules[0].schedule_id);
  EXPECT_EQ(s.GivenTo(started.key).values.at("rows"), ParameterValue("12"));
  s.EndedWith(a, {{"rows", "13"}, {"day", "tuesday"}}, kT0 + 10s);
  const RunRow second = s.Act(kT0 + 15s).started.at(0);
  EXPECT_EQ(s.GivenTo(second.key).values.at("rows"), ParameterValue("tuesday"));
  // A schedule that goes leaves its other parameters with the run, and takes none from it.
  s.Replace(after, s.Manual(), kT0 + 20s);
  EXPECT_EQ(s.GivenTo(second.key).values.at("rows"), ParameterValue("tuesday"));
}

TYPED_TEST(AfterOutputsContract, ARunThatWaitsForOthersHasThemAlready) {
  AfterOutputsDriver s = this->driver();
  const StoredJob a = s.Create("a", s.Manual());
  s.Create("w", s.Every(10s));
  JobDefinition waiting = s.Asking();
  waiting.waits_for = {{.job = JobId("w"), .window = {.day = 0}}};
  s.Create("b", waiting);
  const RunRow ended = s.EndedWith(a, {{"rows", "12"}}, kT0 + 1s);
  const RunRow started = s.Act(kT0 + 5s).started.at(0);
  EXPECT_EQ(started.due, kAwaiting);
  EXPECT_EQ(s.GivenTo(started.key).values.at("rows"), ParameterValue("12"));
  // One that lacks its output does not wait either.
  s.EndedWith(a, {}, kT0 + 10s);
  EXPECT_TRUE(s.Act(kT0 + 15s).started.empty());
}

}  // namespace carillon::test
