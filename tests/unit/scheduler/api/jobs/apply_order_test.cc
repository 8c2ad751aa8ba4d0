#include "scheduler/api/jobs/apply_order.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/document_order.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;
using Order = std::vector<size_t>;

json Job(const std::string& id, const std::vector<std::string>& upstream = {}) {
  json job = {{"job_id", id}, {"schedules", json::array()}};
  for (const std::string& one : upstream) {
    job["schedules"].push_back({{"kind", "after"}, {"job", one}});
  }
  return job;
}

TEST(ApplyOrderTest, ListsWithoutDependentsKeepTheirOrder) {
  EXPECT_EQ(UpstreamFirst(json::array()), Order());
  EXPECT_EQ(UpstreamFirst(json::array({Job("b"), Job("a"), Job("c", {"elsewhere"})})),
            (Order{0, 1, 2}));
  EXPECT_EQ(UpstreamFirst(json::array({5, json::object(), {{"schedules", 5}}, {{"job_id", 7}}})),
            (Order{0, 1, 2, 3}));
}

TEST(ApplyOrderTest, UpstreamJobsComeFirst) {
  EXPECT_EQ(UpstreamFirst(json::array({Job("c", {"b"}), Job("b", {"a"}), Job("a"), Job("d")})),
            (Order{2, 3, 1, 0}));
  const Order diamond = UpstreamFirst(
      json::array({Job("d", {"b", "c"}), Job("c", {"a"}), Job("b", {"a"}), Job("a")}));
  EXPECT_EQ(diamond.size(), 4u);
  EXPECT_EQ(diamond.front(), 3u);
  EXPECT_EQ(diamond.back(), 0u);
}

TEST(ApplyOrderTest, JobsComeAfterThoseForWhichTheyWait) {
  json waiting = Job("c");
  waiting["waits_for"] = json::array({{{"job", "a"}, {"in", "b"}}, 5, {{"job", 5}}});
  EXPECT_EQ(UpstreamFirst(json::array({waiting, Job("b", {"a"}), Job("a")})), (Order{2, 1, 0}));
}

TEST(ApplyOrderTest, NodesWithoutAJobOrderNothing) {
  json workflow = Job("c");
  workflow["workflow"]["nodes"] = json::parse(
      R"([{"id": "a", "task": "x"}, {"id": "b", "approval": {}}, {"id": "d", "job": "z"}])");
  EXPECT_EQ(UpstreamFirst(json::array({workflow, Job("a"), Job("z"), json{{"job_id", ""}}})),
            (Order{1, 2, 3, 0}));
  JobDefinition definition;
  definition.workflow.emplace().nodes = {{.id = "a", .task = TaskBox(JobDefinition{})},
                                         {.id = "b", .approval = Approval{}}};
  EXPECT_TRUE(JobsBefore(definition).empty());
}

TEST(ApplyOrderTest, JobsThatNeedNoneOfTheListStandTogether) {
  EXPECT_EQ(UpstreamFirst(json::array({Job("a"), Job("b", {"a"}), Job("c"), Job("d", {"c", "b"}),
                                       Job("e", {"c"}), Job("f")})),
            (Order{0, 2, 5, 1, 4, 3}));
}

TEST(ApplyOrderTest, CyclesAndLongChainsEnd) {
  EXPECT_EQ(UpstreamFirst(json::array({Job("a", {"b"}), Job("b", {"a"})})).size(), 2u);
  EXPECT_EQ(UpstreamFirst(json::array({Job("a", {"a"})})), Order{0});
  json chain = json::array();
  for (int i = 0; i < 20'000; ++i) {
    chain.push_back(Job("j" + std::to_string(i), {"j" + std::to_string(i + 1)}));
  }
  const Order order = UpstreamFirst(chain);
  ASSERT_EQ(order.size(), chain.size());
  EXPECT_EQ(order.front(), chain.size() - 1);
}

TEST(ApplyOrderTest, OnlyAWorkflowThatComesAfterOthersMayCloseACircle) {
  JobDefinition job;
  EXPECT_FALSE(MayCloseCircle(job));
  job.workflow = WorkflowDefinition{};
  job.workflow->nodes = {{.id = "n", .job = JobId("a")}};
  EXPECT_FALSE(MayCloseCircle(job));
  JobDefinition after = job;
  after.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "b"}};
  EXPECT_TRUE(MayCloseCircle(after));
  JobDefinition waiting = job;
  waiting.waits_for = {{.job = JobId("b")}};
  EXPECT_TRUE(MayCloseCircle(waiting));
  waiting.workflow.reset();
  EXPECT_FALSE(MayCloseCircle(waiting));
}

TEST(ApplyOrderTest, DependentsAreDeletedBeforeWhatTheyWaitFor) {
  const auto job = [](const std::string& id, const std::string& upstream = "") {
    StoredJob stored{.job_id = JobId(id)};
    if (!upstream.empty()) {
      stored.definition.schedules = {{.kind = ScheduleKind::kAfter, .upstream = upstream}};
    }
    return stored;
  };
  const auto sorted = [](std::vector<StoredJob> jobs) {
    std::string ids;
    for (const StoredJob& one : DependentsFirst(std::move(jobs))) ids += one.job_id.value() + " ";
    return ids;
  };
  EXPECT_EQ(sorted({job("a"), job("b"), job("c", "elsewhere")}), "a b c ");
  EXPECT_EQ(sorted({job("a"), job("b", "a"), job("c", "b"), job("d")}), "c b a d ");
  StoredJob waiting = job("e");
  waiting.definition.waits_for = {{.job = JobId("a"), .in = JobId("b")}};
  EXPECT_EQ(JobsBefore(waiting.definition), (std::vector{JobId("a"), JobId("b")}));
  EXPECT_EQ(sorted({job("a"), job("b"), OutlineOf(waiting)}), "e a b ");
  std::vector<StoredJob> chain;
  for (int i = 0; i < 10'000; ++i) {
    chain.push_back(job("j" + std::to_string(i), "j" + std::to_string(i - 1)));
  }
  const std::vector<StoredJob> last_first = DependentsFirst(chain);
  ASSERT_EQ(last_first.size(), chain.size());
  EXPECT_EQ(last_first.front().job_id, chain.back().job_id);
  EXPECT_EQ(last_first.back().job_id, chain.front().job_id);
}

}  // namespace
}  // namespace carillon::scheduler
