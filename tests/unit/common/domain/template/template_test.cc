#include "common/domain/template/template.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/domain/job_text.h"
#include "common/domain/template/template_text.h"

namespace carillon::test {
namespace {

AttemptFacts Facts() {
  return {.key = {ParseRfc3339("2026-03-01T02:00:00Z").value(), ScheduleId(7), 3},
          .job_id = JobId("backup"),
          .attempt = 2,
          .shard_total = 5,
          .parameters = {{"path", std::string("/srv/a b")},
                         {"count", int64_t{-4}},
                         {"ratio", 0.1},
                         {"dry", true}}};
}

JobDefinition Job(std::string command) {
  JobDefinition job;
  job.name = "job";
  job.command = std::move(command);
  job.env = {{"HOME", "/root"}, {"TAG", "{{job_id}}-{{attempt}}"}};
  return job;
}

Result<std::string> Rendered(std::string command) {
  auto attempt = RenderAttempt(Job(std::move(command)), Facts());
  if (!attempt.ok()) return attempt.error();
  return attempt->command;
}

TEST(TemplateTest, FillsEveryKnownName) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"echo plain", "echo plain"},
      {"", ""},
      {"{{fire_time}}", "2026-03-01T02:00:00.000000Z"},
      {"{{run_id}}", EncodeRunId(Facts().key)},
      {"{{ job_id }}/{{attempt}}", "backup/2"},
      {"{{shard_index}} of {{shard_total}}", "2 of 5"},
      {"{{params.path}}|{{params.count}}|{{params.ratio}}|{{params.dry}}", "/srv/a b|-4|0.1|true"},
      {"{{env.HOME}} {{env.TAG}}", "/root backup-2"},
      {"{{attempt}}{{attempt}}", "22"},
      {"a } b }} c { d", "a } b }} c { d"},
      {"docker inspect -f '{{{{.State.Status}}'", "docker inspect -f '{{.State.Status}}'"},
      {"{{{{{{attempt}}", "{{2"},
      {"{{{{attempt}}", "{{attempt}}"},
  };
  for (const auto& [text, expected] : rows) {
    const auto rendered = Rendered(text);
    ASSERT_TRUE(rendered.ok()) << text << ": " << rendered.error().message;
    EXPECT_EQ(*rendered, expected) << text;
  }
}

TEST(TemplateTest, RefusesWhatItCannotFillNamingIt) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"{{nope}}", "'nope'"},
      {"{{params.missing}}", "'params.missing'"},
      {"{{env.MISSING}}", "'env.MISSING'"},
      {"{{secrets.key}}", "'secrets.key'"},
      {"{{}}", "''"},
      {"x {{attempt", "byte 3"},
      {"{{{attempt}}}", "'{attempt'"},
      {"{{Attempt}}", "'Attempt'"}};
  for (const auto& [text, named] : rows) {
    const auto rendered = Rendered(text);
    ASSERT_FALSE(rendered.ok()) << text;
    EXPECT_EQ(rendered.code(), ErrorCode::kInvalid);
    EXPECT_NE(rendered.error().message.find(named), std::string::npos) << rendered.error().message;
  }
}

TEST(TemplateTest, FillsTheTriggerOrNothing) {
  AttemptFacts facts = Facts();
  const JobDefinition job = Job("{{trigger.run_id}}|{{ trigger.state }}|{{trigger.fire_time}}");
  EXPECT_TRUE(ValidateTemplates(job).ok());
  EXPECT_EQ(RenderAttempt(job, facts)->command, "||");
  facts.trigger =
      RunTrigger{.run = {ParseRfc3339("2026-03-01T01:00:00Z").value(), ScheduleId(3), 0},
                 .job_id = JobId("nightly"),
                 .state = RunState::kTimedOut};
  EXPECT_EQ(RenderAttempt(job, facts)->command,
            EncodeRunId(facts.trigger->run) + "|TIMED_OUT|2026-03-01T01:00:00.000000Z");
  EXPECT_FALSE(ValidateTemplates(Job("{{trigger.job}}")).ok());
}

TEST(TemplateTest, FillsTheTriggerInParametersAndLeavesAllElse) {
  const RunTrigger trigger{.run = {ParseRfc3339("2026-03-01T01:00:00Z").value(), ScheduleId(3), 0},
                           .job_id = JobId("nightly"),
                           .state = RunState::kCompleted};
  const auto filled = [&](const std::string& text) {
    const Parameters parameters = FillTrigger({{"x", text}, {"n", int64_t{5}}}, trigger);
    EXPECT_EQ(parameters.at("n"), ParameterValue(int64_t{5}));
    return ParameterText(parameters.at("x"));
  };
  EXPECT_EQ(filled("after {{trigger.state}}."), "after COMPLETED.");
  EXPECT_EQ(filled("{{ trigger.state }}{{trigger.state}}"), "COMPLETEDCOMPLETED");
  for (const char* text : {"", "plain", "{{run_id}}", "{{", "{{trigger.state", "a {{{{ b", "}}"}) {
    EXPECT_EQ(filled(text), text);
  }
}

TEST(TemplateTest, AValueIsNotATemplateItself) {
  AttemptFacts facts = Facts();
  facts.parameters["path"] = std::string("{{run_id}}");
  EXPECT_EQ(RenderAttempt(Job("{{params.path}}"), facts)->command, "{{run_id}}");
}

TEST(TemplateTest, ResultIsBounded) {
  AttemptFacts facts = Facts();
  facts.parameters["path"] = std::string(32'768, 'x');
  std::string command;
  for (int i = 0; i < 31; ++i) command += "{{params.path}}";
  EXPECT_TRUE(RenderAttempt(Job(command), facts).ok());
  for (int i = 0; i < 2; ++i) command += "{{params.path}}";
  const auto rendered = RenderAttempt(Job(command), facts);
  ASSERT_FALSE(rendered.ok());
  EXPECT_EQ(rendered.code(), ErrorCode::kInvalid);
}

TEST(TemplateTest, EnvironmentOfAProcessIsWhole) {
  const auto attempt = RenderAttempt(Job("true"), Facts());
  ASSERT_TRUE(attempt.ok());
  const std::map<std::string, std::string> expected{
      {"PATH", std::string(kStatedPath)},
      {"HOME", "/root"},
      {"TAG", "backup-2"},
      {"CARILLON_RUN_ID", EncodeRunId(Facts().key)},
      {"CARILLON_JOB_ID", "backup"},
      {"CARILLON_FIRE_TIME", "2026-03-01T02:00:00.000000Z"},
      {"CARILLON_ATTEMPT", "2"},
      {"CARILLON_SHARD_INDEX", "2"},
      {"CARILLON_SHARD_TOTAL", "5"},
      {"CARILLON_TIME_ZONE", "UTC"},
      {"CARILLON_FIRE_DATE", "2026-03-01"},
      {"CARILLON_PARAM_PATH", "/srv/a b"},
      {"CARILLON_PARAM_COUNT", "-4"},
      {"CARILLON_PARAM_RATIO", "0.1"},
      {"CARILLON_PARAM_DRY", "true"}};
  EXPECT_EQ(attempt->env, expected);
}

TEST(TemplateTest, OnlyTheProcessOfANodeKnowsItsNode) {
  AttemptFacts facts = Facts();
  facts.node = "load";
  EXPECT_EQ(RenderAttempt(Job("true"), facts)->env.at("CARILLON_NODE"), "load");
  EXPECT_TRUE(IsReservedVariable("CARILLON_NODE"));
}

TEST(TemplateTest, PlaceholdersOfNodesAreNamedWithTheWayOut) {
  for (const char* name : {"workflow.parameters.day", "nodes.list.outputs.day"}) {
    const auto attempt = RenderAttempt(Job("echo {{" + std::string(name) + "}}"), Facts());
    ASSERT_FALSE(attempt.ok());
    EXPECT_NE(attempt.error().message.find("parameters: {day: \"{{" + std::string(name) +
                                           "}}\"} there, and use $CARILLON_PARAM_DAY here"),
              std::string::npos)
        << attempt.error().message;
  }
}

std::string Scanned(const std::string& text) {
  std::string rendered;
  const Status status = ScanTemplate(
      text, [&](std::string_view part) { rendered += part; },
      [&](std::string_view name) {
        rendered += "<" + std::string(name) + ">";
        return Status();
      });
  return status.ok() ? rendered : "refused";
}

TEST(TemplateTest, BothEndsOfEscapedBracesMayBeDoubled) {
  EXPECT_EQ(Scanned("ps '{{{{.Names}}'"), "ps '{{.Names}}'");
  EXPECT_EQ(Scanned("ps '{{{{.Names}}}}'"), "ps '{{.Names}}'");
  EXPECT_EQ(Scanned("{{{{a {{{{b}}}} c}}}}"), "{{a {{b}} c}}");
  EXPECT_EQ(Scanned("{{{{a {{b}} c}}}}"), "{{a <b> c}}") << "a placeholder keeps its own braces";
  EXPECT_EQ(Scanned("{{{{a}}}}}}"), "{{a}}}}");
  EXPECT_EQ(Scanned("}}}} {{a}} }}}}"), "}}}} <a> }}}}") << "nothing to close";
}

TEST(TemplateTest, AnEscapedTextRendersAsItself) {
  for (const std::string text :
       {"", "plain", "{{.Names}}", "{{{a}}}", "{{{{a}}}}", "{{json .}}}}", "}}}} {{", "{{a}}}}}{{b",
        "{ {{ { {{{ }}}} }}}}}", "{{a {{b}}}} }}}}}}"}) {
    EXPECT_EQ(Scanned(EscapeTemplate(text)), text);
  }
  EXPECT_EQ(EscapeTemplate("docker ps --format '{{.Names}}'"), "docker ps --format '{{{{.Names}}'");
  uint64_t state = 11;
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 16; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += "{{}}a"[(state >> 33) % 5];
    }
    EXPECT_EQ(Scanned(EscapeTemplate(text)), text);
  }
}

TEST(TemplateTest, LocalDatesAreFilledInEverywhere) {
  AttemptFacts facts = Facts();
  facts.time_zone = "America/New_York";
  JobDefinition job = Job("{{fire_date}} {{ fire_date - 1d | %Y%m%d }} {{fire_time.local}}");
  job.env["DAY"] = "{{fire_date + 1M}}";
  EXPECT_TRUE(ValidateTemplates(job).ok());
  const auto attempt = RenderAttempt(job, facts);
  ASSERT_TRUE(attempt.ok()) << attempt.error().message;
  EXPECT_EQ(attempt->command, "2026-02-28 20260227 2026-02-28T21:00:00-05:00");
  EXPECT_EQ(attempt->env.at("DAY"), "2026-03-28");
  EXPECT_EQ(attempt->env.at("CARILLON_FIRE_DATE"), "2026-02-28");
  EXPECT_EQ(attempt->env.at("CARILLON_TIME_ZONE"), "America/New_York");
  EXPECT_EQ(attempt->env.at("CARILLON_FIRE_TIME"), "2026-03-01T02:00:00.000000Z");
  EXPECT_EQ(*RenderPlain("{{fire_date}}", facts), "2026-02-28");
  JobDefinition request;
  request.type = JobType::kHttp;
  request.http = HttpDefinition{.url = "http://h/{{fire_date | %Y/%m}}?d={{fire_date}}"};
  const auto sent = RenderAttempt(request, facts);
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(sent->http->url, "http://h/2026%2F02?d=2026-02-28");
  JobDefinition container;
  container.type = JobType::kContainer;
  container.container = ContainerDefinition{.image = "i", .args = {"{{fire_date - 1w}}"}};
  EXPECT_EQ(RenderAttempt(container, facts)->container->args[0], "2026-02-21");
}

TEST(TemplateTest, ProcessThatAsksForNoDateNeedsNoKnownZone) {
  AttemptFacts facts = Facts();
  facts.time_zone = "Moon/Base";
  const auto attempt = RenderAttempt(Job("true"), facts);
  ASSERT_TRUE(attempt.ok());
  EXPECT_EQ(attempt->env.at("CARILLON_TIME_ZONE"), "Moon/Base");
  EXPECT_EQ(attempt->env.at("CARILLON_FIRE_DATE"), "unknown");
  EXPECT_FALSE(RenderAttempt(Job("{{fire_date}}"), facts).ok());
}

TEST(TemplateTest, WrongDateIsRefusedWhereItIsWritten) {
  JobDefinition job = Job("true");
  job.env["DAY"] = "{{fire_date - 1y}}";
  const Status status = ValidateTemplates(job);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().pointer, "/env/DAY");
  EXPECT_NE(status.error().message.find("column 14"), std::string::npos);
  const Status other = ValidateTemplates(Job("{{ds_nodash}}"));
  EXPECT_NE(other.error().message.find("write {{fire_date | %Y%m%d}}"), std::string::npos)
      << other.error().message;
}

TEST(TemplateTest, TheJobsPathWins) {
  JobDefinition job = Job("true");
  job.env["PATH"] = "/opt/bin";
  EXPECT_EQ(RenderAttempt(job, Facts())->env.at("PATH"), "/opt/bin");
}

TEST(TemplateTest, GivenParametersWin) {
  const Parameters merged = MergeParameters({{"a", int64_t{1}}, {"b", true}}, {{"a", false}});
  EXPECT_EQ(merged, (Parameters{{"a", false}, {"b", true}}));
}

TEST(TemplateTest, ValidationKnowsWhatARunWillHave) {
  JobDefinition job = Job("{{params.later}} {{env.HOME}} {{run_id}}");
  EXPECT_TRUE(ValidateTemplates(job).ok()) << "execute may give the parameter";
  job.schedules = {{.kind = ScheduleKind::kOnce}};
  EXPECT_EQ(ValidateTemplates(job).error().pointer, "/command") << "a schedule gives none";
  job.schedules.push_back(job.schedules[0]);
  job.schedules[0].parameters["later"] = int64_t{1};
  EXPECT_EQ(ValidateTemplates(job).error().pointer, "/command") << "the other schedule gives none";
  job.schedules[1].parameters["later"] = int64_t{1};
  EXPECT_TRUE(ValidateTemplates(job).ok());
  job.schedules.push_back({.kind = ScheduleKind::kEvent, .event_type = "paid"});
  EXPECT_EQ(ValidateTemplates(job).error().pointer, "/command") << "nor does the event";
  job.schedules[2].parameters["later"] = std::string("{{event.data.later}}");
  EXPECT_TRUE(ValidateTemplates(job).ok());
  job.schedules[0].parameters.clear();
  job.parameters["later"] = int64_t{1};
  EXPECT_TRUE(ValidateTemplates(job).ok());
  for (const char* command : {"{{env.OTHER}}", "{{params.1x}}", "{{nope}}", "{{ "}) {
    const Status status = ValidateTemplates(Job(command));
    ASSERT_FALSE(status.ok()) << command;
    EXPECT_EQ(status.error().pointer, "/command");
  }
  job.env["LOOP"] = "{{env.HOME}}";
  EXPECT_EQ(ValidateTemplates(job).error().pointer, "/env/LOOP");
}

TEST(TemplateTest, SecretsStayPiecesOfTheVariablesThatNameThem) {
  JobDefinition job = Job("backup");
  job.env["URL"] = "mysql://{{job_id}}:{{ secrets.db }}@h/{{{{{{params.path}}";
  job.env["TOKEN"] = "{{secrets.token}}";
  AttemptFacts facts = Facts();
  facts.parameters["path"] = std::string("{{secrets.other}}");
  const auto attempt = RenderAttempt(job, facts);
  ASSERT_TRUE(attempt.ok()) << attempt.error().message;
  const SecretVariables expected{
      {"TOKEN", {{.secret = "token"}}},
      {"URL", {{.text = "mysql://backup:"}, {.secret = "db"}, {.text = "@h/{{{{secrets.other}}"}}}};
  EXPECT_EQ(attempt->secret_env, expected) << "what a parameter says is no placeholder";
  EXPECT_FALSE(attempt->env.contains("URL"));
  EXPECT_EQ(attempt->env.at("HOME"), "/root");
  EXPECT_EQ(SecretsOf(job),
            (std::map<std::string, std::string>{{"db", "URL"}, {"token", "TOKEN"}}));
  job.type = JobType::kNoop;
  EXPECT_TRUE(SecretsOf(job).empty());
}

TEST(TemplateTest, SecretsStandInVariablesOnly) {
  JobDefinition job = Job("login \"$TOKEN\"");
  job.env["TOKEN"] = "{{secrets.token}}";
  EXPECT_TRUE(ValidateTemplates(job).ok());
  for (const char* command : {"login {{secrets.token}}", "login {{env.TOKEN}}"}) {
    job.command = command;
    const Status status = ValidateTemplates(job);
    ASSERT_FALSE(status.ok()) << command;
    EXPECT_EQ(status.error().pointer, "/command");
    EXPECT_NE(status.error().message.find("process lists"), std::string::npos);
    EXPECT_FALSE(RenderAttempt(job, Facts()).ok()) << command;
  }
  job.command = "true";
  for (const char* value : {"{{secrets.}}", "{{secrets.a b}}", "{{secrets.1a}}", "{{secrets.a"}) {
    job.env["TOKEN"] = value;
    EXPECT_EQ(ValidateTemplates(job).error().pointer, "/env/TOKEN") << value;
  }
  job.env["TOKEN"].clear();
  for (int i = 0; i < 101; ++i) job.env["TOKEN"] += "{{secrets.s" + std::to_string(i) + "}}";
  EXPECT_EQ(ValidateTemplates(job).error().pointer, "/env");
  EXPECT_FALSE(ValidateParameters({{"p", std::string("x {{secrets.token}}")}}).ok());
  EXPECT_TRUE(ValidateParameters({{"p", std::string("x {{{{secrets.token}}")}}).ok());
}

}  // namespace
}  // namespace carillon::test
