#include "scheduler/explain/node_warnings.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace carillon::scheduler {
namespace {

TEST(NodeWarningsTest, WhatWaitsLongerThanItsWorkflowIsNamed) {
  JobDefinition job{.type = JobType::kWorkflow};
  EXPECT_TRUE(NodeWarnings(job).empty());
  job.timeout_s = 86'400;
  WorkflowDefinition& workflow = job.workflow.emplace();
  workflow.finally_timeout_s = 3'600;
  workflow.nodes = {{.id = "silent", .approval = Approval{}},
                    {.id = "fits", .approval = Approval{.timeout_s = 86'400}},
                    {.id = "long", .approval = Approval{.timeout_s = 604'800}},
                    {.id = "next", .wait = NodeWait{.until = "06:30", .day = 1}},
                    {.id = "later", .wait = NodeWait{.until = "06:30", .day = 3}},
                    {.id = "for", .wait = NodeWait{.for_s = 90'000}},
                    {.id = "last", .wait = NodeWait{.for_s = 7'200}, .is_finally = true}};
  std::string named;
  for (const auto& warning : NodeWarnings(job)) {
    EXPECT_EQ(warning["code"], "ends_first");
    named += warning["node"].get<std::string>() + " ";
  }
  EXPECT_EQ(named, "long later for last ");
  EXPECT_NE(NodeWarnings(job)[0].value("detail", "").find("ends after 86400 s: raise timeout"),
            std::string::npos);
}

}  // namespace
}  // namespace carillon::scheduler
