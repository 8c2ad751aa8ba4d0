#include "cli/jobs/flags/http_flags.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace carillon::cli::http_flags_test {
namespace {

using nlohmann::json;

TEST(HttpFlagsTest, APollIsMadeOfItsFlags) {
  json body;
  const HttpFlags flags{.url = "https://a.example/jobs",
                        .client_certificate = "{{secrets.PEM}}",
                        .poll = "5",
                        .poll_url = "https://a.example/jobs/",
                        .poll_url_at = "/id",
                        .poll_until = {"/state=done", "/state=a=b", "/n=3", "/e=null"}};
  ASSERT_TRUE(ApplyHttpFlags(flags, body).ok());
  EXPECT_EQ(body["http"]["client_certificate"], "{{secrets.PEM}}");
  const json expected = {
      {"interval", 5},
      {"url", "https://a.example/jobs/"},
      {"url_at", "/id"},
      {"until",
       {{"/state", {"done", "a=b"}}, {"/n", json::array({3})}, {"/e", json::array({nullptr})}}}};
  EXPECT_EQ(body["http"]["poll"], expected);
}

TEST(HttpFlagsTest, MistakesNameTheFlag) {
  const auto wrong = [](const HttpFlags& flags) {
    json body;
    const Status applied = ApplyHttpFlags(flags, body);
    return applied.ok() ? "" : applied.error().message;
  };
  EXPECT_EQ(wrong({.follow = "6"}), "--follow must be a number from 0 to 5");
  EXPECT_EQ(wrong({.poll = "0"}), "--poll must be a number from 1 to 3600");
  EXPECT_NE(wrong({.poll_until = {"state=done"}}), "");
  EXPECT_NE(wrong({.poll_until = {"/state"}}), "");
}

}  // namespace
}  // namespace carillon::cli::http_flags_test
