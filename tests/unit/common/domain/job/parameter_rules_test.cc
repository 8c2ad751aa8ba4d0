#include "common/domain/job/parameter_rules.h"

#include <gtest/gtest.h>

#include "common/domain/job/job_mistakes.h"

namespace carillon::test {
namespace {

JobDefinition JobWith(std::map<std::string, ParameterRule> rules) {
  JobDefinition job;
  job.name = "export";
  job.command = "export.sh";
  job.parameter_rules = std::move(rules);
  return job;
}

ParameterRule Of(ParameterType type, std::vector<ParameterValue> choices = {}) {
  return {.type = type, .choices = std::move(choices)};
}

std::string RefusedAt(const JobDefinition& job, ErrorCode code) {
  const Status status = ValidateJob(job);
  if (status.ok()) return "";
  EXPECT_EQ(status.code(), code) << status.error().message;
  return status.error().pointer;
}
std::string InvalidAt(const JobDefinition& job) { return RefusedAt(job, ErrorCode::kInvalid); }
std::string ContradictionAt(const JobDefinition& job) {
  return RefusedAt(job, ErrorCode::kConflict);
}

std::string GivenRefusedAt(const JobDefinition& job, std::map<std::string, ParameterValue> given) {
  const Status status = CheckGivenParameters(job, given);
  if (status.ok()) return "";
  EXPECT_EQ(status.code(), ErrorCode::kInvalid);
  return status.error().pointer;
}

TEST(ParameterRulesTest, RulesHaveBounds) {
  EXPECT_EQ(InvalidAt(JobWith({{"mode", {}}})), "");
  EXPECT_EQ(InvalidAt(JobWith({{"no-name", {}}})), "/parameter_rules/no-name");
  EXPECT_EQ(InvalidAt(JobWith({{"m", {.description = std::string(1000, 'd')}}})), "");
  EXPECT_EQ(InvalidAt(JobWith({{"m", {.description = std::string(1001, 'd')}}})),
            "/parameter_rules/m/description");
  EXPECT_EQ(InvalidAt(JobWith({{"m", {.description = "\xFF"}}})), "/parameter_rules/m/description");
  std::map<std::string, ParameterRule> many;
  std::vector<ParameterValue> choices;
  for (int64_t i = 0; i < 101; ++i) {
    many["p" + std::to_string(i)] = {};
    choices.emplace_back(i);
  }
  EXPECT_EQ(InvalidAt(JobWith(many)), "/parameter_rules");
  EXPECT_EQ(InvalidAt(JobWith({{"m", Of(ParameterType::kInteger, choices)}})),
            "/parameter_rules/m/choices");
}

TEST(ParameterRulesTest, ChoicesHaveTheTypeOfTheirRule) {
  using enum ParameterType;
  EXPECT_EQ(ContradictionAt(JobWith({{"m", Of(kNumber, {int64_t{1}, 1.5})}})), "");
  EXPECT_EQ(ContradictionAt(JobWith({{"m", Of(kInteger, {int64_t{1}, 1.5})}})),
            "/parameter_rules/m/choices/1");
  EXPECT_EQ(ContradictionAt(JobWith({{"m", Of(kString, {true})}})), "/parameter_rules/m/choices/0");
  EXPECT_EQ(ContradictionAt(JobWith({{"m", Of(kBoolean, {std::string("true")})}})),
            "/parameter_rules/m/choices/0");
  EXPECT_EQ(InvalidAt(JobWith({{"m", Of(kNumber, {int64_t{1}, 1.0})}})),
            "/parameter_rules/m/choices/1");  // the same twice
  EXPECT_EQ(InvalidAt(JobWith({{"m", Of(kString, {std::string("{{secrets.x}}")})}})),
            "/parameter_rules/m/choices/0");
}

TEST(ParameterRulesTest, NamesMustNotDifferOnlyByCase) {
  EXPECT_EQ(InvalidAt(JobWith({{"mode", {}}, {"MODE", {}}})), "/parameter_rules/mode");
  JobDefinition job = JobWith({{"mode", {}}});
  job.parameters["Mode"] = std::string("fast");
  EXPECT_EQ(InvalidAt(job), "/parameter_rules/mode");
}

TEST(ParameterRulesTest, DefaultsFitTheirRules) {
  JobDefinition job = JobWith({{"n", Of(ParameterType::kInteger, {int64_t{1}, int64_t{2}})}});
  job.parameters = {{"n", int64_t{2}}, {"free", 1.5}};
  EXPECT_EQ(ContradictionAt(job), "");
  job.parameters["n"] = std::string("2");
  EXPECT_EQ(ContradictionAt(job), "/parameters/n");
  job.parameters["n"] = int64_t{3};
  EXPECT_EQ(ContradictionAt(job), "/parameters/n");
  job.parameters["n"] = int64_t{2};
  job.parameter_rules["n"].required = true;
  EXPECT_EQ(ContradictionAt(job), "/parameter_rules/n/required");
}

TEST(ParameterRulesTest, SchedulesGiveWhatIsRequired) {
  JobDefinition job = JobWith({{"day", {.required = true}}});
  job.command = "export.sh {{params.day}}";
  EXPECT_EQ(ContradictionAt(job), "");  // only run manually
  job.schedules = {{.kind = ScheduleKind::kCron, .cron_expression = "@daily"},
                   {.kind = ScheduleKind::kCron, .cron_expression = "@hourly"}};
  job.schedules[0].parameters["day"] = std::string("monday");
  EXPECT_EQ(ContradictionAt(job), "/schedules/1/parameters/day");
  job.schedules[1].parameters["day"] = int64_t{7};
  EXPECT_EQ(ContradictionAt(job), "/schedules/1/parameters/day");
  job.schedules[1].parameters["day"] = std::string("friday");
  EXPECT_EQ(ContradictionAt(job), "");
}

TEST(ParameterRulesTest, AValueFromAnEventIsJudgedWhenItComes) {
  JobDefinition job = JobWith({{"rows", Of(ParameterType::kInteger)}, {"day", {.required = true}}});
  job.schedules = {{.kind = ScheduleKind::kEvent, .event_type = "order.*"}};
  EXPECT_EQ(ContradictionAt(job), "/schedules/0/parameters/day");
  job.schedules[0].parameters = {{"rows", std::string("{{event.data.rows}}")},
                                 {"day", std::string("{{event.data.day}}")}};
  EXPECT_EQ(ContradictionAt(job), "");
  job.schedules[0].parameters["rows"] = std::string("many");
  EXPECT_EQ(ContradictionAt(job), "/schedules/0/parameters/rows");
  job.schedules[0].kind = ScheduleKind::kCron;
  job.schedules[0].cron_expression = "@daily";
  job.schedules[0].parameters["rows"] = std::string("{{event.data.rows}}");
  EXPECT_EQ(ContradictionAt(job), "/schedules/0/parameters/rows");
}

TEST(ParameterRulesTest, GivenValuesFitTheRules) {
  using enum ParameterType;
  ParameterRule day{.type = kString, .required = true};
  day.choices = {std::string("monday"), std::string("friday")};
  const JobDefinition job = JobWith(
      {{"day", day}, {"rows", Of(kInteger)}, {"share", Of(kNumber)}, {"dry", Of(kBoolean)}});
  const ParameterValue friday = std::string("friday");
  EXPECT_EQ(GivenRefusedAt(job, {{"day", friday}}), "");
  EXPECT_EQ(GivenRefusedAt(job, {{"day", friday}, {"free", std::string("x")}}), "");
  EXPECT_EQ(GivenRefusedAt(job, {}), "/parameters/day");
  EXPECT_EQ(GivenRefusedAt(job, {{"day", std::string("sunday")}}), "/parameters/day");
  EXPECT_EQ(GivenRefusedAt(job, {{"day", friday}, {"rows", 1.5}}), "/parameters/rows");
  EXPECT_EQ(GivenRefusedAt(job, {{"day", friday}, {"rows", std::string("1")}}), "/parameters/rows");
  EXPECT_EQ(GivenRefusedAt(job, {{"day", friday}, {"rows", true}}), "/parameters/rows");
  EXPECT_EQ(GivenRefusedAt(job, {{"day", friday}, {"share", int64_t{1}}}), "");
  EXPECT_EQ(GivenRefusedAt(job, {{"day", friday}, {"share", false}}), "/parameters/share");
  EXPECT_EQ(GivenRefusedAt(job, {{"day", friday}, {"dry", std::string("yes")}}), "/parameters/dry");
  EXPECT_EQ(GivenRefusedAt(job, {{"day", friday}, {"dry", false}}), "");
}

TEST(ParameterRulesTest, AMessageNamesTheFirstChoices) {
  std::vector<ParameterValue> choices;
  for (int64_t i = 0; i < 100; ++i) choices.emplace_back(100'000 + i);
  const JobDefinition job = JobWith({{"n", Of(ParameterType::kInteger, choices)}});
  const std::string message = CheckGivenParameters(job, {{"n", int64_t{1}}}).error().message;
  EXPECT_TRUE(message.starts_with("must be one of 100000, 100001, ")) << message;
  EXPECT_TRUE(message.ends_with(", …")) << message;
  EXPECT_LT(message.size(), 300u);
}

// Both would set CARILLON_PARAM_DAY, and one value would be lost.
TEST(ParameterRulesTest, NamesThatDifferByCaseAreRefusedWhereverParametersEnter) {
  JobDefinition by_default = JobWith({});
  by_default.parameters["Day"] = int64_t{1};
  const JobDefinition by_rule = JobWith({{"Day", {}}});
  for (const JobDefinition& job : {by_default, by_rule}) {
    EXPECT_EQ(GivenRefusedAt(job, {{"day", int64_t{2}}}), "/parameters/day");
    EXPECT_EQ(GivenRefusedAt(job, {{"Day", std::string("2")}}), "");
    JobDefinition scheduled = job;
    scheduled.schedules = {{.kind = ScheduleKind::kCron, .cron_expression = "@daily"}};
    scheduled.schedules[0].parameters = {{"Day", std::string("2")}};
    EXPECT_EQ(InvalidAt(scheduled), "");
    scheduled.schedules[0].parameters = {{"dAY", std::string("2")}};
    EXPECT_EQ(InvalidAt(scheduled), "/schedules/0/parameters/dAY");
  }
  // Those of a backfill are its schedule's and its own.
  EXPECT_EQ(GivenRefusedAt(JobWith({}), {{"Day", int64_t{1}}, {"day", int64_t{2}}}),
            "/parameters/day");
  const Status told = CheckGivenParameters(by_default, {{"day", int64_t{2}}});
  EXPECT_EQ(told.error().message,
            "'day' differs from 'Day' only by case; both would be CARILLON_PARAM_DAY");
}

}  // namespace
}  // namespace carillon::test
