#include "common/domain/event/event_parameters.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/common/domain/event/event_samples.h"

namespace carillon::test {
namespace {

const WallTime kAccepted = *ParseRfc3339("2026-03-01T23:30:00.000007Z");
const EventOrigin kOrigin{.id = "42", .source = "shop", .type = "order.paid", .subject = "eu"};

Event PaidOrder() {
  return EventOf(kOrigin,
                 {{"data", ConditionTree{R"({"n":9})"}},
                  {"data.n", Whole(9)},
                  {"data.price", Real(2.5)},
                  {"data.paid", true},
                  {"data.name", TextValue("Ann")},
                  {"data.digits", TextValue("7")},
                  {"data.empty", TextValue("")},
                  {"data.list", ConditionTree{R"([1,"b"])"}},
                  {"data.list.1", TextValue("b")},
                  {"data.hostile", TextValue("{{event.data.name}} {{params.x}} {{fire_date}}"
                                             " {{{{ $(touch x)")},
                  {"data.nul", TextValue(std::string("a\0b", 3))},
                  {"data.secret", TextValue("{{secrets.KEY}}")},
                  {"data.long", TextValue(std::string(32'768, 'l'))},
                  {"data.longer", TextValue(std::string(32'769, 'l'))}});
}

// A handler job has no command that text could change.
JobDefinition ImportJob() {
  JobDefinition job;
  job.name = "import";
  job.type = JobType::kHandler;
  job.handler = "app/import";
  return job;
}

ScheduleSpec Giving(Parameters parameters) {
  return {.kind = ScheduleKind::kEvent, .event_type = "*", .parameters = std::move(parameters)};
}

RenderedParameters Rendered(const JobDefinition& job, Parameters parameters) {
  auto rendered = RenderEventParameters(job, Giving(std::move(parameters)), PaidOrder(), kAccepted);
  EXPECT_TRUE(rendered.ok()) << rendered.error().message << " at " << rendered.error().pointer;
  return rendered.ok() ? *std::move(rendered) : RenderedParameters();
}
ParameterValue Value(const std::string& text) {
  return Rendered(ImportJob(), {{"x", text}}).values["x"];
}
bool IsUntrusted(const std::string& text) {
  return Rendered(ImportJob(), {{"x", text}}).untrusted.contains("x");
}

Error RenderError(const JobDefinition& job, Parameters parameters) {
  const auto rendered =
      RenderEventParameters(job, Giving(std::move(parameters)), PaidOrder(), kAccepted);
  EXPECT_FALSE(rendered.ok());
  if (rendered.ok()) return {ErrorCode::kExists, "rendered"};
  EXPECT_EQ(rendered.code(), ErrorCode::kInvalid);
  return rendered.error();
}

TEST(EventParametersTest, ALonePlaceholderTakesTheTypeOfItsValue) {
  EXPECT_EQ(Value("{{event.data.n}}"), ParameterValue(int64_t{9}));
  EXPECT_EQ(Value("{{ event.data.price }}"), ParameterValue(2.5));
  EXPECT_EQ(Value("{{event.data.paid}}"), ParameterValue(true));
  EXPECT_EQ(Value("{{event.data.name}}"), ParameterValue("Ann"));
  EXPECT_EQ(Value("{{event.data.digits}}"), ParameterValue("7"));
  EXPECT_EQ(Value("{{event.data.empty}}"), ParameterValue(""));
  EXPECT_EQ(Value("{{event.data.list}}"), ParameterValue(R"([1,"b"])"));
  EXPECT_EQ(Value("{{event.data.list.1}}"), ParameterValue("b"));
  EXPECT_EQ(Value("{{event.data}}"), ParameterValue(R"({"n":9})"));
  EXPECT_EQ(Value("{{event.id}}"), ParameterValue("42"));
  EXPECT_EQ(Value("{{event.source}}"), ParameterValue("shop"));
  EXPECT_EQ(Value("{{event.type}}"), ParameterValue("order.paid"));
  EXPECT_EQ(Value("{{event.subject}}"), ParameterValue("eu"));
}

TEST(EventParametersTest, ByOtherTextEveryValueBecomesText) {
  EXPECT_EQ(Value("{{event.data.n}} of {{event.data.name}}"), ParameterValue("9 of Ann"));
  EXPECT_EQ(Value("{{event.data.n}}{{event.data.price}}"), ParameterValue("92.5"));
  EXPECT_EQ(Value(" {{event.data.paid}}"), ParameterValue(" true"));
  EXPECT_EQ(Value("{{event.data.empty}}{{event.data.n}}"), ParameterValue("9"));
  EXPECT_EQ(Value("l={{event.data.list}}"), ParameterValue(R"(l=[1,"b"])"));
  EXPECT_EQ(Value("{{{{event.id}}}} is {{event.id}}"), ParameterValue("{{event.id}} is 42"));
}

TEST(EventParametersTest, WhatIsNoTemplateStaysAsItIs) {
  const Parameters plain{{"a", "text"}, {"b", int64_t{3}}, {"c", 1.5}, {"d", false}, {"e", ""}};
  const RenderedParameters rendered = Rendered(ImportJob(), plain);
  EXPECT_EQ(rendered.values, plain);
  EXPECT_TRUE(rendered.untrusted.empty());
  EXPECT_TRUE(rendered.given_by.empty());
  EXPECT_EQ(rendered.event, kOrigin);
}

TEST(EventParametersTest, DatesAreThoseOfTheAcceptanceInTheZoneOfTheJob) {
  JobDefinition job = ImportJob();
  EXPECT_EQ(Value("{{fire_time}}"), ParameterValue("2026-03-01T23:30:00.000007Z"));
  EXPECT_EQ(Value("{{fire_date}}"), ParameterValue("2026-03-01"));
  job.time_zone = "Asia/Tokyo";
  const Parameters dates{{"day", "{{fire_date}}"},
                         {"month", "{{fire_date - 1M | %Y%m}}"},
                         {"at", "{{fire_time.local}}"},
                         {"mixed", "{{event.id}}-{{fire_date}}"}};
  const RenderedParameters rendered = Rendered(job, dates);
  EXPECT_EQ(rendered.values.at("day"), ParameterValue("2026-03-02"));
  EXPECT_EQ(rendered.values.at("month"), ParameterValue("202602"));
  EXPECT_EQ(rendered.values.at("at"), ParameterValue("2026-03-02T08:30:00+09:00"));
  EXPECT_EQ(rendered.values.at("mixed"), ParameterValue("42-2026-03-02"));
  EXPECT_EQ(rendered.untrusted, std::set<std::string>{"mixed"});
}

TEST(EventParametersTest, PlaceholdersInAPayloadStayText) {
  const std::string hostile = "{{event.data.name}} {{params.x}} {{fire_date}} {{{{ $(touch x)";
  EXPECT_EQ(Value("{{event.data.hostile}}"), ParameterValue(hostile));
  EXPECT_EQ(Value("a {{event.data.hostile}} {{event.id}}"), ParameterValue("a " + hostile + " 42"));
  // FillDates leaves the texts of `untrusted` alone when the task is made.
  EXPECT_TRUE(IsUntrusted("{{event.data.hostile}}"));
}

TEST(EventParametersTest, TextsOfTheEventAreUntrustedNumbersAreNot) {
  for (const std::string text :
       {"{{event.data.name}}", "{{event.data.digits}}", "{{event.data.empty}}",
        "{{event.data.list}}", "{{event.data}}", "{{event.id}}", "{{event.source}}",
        "{{event.type}}", "{{event.subject}}", "x{{event.data.name}}",
        "{{event.data.n}}{{event.id}}", "{{event.id}}{{event.data.n}}"}) {
    EXPECT_TRUE(IsUntrusted(text)) << text;
  }
  for (const std::string text :
       {"{{event.data.n}}", "{{event.data.price}}", "{{event.data.paid}}", "n={{event.data.n}}",
        "{{fire_date}}", "{{fire_time}}", "plain", "{{{{event.id}}}}"}) {
    EXPECT_FALSE(IsUntrusted(text)) << text;
  }
}

TEST(EventParametersTest, ARuleWithChoicesMakesATextTrusted) {
  JobDefinition job = ImportJob();
  job.parameter_rules["who"] = {.choices = {"Ann", "Bob"}};
  EXPECT_TRUE(Rendered(job, {{"who", "{{event.data.name}}"}}).untrusted.empty());
  EXPECT_EQ(RenderError(job, {{"who", "{{event.id}}"}}).pointer, "/parameters/who");
  job.parameter_rules["who"] = {};
  EXPECT_EQ(Rendered(job, {{"who", "{{event.data.name}}"}}).untrusted,
            std::set<std::string>{"who"});
}

TEST(EventParametersTest, RulesJudgeTheValues) {
  JobDefinition job = ImportJob();
  job.parameter_rules["n"] = {.type = ParameterType::kInteger};
  EXPECT_EQ(Rendered(job, {{"n", "{{event.data.n}}"}}).values.at("n"), ParameterValue(int64_t{9}));
  for (const std::string text :
       {"{{event.data.price}}", "{{event.data.digits}}", "{{event.data.paid}}"}) {
    EXPECT_EQ(RenderError(job, {{"n", text}}).pointer, "/parameters/n") << text;
  }
  job.parameter_rules["must"] = {.required = true};
  EXPECT_EQ(RenderError(job, {}).pointer, "/parameters/must");
  EXPECT_EQ(Rendered(job, {{"must", "x"}}).values.size(), 1u);
  // Both would be CARILLON_PARAM_N. Refused when the job is written, too.
  EXPECT_EQ(RenderError(job, {{"N", "x"}, {"must", "x"}}).pointer, "/parameters/N");
}

TEST(EventParametersTest, AValueThatCannotBeMadeIsNamedWithoutItsPayload) {
  struct Unmakeable {
    std::string text;
    std::string part;  // of the sentence
  };
  const std::vector<Unmakeable> rows{{"{{event.data.gone}}", "'event.data.gone' has no value"},
                                     {"{{event.data.n}} {{event.data.gone.a}}", "has no value"},
                                     {"{{event.data.nul}}", "NUL"},
                                     {"{{event.data.secret}}", "refers to a secret"},
                                     {"{{event.data.longer}}", "has 32769 bytes"},
                                     {"x{{event.data.long}}", "has 32769 bytes"},
                                     {"{{params.x}}", "unknown expression"},
                                     {"{{event.data.n", "is not closed"}};
  for (const Unmakeable& row : rows) {
    const Error error = RenderError(ImportJob(), {{"a", int64_t{1}}, {"x", row.text}});
    EXPECT_EQ(error.pointer, "/parameters/x") << row.text;
    EXPECT_NE(error.message.find(row.part), std::string::npos) << error.message;
    EXPECT_EQ(error.message.find("lll"), std::string::npos);
    EXPECT_EQ(error.message.find("secrets.KEY"), std::string::npos);
  }
  EXPECT_EQ(std::get<std::string>(Value("{{event.data.long}}")).size(), 32'768u);
  // The event of this test has a subject, the next one does not.
  const auto missing =
      RenderEventParameters(ImportJob(), Giving({{"x", "{{event.subject}}"}}),
                            EventOf({.id = "1", .source = "s", .type = "t"}), kAccepted);
  EXPECT_EQ(missing.code(), ErrorCode::kInvalid);
}

TEST(EventParametersTest, APayloadIsNotInsertedWithoutEnd) {
  Parameters many;
  for (int i = 0; i < 4; ++i) many["p" + std::to_string(i)] = "{{event.data.long}}";
  EXPECT_EQ(Rendered(ImportJob(), many).values.size(), 4u);
  many["p4"] = "{{event.id}}";
  const Error error = RenderError(ImportJob(), many);
  EXPECT_EQ(error.pointer, "/parameters/p4");
  EXPECT_NE(error.message.find("131072 bytes in all"), std::string::npos) << error.message;
}

TEST(EventParametersTest, APlaceholderIsKnownFromALiteral) {
  for (const std::string text : {"{{event.id}}", "a {{x}}", "{{fire_date}}", "{{{{a}} {{b}}"}) {
    EXPECT_TRUE(HasEventPlaceholder(ParameterValue(text))) << text;
  }
  for (const std::string text : {"", "a", "{{{{event.id}}}}", "{{event.id", "{ {event.id}}"}) {
    EXPECT_FALSE(HasEventPlaceholder(ParameterValue(text))) << text;
  }
  EXPECT_FALSE(HasEventPlaceholder(ParameterValue(int64_t{1})));
  EXPECT_FALSE(HasEventPlaceholder(ParameterValue(true)));
}

}  // namespace
}  // namespace carillon::test
