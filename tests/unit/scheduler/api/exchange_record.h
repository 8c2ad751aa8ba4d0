// Records requests and answers of the API, to be checked against its contract.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "common/adapters/http/http_message.h"
#include "tests/support/parse_json.h"

namespace carillon::test {

using nlohmann::json;

struct Answer {
  int status = 0;
  HttpHeaders headers;
  std::string text;

  json body() const {
    const json parsed = ParseJson(text);
    EXPECT_FALSE(parsed.is_discarded()) << text;
    return parsed;
  }
  std::string header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }
  // Returns the code of a problem, after a check that the problem is complete.
  std::string code() const {
    EXPECT_EQ(header("content-type"), "application/problem+json") << text;
    const json problem = body();
    for (const char* member :
         {"type", "title", "status", "detail", "instance", "code", "errors", "trace_id"}) {
      EXPECT_TRUE(problem.contains(member)) << member << " in " << text;
    }
    EXPECT_EQ(problem.value("status", 0), status);
    EXPECT_EQ(problem.value("trace_id", ""), header("x-trace-id"));
    return problem.value("code", "");
  }
  std::string pointer() const {
    const json problem = body();
    return problem["errors"].empty() ? "none" : problem["errors"][0].value("pointer", "none");
  }
};

// Appends a line of JSON to the file named by CARILLON_API_RECORD; does nothing if that is not set.
inline void RecordExchange(const std::string& method, const std::string& path,
                           const std::string& body, const Answer& answer) {
  const char* const file = std::getenv("CARILLON_API_RECORD");
  if (file == nullptr) return;
  json headers = json::object();
  for (const auto& [name, value] : answer.headers) headers[name] = value;
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const json line = {
      {"test", test == nullptr ? "" : std::string(test->test_suite_name()) + "." + test->name()},
      {"method", method},
      {"path", path},
      {"request_body", body},
      {"status", answer.status},
      {"headers", headers},
      {"body", answer.text}};
  static std::mutex writing;  // tests send requests from several threads
  const std::lock_guard lock(writing);
  std::ofstream(file, std::ios::app)
      << line.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
}

}  // namespace carillon::test
