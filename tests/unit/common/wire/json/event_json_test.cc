#include "common/wire/json/event_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/domain/condition/condition.h"
#include "common/wire/json/json_text.h"

namespace carillon::event_json_test {
namespace {

using nlohmann::json;

json Body() { return {{"id", "42"}, {"source", "shop"}, {"type", "order.paid"}}; }

json With(const char* member, json value) {
  json body = Body();
  body[member] = std::move(value);
  return body;
}

// The pointer of what is wrong; "ok" = nothing.
std::string Fails(json body) {
  const auto event = EventFromJson(std::move(body));
  return event.ok() ? "ok" : event.error().pointer;
}

Event WithData(json data) { return EventFromJson(With("data", std::move(data))).value(); }

// The value as a text that tells its type; "none" = there is none.
std::string At(const Event& event, std::string_view name) {
  const auto value = event.values->At(name);
  if (!value) return "none";
  if (const auto* truth = std::get_if<bool>(&*value)) return *truth ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&*value)) return "'" + *text + "'";
  if (const auto* tree = std::get_if<ConditionTree>(&*value)) return "tree " + tree->json;
  const auto& number = std::get<ConditionNumber>(*value);
  if (!number.is_whole) return "real " + std::to_string(number.real);
  EXPECT_EQ(number.real, static_cast<double>(number.whole));
  return "whole " + std::to_string(number.whole);
}

TEST(EventJsonTest, AnEventNeedsIdSourceAndType) {
  const auto event = EventFromJson(Body());
  ASSERT_TRUE(event.ok()) << event.error().message;
  EXPECT_EQ(event->origin, (EventOrigin{.id = "42", .source = "shop", .type = "order.paid"}));
  for (const char* name : {"id", "source", "type"}) {
    json body = Body();
    body.erase(name);
    EXPECT_EQ(Fails(body), std::string("/") + name);
    EXPECT_EQ(Fails(With(name, nullptr)), std::string("/") + name);
    EXPECT_EQ(Fails(With(name, "")), std::string("/") + name);
    EXPECT_EQ(Fails(With(name, 42)), std::string("/") + name);
    EXPECT_EQ(Fails(With(name, std::string(600, 'x'))), std::string("/") + name);
    EXPECT_EQ(Fails(With(name, "a\nb")), std::string("/") + name);
  }
  EXPECT_EQ(Fails(With("subject", 1)), "/subject");
  for (const json& body : {json("42"), json(nullptr), json::array({Body()})}) {
    EXPECT_FALSE(EventFromJson(body).ok()) << body;
  }
}

TEST(EventJsonTest, ACloudEventWithAllItsAttributesIsRead) {
  const auto event = EventFromText(R"({"specversion":"1.0","id":"42","source":"/shop/1",
      "type":"order.paid","subject":"o-7","time":"2026-03-01T02:00:00Z",
      "datacontenttype":"application/json","dataschema":"urn:order","traceparent":"00-1-2-01",
      "sequence":7,"partitionkey":null,"data":{"amount":9.5}})");
  ASSERT_TRUE(event.ok()) << event.error().message;
  EXPECT_EQ(event->origin,
            (EventOrigin{.id = "42", .source = "/shop/1", .type = "order.paid", .subject = "o-7"}));
  EXPECT_EQ(At(*event, "data.amount"), "real 9.500000");
  for (const char* unset : {"subject", "specversion", "time", "dataschema", "data", "ext"}) {
    EXPECT_EQ(Fails(With(unset, nullptr)), "ok") << unset;
  }
}

TEST(EventJsonTest, AttributesWithoutAnEffectMustStillBeValid) {
  EXPECT_EQ(Fails(With("specversion", "0.3")), "/specversion");
  EXPECT_EQ(Fails(With("specversion", 1.0)), "/specversion");
  EXPECT_EQ(Fails(With("time", "yesterday")), "/time");
  EXPECT_EQ(Fails(With("datacontenttype", 1)), "/datacontenttype");
  EXPECT_EQ(Fails(With("dataschema", json::array())), "/dataschema");
}

TEST(EventJsonTest, ExtensionsAreScalarsWithShortNames) {
  const std::string longest(64, 'x');
  EXPECT_EQ(Fails(With(longest.c_str(), true)), "ok");
  EXPECT_EQ(Fails(With((longest + "x").c_str(), true)), "/" + longest + "x");
  EXPECT_EQ(Fails(With("Trace", "x")), "/Trace");
  EXPECT_EQ(Fails(With("trace_id", "x")), "/trace_id");
  EXPECT_EQ(Fails(With("", "x")), "/");
  EXPECT_EQ(Fails(With("trace", json::object())), "/trace");
}

TEST(EventJsonTest, BinaryDataIsRefused) {
  EXPECT_EQ(Fails(With("data_base64", "AAAA")), "/data_base64");
  EXPECT_EQ(Fails(With("data_base64", nullptr)), "/data_base64");
}

TEST(EventJsonTest, DataIsBoundedAsJsonWithoutBlanks) {
  const std::string longest(kEventDataBytesMax - 2, 'x');  // 2: its quotes
  EXPECT_EQ(Fails(With("data", longest)), "ok");
  EXPECT_EQ(Fails(With("data", longest + "x")), "/data");
  const std::string spaced =
      R"({"id":"1","source":"s","type":"t","data":[)" + std::string(100'000, ' ') + "]}";
  EXPECT_TRUE(EventFromText(spaced).ok());
}

TEST(EventJsonTest, TextIsReadAsStrictlyAsAnyOtherDocument) {
  const auto text = [](const std::string& data) {
    return EventFromText(R"({"id":"1","source":"s","type":"t","data":)" + data + "}");
  };
  EXPECT_TRUE(text(std::string(kJsonDepthMax - 1, '[') + std::string(kJsonDepthMax - 1, ']')).ok());
  EXPECT_FALSE(text(std::string(kJsonDepthMax, '[') + std::string(kJsonDepthMax, ']')).ok());
  EXPECT_EQ(text(R"({"a":1,"a":2})").error().pointer, "/data/a");
  EXPECT_EQ(text("[123456789012345678901]").error().pointer, "/data/0");
  EXPECT_EQ(text("1e400").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(text("\"\xff\"").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(EventFromText("").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(EventFromText(std::string(kJsonBytesMax + 1, ' ')).error().code, ErrorCode::kExhausted);
}

TEST(EventJsonTest, ValuesAreFoundByName) {
  const Event event = WithData({{"n", 5},
                                {"below", -7},
                                {"r", 2.5},
                                {"t", "5"},
                                {"yes", true},
                                {"nothing", nullptr},
                                {"items", {{{"id", "a"}}, {{"id", "b"}}}},
                                {"0", "member"}});
  EXPECT_EQ(At(event, "id"), "'42'");
  EXPECT_EQ(At(event, "source"), "'shop'");
  EXPECT_EQ(At(event, "type"), "'order.paid'");
  EXPECT_EQ(At(event, "subject"), "none");
  EXPECT_EQ(At(event, "data.n"), "whole 5");
  EXPECT_EQ(At(event, "data.below"), "whole -7");
  EXPECT_EQ(At(event, "data.r"), "real 2.500000");
  EXPECT_EQ(At(event, "data.t"), "'5'");
  EXPECT_EQ(At(event, "data.yes"), "true");
  EXPECT_EQ(At(event, "data.nothing"), "none");
  EXPECT_EQ(At(event, "data.items"), R"(tree [{"id":"a"},{"id":"b"}])");
  EXPECT_EQ(At(event, "data.items.1"), R"(tree {"id":"b"})");
  EXPECT_EQ(At(event, "data.items.1.id"), "'b'");
  EXPECT_EQ(At(event, "data.0"), "'member'");
  for (const char* absent :
       {"data.x", "data.items.2", "data.items.01", "data.items.x", "data.items.4294967296",
        "data.n.x", "data.t.0", "data.nothing.x", "time", "database", "subject.x", "id.x", ""}) {
    EXPECT_EQ(At(event, absent), "none") << absent;
  }
}

TEST(EventJsonTest, TheSubjectIsAValueIfThereIsOne) {
  EXPECT_EQ(At(EventFromJson(With("subject", "o-7")).value(), "subject"), "'o-7'");
  EXPECT_EQ(At(EventFromJson(With("subject", "")).value(), "subject"), "none");
}

TEST(EventJsonTest, DataMayBeAnyValue) {
  EXPECT_EQ(At(EventFromJson(Body()).value(), "data"), "none");
  EXPECT_EQ(At(WithData("text"), "data"), "'text'");
  EXPECT_EQ(At(WithData(3), "data"), "whole 3");
  EXPECT_EQ(At(WithData({1, 2}), "data"), "tree [1,2]");
  EXPECT_EQ(At(WithData({1, 2}), "data.1"), "whole 2");
}

TEST(EventJsonTest, WholeNumbersAreNeverRounded) {
  EXPECT_EQ(At(WithData(INT64_MAX), "data"), "whole 9223372036854775807");
  EXPECT_EQ(At(WithData(INT64_MIN), "data"), "whole -9223372036854775808");
  EXPECT_EQ(At(WithData(uint64_t{INT64_MAX} + 1), "data"), "tree 9223372036854775808");
}

TEST(EventJsonTest, StartsComeBackAsTheyWere) {
  const std::vector<EventStart> starts = {
      {.schedule_id = ScheduleId(7),
       .job_id = JobId("load"),
       .job_no = JobNo(9),
       .segment = SegmentId(3),
       .run = RunKey{.fire = FromUnixMicros(1'700'000'000'000'001), .schedule_id = ScheduleId(7)}},
      {.schedule_id = ScheduleId(8),
       .job_id = JobId("mail"),
       .job_no = JobNo(10),
       .segment = SegmentId(4),
       .gap = GapReason::kBadEvent,
       .problem = "the parameter 'n' must be a number"}};
  const auto read = StartsFromText(JsonToText(StartsToJson(starts)));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, starts);
  EXPECT_TRUE(StartsFromText("[]").value().empty());
}

TEST(EventJsonTest, StoredStartsOfAnotherFormAreCorrupt) {
  for (const char* text :
       {"", "{}", "[1]", "[{}]", R"([{"schedule_id":"7","job_id":"load","job_no":9,"segment":3}])",
        R"([{"schedule_id":7,"job_id":"load","job_no":9,"segment":3,"run_id":"x"}])",
        R"([{"schedule_id":7,"job_id":"load","job_no":9,"segment":3,"gap":"tired"}])"}) {
    const auto read = StartsFromText(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << text;
  }
}

}  // namespace
}  // namespace carillon::event_json_test
