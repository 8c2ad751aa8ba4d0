// Paging: lists return every item once, even if items are added meanwhile, and refuse page tokens
// of other lists.
#include <set>

#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class PagingTest : public ApiEnv {
 protected:
  // Reads a list in pages of `size`, and calls `between` after each page. Returns all items.
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
    Create({{"job_id", "aaa-" + std::to_string(added++)}});  // sorted before the current page
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
    // A NUL takes six bytes in JSON: 384 KiB per item.
    Finish(Execute(job_id), {.output = std::string(64u << 10, '\0')});
    clock_.Advance(1s);
  }
  const Answer first = Get("/api/runs?page_size=500");
  EXPECT_LT(first.text.size(), 9u << 20);
  EXPECT_LT(first.body()["items"].size(), kRuns);
  EXPECT_EQ(Distinct(Walk("/api/runs", 500), "run_id").size(), kRuns);
}

TEST_F(PagingTest, TheFirstPageSaysHowManyThereAre) {
  for (int i = 0; i < 25; ++i) Create({{"job_id", "job-" + std::to_string(100 + i)}});
  const json first = Get("/api/jobs?page_size=10").body();
  EXPECT_EQ(first.at("total"), 25);
  EXPECT_FALSE(first.contains("total_at_least"));
  const json next =
      Get("/api/jobs?page_size=10&page_token=" + first.value("next_page_token", "")).body();
  EXPECT_EQ(next.at("items").size(), 10u);
  EXPECT_FALSE(next.contains("total"));
  EXPECT_FALSE(next.contains("total_at_least"));
  EXPECT_EQ(Get("/api/jobs").body().at("total"), 25);
  EXPECT_EQ(Get("/api/jobs?q=job-10&page_size=1").body().at("total"), 10);
  EXPECT_EQ(Get("/api/jobs?status=PAUSED").body().at("total"), 0);
}

TEST_F(PagingTest, EveryListSaysHowManyThereAre) {
  const std::string job_id = Create().value("job_id", "");
  Execute(job_id);
  for (const std::string& path : std::vector<std::string>{
           "jobs", "jobs/" + job_id + "/history", "jobs/" + job_id + "/versions", "namespaces",
           "runs", "gaps", "dead-letters", "deliveries", "executors", "audit", "users", "tokens",
           "secrets", "bulk"}) {
    const json page = Get("/api/" + path).body();
    EXPECT_EQ(page.at("total"), page.at("items").size()) << path;
  }
}

TEST_F(PagingTest, ManyAreCountedUpToAThousand) {
  for (int i = 0; i < 1001; ++i) {
    ASSERT_TRUE(
        stores_.audit.RecordAudit({.at = clock_.Wall(), .actor = "a", .action = "job.pause"}).ok());
  }
  const json first = Get("/api/audit").body();
  EXPECT_FALSE(first.contains("total"));
  EXPECT_EQ(first.at("total_at_least"), 1000);
}

TEST_F(PagingTest, WhatIsShownIsKnownWhenCountingFails) {
  for (int i = 0; i < 3; ++i) Create();
  faults_.plan.Arm("CountJobs", Fault::kUnavailable);
  const json first = Get("/api/jobs?page_size=2").body();
  EXPECT_EQ(first.at("items").size(), 2u);
  EXPECT_EQ(first.at("total_at_least"), 2);
  EXPECT_EQ(Get("/api/jobs?page_size=2").body().at("total"), 3);
}

TEST_F(PagingTest, OfLabelledJobsThoseThatWereLookedAtAreCounted) {
  for (int i = 0; i < 7; ++i) Create({{"labels", {{"team", i < 5 ? "etl" : "web"}}}});
  EXPECT_EQ(Get("/api/jobs?selector=team%20%3D%20etl&page_size=2").body().at("total"), 5);
  EXPECT_EQ(Get("/api/jobs?selector=team%20%3D%20etl").body().at("total"), 5);
}

TEST_F(PagingTest, JobsAreSortedPageByPage) {
  const std::vector<std::pair<std::string, std::string>> jobs = {
      {"c", "Beta"}, {"a", "beta"}, {"d", "Alpha"}, {"b", "Beta"}};
  for (const auto& [id, name] : jobs) {
    Create({{"job_id", id}, {"name", name}});
    clock_.Advance(1s);
  }
  Post("/api/jobs/c/pause");
  const auto order = [&](const std::string& sort) {
    std::string ids;
    for (const int size : {1, 3, 50}) {
      std::string found;
      for (const json& job : Walk("/api/jobs?sort=" + sort, size)) found += job.value("job_id", "");
      EXPECT_TRUE(ids.empty() || ids == found) << sort << size;
      ids = found;
    }
    return ids;
  };
  EXPECT_EQ(order("job_id"), "abcd");
  EXPECT_EQ(order("-job_id"), "dcba");
  EXPECT_EQ(order("name"), "dbca");
  EXPECT_EQ(order("-name"), "acbd");
  EXPECT_EQ(order("create_time"), "cadb");
  EXPECT_EQ(order("-create_time"), "bdac");
  EXPECT_EQ(order("-update_time"), "cbda");
  EXPECT_EQ(order("name&selector=!old"), "dbca");
}

TEST_F(PagingTest, RunsAreSortedTheOtherWayAround) {
  const std::string job_id = Create().value("job_id", "");
  std::vector<std::string> made;
  for (int i = 0; i < 5; ++i) {
    made.push_back(Execute(job_id));
    clock_.Advance(1s);
  }
  for (const std::string& path :
       std::vector<std::string>{"/api/runs", "/api/jobs/" + job_id + "/history"}) {
    std::vector<std::string> found;
    for (const json& run : Walk(path + "?sort=fire_time", 2)) found.push_back(run["run_id"]);
    EXPECT_EQ(found, made) << path;
    EXPECT_EQ(Get(path + "?sort=-fire_time").text, Get(path).text) << path;
  }
}

TEST_F(PagingTest, UsersAreSortedByName) {
  const std::vector<std::string> sorted = {"anna", "Bert", "carl", "Dora", "emil"};
  for (size_t i = 0; i < sorted.size(); ++i) {
    const std::string id = "user-" + std::to_string((i * 2) % 5);
    ASSERT_TRUE(stores_.auth.CreateUser({.user_id = id, .name = sorted[i], .role = "user"}).ok());
  }
  const auto names = [&](const std::string& query) {
    std::vector<std::string> found;
    for (const json& user : Walk("/api/users" + query, 2)) found.push_back(user["name"]);
    return found;
  };
  EXPECT_EQ(names("?sort=name"), sorted);
  EXPECT_EQ(names("?sort=-name"), std::vector<std::string>(sorted.rbegin(), sorted.rend()));
  EXPECT_EQ(Get("/api/users").body()["items"][1]["name"], "Dora");  // sorted by user_id
}

TEST_F(PagingTest, UnknownOrdersAreRefused) {
  for (const std::string& path : std::vector<std::string>{
           "/api/jobs?sort=next_fire_time", "/api/jobs?sort=", "/api/jobs?sort=-",
           "/api/jobs?sort=--name", "/api/jobs?sort=name,job_id", "/api/runs?sort=start_time",
           "/api/users?sort=role"}) {
    const Answer refused = Get(path);
    EXPECT_EQ(refused.status, 400) << path;
    EXPECT_EQ(refused.pointer(), "?sort") << path;
  }
  EXPECT_NE(Get("/api/jobs?sort=x").text.find("job_id, name, create_time, update_time"),
            std::string::npos);
  for (int i = 0; i < 3; ++i) Create();
  const std::string token =
      Get("/api/jobs?sort=name&page_size=1").body().value("next_page_token", "");
  EXPECT_EQ(Get("/api/jobs?sort=name&page_token=" + token).status, 200);
  for (const std::string other : {"", "?sort=-name", "?sort=create_time"}) {
    const std::string path = "/api/jobs" + other + (other.empty() ? "?" : "&");
    EXPECT_EQ(Get(path + "page_token=" + token).pointer(), "?page_token") << other;
  }
}

}  // namespace
}  // namespace carillon::test
