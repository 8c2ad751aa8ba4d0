#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class VersionCommandsTest : public CliTest {
 protected:
  static json Version(int64_t version, json changes) {
    return {{"version", version},
            {"actor", "ann"},
            {"create_time", "2026-03-01T00:00:00.000000Z"},
            {"readable", true},
            {"changes", std::move(changes)}};
  }
  static json Change(const std::string& field, json before, json after) {
    return {{"field", field}, {"before", std::move(before)}, {"after", std::move(after)}};
  }
};

TEST_F(VersionCommandsTest, ListSaysWhoChangedWhat) {
  Answer("GET /api/jobs/a/versions?page_size=50",
         {{"items",
           {Version(3, {Change("priority", 0, 7), Change("labels", json::object(), {{"x", "y"}})}),
            Version(2, json::array()), Version(1, nullptr)}},
          {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"job", "versions", "a"}), 0);
  EXPECT_EQ(out(),
            "VERSION  WHEN                  WHO  CHANGED\n"
            "3        2026-03-01 00:00:00Z  ann  priority, labels\n"
            "2        2026-03-01 00:00:00Z  ann  nothing\n"
            "1        2026-03-01 00:00:00Z  ann  -\n");
  EXPECT_EQ(Run({"job", "versions", "a", "-q", "--limit", "50"}), 0);
  EXPECT_EQ(out(), "3\n2\n1\n");
}

TEST_F(VersionCommandsTest, DiffIsOfTheNewestUnlessItIsSaid) {
  Answer("GET /api/jobs/a/versions?page_size=1",
         {{"items", {Version(3, nullptr)}}, {"next_page_token", nullptr}});
  Answer("GET /api/jobs/a/versions/3",
         Version(3, {Change("priority", 0, 7), Change("command", "one\ntwo", "three")}));
  EXPECT_EQ(Run({"job", "diff", "a"}), 1);
  EXPECT_EQ(out(),
            "priority\n  - 0\n  + 7\n"
            "command\n  - |-\n  -   one\n  -   two\n  + three\n");
  Answer("GET /api/jobs/a/versions/2?against=1", Version(2, json::array()));
  EXPECT_EQ(Run({"job", "diff", "a", "--from", "1", "--to", "2"}), 0);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(Run({"job", "diff", "a", "-o", "json"}), 1);
  EXPECT_EQ(OutJson()["changes"].size(), 2u);
}

TEST_F(VersionCommandsTest, DiffWithNothingToCompareIsNoDifference) {
  Answer("GET /api/jobs/a/versions/1", Version(1, nullptr));
  EXPECT_EQ(Run({"job", "diff", "a", "--to", "1"}), 2);
  EXPECT_NE(err().find("nothing to compare"), std::string::npos);
  EXPECT_EQ(Run({"job", "diff", "a", "--to", "0"}), 2);
  EXPECT_EQ(Run({"job", "diff", "b"}), 3);
}

TEST_F(VersionCommandsTest, RevertNamesTheVersionItWasBuiltOn) {
  Answer("GET /api/jobs/a", JobShown("a"), 200, "\"v3\"");
  Answer("POST /api/jobs/a/revert", JobShown("a"));
  EXPECT_EQ(Run({"job", "revert", "a", "1", "--reason", "too early", "--yes", "-o", "name"}), 0);
  EXPECT_EQ(out(), "a\n");
  EXPECT_EQ(SentBody(1), (json{{"version", 1}, {"reason", "too early"}}));
  EXPECT_EQ(HeaderOf(Sent(1), "If-Match"), "\"v3\"");
  EXPECT_NE(Run({"job", "revert", "a", "1"}), 0);  // no terminal for the confirmation
  EXPECT_EQ(Run({"job", "revert", "a", "0", "--yes"}), 2);
}

TEST_F(VersionCommandsTest, WhyIsASentence) {
  const json answer = {{"outcome", "gap"}, {"explanation", "The job was paused then."}};
  Answer("GET /api/jobs/a/why?at=2026-03-01T02%3A30%3A00.000000Z", answer);
  EXPECT_EQ(Run({"job", "why", "a", "2026-03-01T02:30:00Z"}), 0);
  EXPECT_EQ(out(), "The job was paused then.\n");
  EXPECT_EQ(Run({"job", "why", "a", "2026-03-01T02:30:00Z", "-o", "json"}), 0);
  EXPECT_EQ(OutJson(), answer);
  Answer("GET /api/jobs/a/why?at=2026-03-02T02%3A30%3A00.000000Z",
         {{"outcome", "run"}, {"explanation", "It ran."}, {"run_id", "R1"}});
  EXPECT_EQ(Run({"job", "why", "a", "2026-03-02T02:30:00Z"}), 0);
  EXPECT_EQ(out(), "It ran.\nRun: R1\n");
  EXPECT_EQ(Run({"job", "why", "a", "yesterday"}), 2);
  EXPECT_EQ(Run({"job", "why", "a"}), 2);
}

}  // namespace
}  // namespace carillon::cli
