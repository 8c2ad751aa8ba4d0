// Parameters of `after` schedules with outputs of the run before.
#include "common/domain/template/trigger_outputs.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

const WallTime kAfterFire = ParseRfc3339("2026-02-28T16:30:00Z").value();

RunTrigger AfterTrigger() {
  return {.run = {kAfterFire, ScheduleId(7), 0},
          .job_id = JobId("load"),
          .state = RunState::kCompleted};
}

// A job with one parameter in its schedule.
JobDefinition AfterJob(const std::string& text, const std::string& command = "true") {
  JobDefinition job;
  job.command = command;
  job.time_zone = "UTC";
  job.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "load"}};
  job.schedules[0].parameters["x"] = text;
  return job;
}

// The value of x, or the error with its pointer.
std::string AfterRendered(const JobDefinition& job, const Outputs& outputs) {
  const auto rendered =
      RenderTriggerOutputs(job, job.schedules[0], AfterTrigger(), outputs, kAfterFire);
  if (!rendered.ok()) return rendered.error().pointer + " " + rendered.error().message;
  const auto found = rendered->values.find("x");
  return found == rendered->values.end() ? "none" : ParameterText(found->second);
}

std::string AfterMistake(const JobDefinition& job) {
  const Status checked = CheckTriggerOutputs(job);
  return checked.ok() ? "" : checked.error().pointer + " " + checked.error().message;
}

TEST(TriggerOutputsTest, OutputsAreFilledAndNothingElseIsTouched) {
  const Outputs outputs{{"rows", "12"}, {"evil", "{{trigger.outputs.rows}} {{fire_date}}"}};
  EXPECT_EQ(AfterRendered(AfterJob("{{trigger.outputs.rows}}"), outputs), "12");
  EXPECT_EQ(AfterRendered(AfterJob("{{ trigger.outputs.rows }} of {{trigger.state}} at "
                                   "{{fire_date}}, {{{{x}}"),
                          outputs),
            "12 of COMPLETED at 2026-02-28, {{x}}");
  EXPECT_EQ(AfterRendered(AfterJob("{{trigger.outputs.evil}}"), outputs), outputs.at("evil"));
  // Without an output the text stays with the schedule.
  EXPECT_EQ(AfterRendered(AfterJob("{{trigger.state}}"), outputs), "none");
  EXPECT_EQ(AfterRendered(AfterJob("trigger.outputs.rows"), outputs), "none");
}

TEST(TriggerOutputsTest, AMissingOutputIsNamedWithItsRun) {
  const std::string run = EncodeRunId(AfterTrigger().run);
  EXPECT_EQ(AfterRendered(AfterJob("{{trigger.outputs.rows}}"), {{"row", "1"}}),
            "/parameters/x The run " + run + " of job load has no output 'rows'.");
}

TEST(TriggerOutputsTest, ValuesAreUntrustedUnlessARuleLeavesAChoice) {
  JobDefinition job = AfterJob("{{trigger.outputs.rows}}");
  job.schedules[0].parameters["y"] = std::string("{{trigger.run_id}}");
  const auto rendered = [&](const std::string& rows) {
    return RenderTriggerOutputs(job, job.schedules[0], AfterTrigger(), {{"rows", rows}},
                                kAfterFire);
  };
  EXPECT_EQ(rendered("12")->untrusted, std::set<std::string>{"x"});
  job.parameter_rules["x"] = {.choices = {std::string("full"), std::string("delta")}};
  EXPECT_TRUE(rendered("full")->untrusted.empty());
  const auto other = rendered("$(reboot)");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().pointer, "/parameters/x");
  EXPECT_EQ(other.error().message.find("reboot"), std::string::npos);
}

TEST(TriggerOutputsTest, WhatCanNeverWorkIsRefused) {
  const std::string asks = "{{trigger.outputs.rows}}";
  EXPECT_EQ(AfterMistake(AfterJob(asks)), "");
  EXPECT_EQ(AfterMistake(AfterJob(asks, "echo $CARILLON_PARAM_X")), "");
  EXPECT_EQ(AfterMistake(AfterJob("{{anything}}", "echo {{params.x}}")), "");
  for (const char* text :
       {"{{trigger.outputs.}}", "{{trigger.outputs.a-b}}", "{{trigger.outputs.rows",
        "{{trigger.outputs.rows}} {{params.y}}", "{{trigger.outputs.rows}} {{trigger.output}}",
        "{{trigger.outputs.rows}} {{fire_date - 1x}}"}) {
    EXPECT_TRUE(AfterMistake(AfterJob(text)).starts_with("/schedules/0/parameters/x ")) << text;
  }
  JobDefinition job = AfterJob(asks, "echo {{params.x}}");
  EXPECT_NE(AfterMistake(job).find("$CARILLON_PARAM_X"), std::string::npos);
  job.parameter_rules["x"] = {.choices = {std::string("full")}};
  EXPECT_EQ(AfterMistake(job), "");
  job.parameter_rules["x"] = {.type = ParameterType::kInteger, .choices = {int64_t{1}}};
  EXPECT_NE(AfterMistake(job).find("integer"), std::string::npos);
  job = AfterJob(asks);
  job.schedules[0].kind = ScheduleKind::kCron;
  EXPECT_NE(AfterMistake(job), "");
}

TEST(TriggerOutputsTest, TheWholeJobIsJudgedWithoutTheValues) {
  JobDefinition job = AfterJob("{{trigger.outputs.rows}}");
  job.name = "Report";
  EXPECT_TRUE(ValidateJob(job).ok());
  job.parameter_rules["x"] = {.choices = {std::string("full")}, .required = true};
  EXPECT_TRUE(ValidateJob(job).ok()) << ValidateJob(job).error().message;
}

// An edit that takes the schedule away leaves its filled parameters to the run.
TEST(TriggerOutputsTest, APlaceholderNeverStandsInForItsValue) {
  const Parameters filled = FillTrigger(
      {{"x", std::string("{{trigger.outputs.rows}}")}, {"y", std::string("{{trigger.state}}")}},
      AfterTrigger());
  EXPECT_EQ(filled, (Parameters{{"y", std::string("COMPLETED")}}));
}

TEST(TriggerOutputsTest, NamesAndRunsThatHaveThem) {
  const ScheduleSpec spec =
      AfterJob("{{trigger.outputs.b}}-{{trigger.outputs.a}}-{{fire_time}}").schedules[0];
  EXPECT_EQ(OutputsAskedBy(spec.parameters.at("x")), (std::set<std::string>{"a", "b"}));
  EXPECT_TRUE(OutputsAskedBy(ParameterValue(int64_t{5})).empty());
  EXPECT_TRUE(AsksForOutputs(spec));
  EXPECT_FALSE(CheckOutputsGiven(spec, {}).ok());
  EXPECT_TRUE(CheckOutputsGiven(spec, {{"x", std::string("1")}}).ok());
  EXPECT_TRUE(CheckOutputsGiven(AfterJob("{{trigger.state}}").schedules[0], {}).ok());
}

}  // namespace
}  // namespace carillon::test
