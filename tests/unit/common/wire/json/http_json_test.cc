// Jobs of type http as JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_json.h"

namespace carillon::http_json_test {
namespace {

using nlohmann::json;

StoredJob Stored(JobDefinition definition) {
  return {.job_id = JobId("j"), .version = 3, .definition = std::move(definition)};
}
json Shown(JobDefinition definition) {
  return JobToJson(Stored(std::move(definition)), WallTime{});
}

std::string FailsAt(const json& http) {
  const auto parsed = ParseJob({{"name", "n"}, {"type", "http"}, {"http", http}});
  return parsed.ok() ? "ok" : parsed.error().pointer;
}

TEST(HttpJsonTest, ARequestIsReadAndShownWhole) {
  const json http = {
      {"method", "POST"},
      {"url", "https://a.example/x"},
      {"headers", {{"X-Key", "{{secrets.KEY}}"}}},
      {"body", "{}"},
      {"expect",
       {{"status", {"200-204"}},
        {"contains", "done"},
        {"regex", "\\d+"},
        {"json", {{"/n", 3}, {"/ok", true}, {"/s", "x"}, {"/f", 1.5}, {"/e", nullptr}}}}},
      {"follow", 2},
      {"connect_timeout", 5},
      {"tls_verify", false},
      {"client_certificate", "{{secrets.PEM}}"},
      {"poll",
       {{"url", "https://a.example/jobs/"},
        {"url_at", "/id"},
        {"interval", 5},
        {"until", {{"/state", {"done", 3, nullptr}}}}}}};
  const auto parsed = ParseJob({{"name", "n"}, {"type", "http"}, {"http", http}});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(Shown(parsed->definition)["http"], http);
  EXPECT_EQ(DefinitionFromText(DefinitionToText(parsed->definition), JobId("j")).value(),
            parsed->definition);
  const auto changed = PatchJob(Stored(parsed->definition), {{"http", {{"follow", 0}}}});
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_EQ(changed->definition.http->follow, 0);
  EXPECT_EQ(changed->definition.http->body, "{}");
}

TEST(HttpJsonTest, DefaultsAreFilledIn) {
  const auto parsed = ParseJob({{"name", "n"}, {"type", "http"}, {"http", {{"url", "http://a/"}}}});
  ASSERT_TRUE(parsed.ok());
  const json shown = Shown(parsed->definition)["http"];
  EXPECT_EQ(shown["method"], "GET");
  EXPECT_EQ(shown["expect"]["status"], json::array({"2xx"}));
  EXPECT_EQ(shown["expect"]["json"], json::object());
  EXPECT_EQ(shown["connect_timeout"], 10);
  EXPECT_EQ(shown["tls_verify"], true);
  EXPECT_FALSE(Shown({.name = "n", .command = "true"}).contains("http"));
}

TEST(HttpJsonTest, MistakesNameTheirPlace) {
  EXPECT_EQ(FailsAt(json::array()), "/http");
  EXPECT_EQ(FailsAt(json::object()), "/http/url");
  EXPECT_EQ(FailsAt({{"url", 3}}), "/http/url");
  EXPECT_EQ(FailsAt({{"url", "http://a"}, {"methd", "GET"}}), "/http/methd");
  EXPECT_EQ(FailsAt({{"url", "http://a"}, {"method", "get"}}), "/http/method");
  EXPECT_EQ(FailsAt({{"url", "http://a"}, {"headers", {{"A", 1}}}}), "/http/headers/A");
  EXPECT_EQ(FailsAt({{"url", "http://a"}, {"expect", {{"state", 1}}}}), "/http/expect/state");
  EXPECT_EQ(FailsAt({{"url", "http://a"}, {"expect", {{"json", {{"/a", json::array()}}}}}}),
            "/http/expect/json/~1a");
  EXPECT_EQ(FailsAt({{"url", "http://a"}, {"poll", 3}}), "/http/poll");
  EXPECT_EQ(FailsAt({{"url", "http://a"}, {"poll", {{"every", 3}}}}), "/http/poll/every");
  EXPECT_EQ(FailsAt({{"url", "http://a"}, {"poll", {{"until", {{"/a", 3}}}}}}),
            "/http/poll/until/~1a");
}

TEST(ParseJobTest, DoesNotGuessAboutAPartThatItCouldNotRead) {
  const auto mistakes = [](json body) {
    body["name"] = "j";
    Mistakes further;
    const auto parsed = ParseJob(body, &further);
    std::vector<std::string> pointers = {parsed.error().pointer};
    for (const Error& one : further) pointers.push_back(one.pointer);
    return pointers;
  };
  const std::vector<std::string> url = {"/http/urll"};
  EXPECT_EQ(mistakes({{"type", "http"}, {"http", {{"url", "http://vm/"}, {"urll", 1}}}}), url);
  const std::vector<std::string> value = {"/http/expect/json/~1a"};
  const json nested = {{"url", "http://vm/"}, {"expect", {{"json", {{"/a", json::array()}}}}}};
  EXPECT_EQ(mistakes({{"type", "http"}, {"http", nested}}), value);
  const std::vector<std::string> type = {"/type"};
  EXPECT_EQ(mistakes({{"type", "htpp"}, {"http", {{"url", "http://vm/"}}}}), type);
  EXPECT_EQ(mistakes({{"type", "handle"}, {"handler", "app/work"}}), type);
  const std::vector<std::string> handler = {"/handler"};
  EXPECT_EQ(mistakes({{"type", "handler"}, {"handler", 1}}), handler);
}

}  // namespace
}  // namespace carillon::http_json_test
