// Lists: every item once, whatever is added meanwhile; tokens of other lists are refused.
#include <set>

#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class PagingTest : public ApiEnv {
 protected:
  // Every item of a list in pages of `size`; calls `between` after each page.
  std::vector<json> Walk(
      const std::string& path, int size, std::function<void()> between = [] {}) {
    std::vector<json> items;
    std::string token;
    const std::string joiner = path.find('?') == std::string::npos ? "?" : "&";
    do {
      const Answer answer = Get(path + joiner + "page_size=" + std::to_string(size) +
                                (token.empty() ? "" : "&page_token=" + token));
      EXPECT_EQ(answer.status, 200) << answer.text;
      const json page = answer.body();
      EXPECT_LE(page["items"].size(), static_cast<size_t>(size));
      for (const json& item : page["items"]) items.push_back(item);
      token = page["next_page_token"].is_null() ? "" : page.value("next_page_token", "");
      between();
    } while (!token.empty() && items.size() < 10'000);
    return items;
  }
  static std::set<std::string> Distinct(const std::vector<json>& items, const char* member) {
    std::set<std::string> distinct;
    for (const json& item : items) distinct.insert(item.value(member, ""));
    return distinct;
  }
};

TEST_F(PagingTest, JobsComeOnceEachWhileOthersAreAdded) {
  for (int i = 0; i < 25; ++i) Create({{"job_id", "job-" + std::to_string(100 + i)}});
  for (const int size : {1, 7, 25, 26, 500}) {
    const auto items = Walk("/api/jobs", size);
    EXPECT_EQ(items.size(), 25u) << size;
    EXPECT_EQ(Distinct(items, "job_id").size(), 25u) << size;
  }
  int added = 0;
  const auto items = Walk("/api/jobs", 5, [&] {
    Create({{"job_id", "aaa-" + std::to_string(added++)}});  // before the cursor
  });
  EXPECT_EQ(items.size(), 25u);
  EXPECT_EQ(Distinct(items, "job_id").size(), 25u);
}

TEST_F(PagingTest, RunsComeNewestFirstWhileNewOnesAppear) {
  const std::string job_id = Create().value("job_id", "");
  for (int i = 0; i < 23; ++i) {
    Execute(job_id);
    clock_.Advance(1s);
  }
  const auto items = Walk("/api/runs", 4, [&] { Execute(job_id); });
  EXPECT_EQ(items.size(), 23u);
  EXPECT_EQ(Distinct(items, "run_id").size(), 23u);
  for (size_t i = 1; i < items.size(); ++i) {
    EXPECT_GT(items[i - 1].value("fire_time", ""), items[i].value("fire_time", ""));
  }
  EXPECT_GE(Walk("/api/jobs/" + job_id + "/history", 5).size(), 23u);
}

TEST_F(PagingTest, GapsDeadLettersAndExecutorsArePagedToo) {
  AddExecutor("executor-1");
  const std::string job_id = Create({{"cron_expression", "* * * * *"}}).value("job_id", "");
  for (int i = 0; i < 5; ++i) {
    Finish(Execute(job_id), {.state = RunState::kFailed, .reason = "exit_code", .exit_code = 1});
    Post("/api/jobs/" + job_id + "/pause");
    clock_.Advance(2min);
    Post("/api/jobs/" + job_id + "/resume");
    AddExecutor("extra-" + std::to_string(i));
  }
  for (const int size : {1, 2, 5, 6}) {
    EXPECT_EQ(Walk("/api/gaps", size).size(), 5u) << size;
    const auto letters = Walk("/api/dead-letters", size);
    EXPECT_EQ(letters.size(), 5u) << size;
    EXPECT_EQ(Distinct(letters, "id").size(), 5u) << size;
    EXPECT_EQ(Distinct(Walk("/api/executors", size), "executor_id").size(), 6u) << size;
  }
}

TEST_F(PagingTest, TokensBelongToTheirListAndFilters) {
  for (int i = 0; i < 3; ++i) Create();
  const std::string token = Get("/api/jobs?page_size=1").body().value("next_page_token", "");
  ASSERT_FALSE(token.empty());
  EXPECT_EQ(token.find_first_of("+/="), std::string::npos);
  EXPECT_EQ(Get("/api/jobs?page_size=2&page_token=" + token).status, 200);
  for (const std::string& path : std::vector<std::string>{
           "/api/jobs?status=ENABLED&page_token=" + token, "/api/runs?page_token=" + token,
           "/api/jobs?page_token=" + token + "A", "/api/jobs?page_token=%21%21",
           "/api/jobs?page_token=" + token.substr(0, 10),
           "/api/jobs?page_token=" + std::string(5000, 'A')}) {
    const Answer refused = Get(path);
    EXPECT_EQ(refused.status, 400) << path;
    EXPECT_EQ(refused.pointer(), "?page_token") << path;
  }
}

TEST_F(PagingTest, TheOrderOfFiltersIsNoPartOfThem) {
  for (int i = 0; i < 3; ++i) Create();
  const std::string token =
      Get("/api/jobs?status=ENABLED&q=n&page_size=1").body().value("next_page_token", "");
  EXPECT_EQ(Get("/api/jobs?page_token=" + token + "&q=n&status=ENABLED").status, 200);
}

TEST_F(PagingTest, JobsAreFiltered) {
  Create({{"job_id", "alpha"}, {"name", "Backup of A"}, {"user_id", "ann"}});
  Create({{"job_id", "beta"}, {"name", "Report"}, {"enabled", false}});
  EXPECT_EQ(Distinct(Walk("/api/jobs?status=PAUSED", 5), "job_id"), std::set<std::string>{"beta"});
  EXPECT_EQ(Distinct(Walk("/api/jobs?status=ENABLED", 5), "job_id"),
            std::set<std::string>{"alpha"});
  EXPECT_EQ(Distinct(Walk("/api/jobs?user_id=ann", 5), "job_id"), std::set<std::string>{"alpha"});
  EXPECT_EQ(Distinct(Walk("/api/jobs?q=BACKUP", 5), "job_id"), std::set<std::string>{"alpha"});
  EXPECT_EQ(Get("/api/jobs?status=on").pointer(), "?status");
}

TEST_F(PagingTest, APageOfLargeRunsEndsEarlyAndGoesOn) {
  AddExecutor("executor-1");
  const std::string job_id = Create().value("job_id", "");
  constexpr size_t kRuns = 30;
  for (size_t i = 0; i < kRuns; ++i) {
    // NULs take six bytes in JSON: 384 KiB an item.
    Finish(Execute(job_id), {.output = std::string(64u << 10, '\0')});
    clock_.Advance(1s);
  }
  const Answer first = Get("/api/runs?page_size=500");
  EXPECT_LT(first.text.size(), 9u << 20);
  EXPECT_LT(first.body()["items"].size(), kRuns);
  EXPECT_EQ(Distinct(Walk("/api/runs", 500), "run_id").size(), kRuns);
}

}  // namespace
}  // namespace carillon::test
