// Jobs whose fires have parts.
#include <gtest/gtest.h>

#include <string>

#include "common/domain/job/job_types.h"
#include "common/domain/template/template.h"

namespace carillon::fan_out_test {
namespace {

JobDefinition Sharded(Shards shards = {.total = 8}) {
  return {.name = "a", .command = "true", .shards = shards};
}
JobDefinition Everywhere(int64_t wait_s = 60) {
  return {.name = "a", .command = "true", .broadcast = Broadcast{.wait_s = wait_s}};
}

// The JSON pointer of what is wrong; "" = nothing.
std::string PointerOf(const JobDefinition& job) {
  const Status status = ValidateFanOut(job);
  if (status.ok()) return "";
  EXPECT_EQ(status.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(status.error().message.empty());
  return status.error().pointer;
}

TEST(FanOutTest, JobsWithEitherFieldFanOut) {
  EXPECT_FALSE(FansOut({}));
  EXPECT_TRUE(FansOut(Sharded()));
  EXPECT_TRUE(FansOut(Everywhere()));
  EXPECT_TRUE(NeedsOf(Sharded()).Has(Feature::kShards));
  EXPECT_TRUE(NeedsOf(Everywhere()).Has(Feature::kShards));
  EXPECT_FALSE(NeedsOf({.command = "true"}).Has(Feature::kShards));
}

TEST(FanOutTest, NumbersHaveBounds) {
  EXPECT_EQ(PointerOf({}), "");
  for (const int64_t total : {1, 1'000}) EXPECT_EQ(PointerOf(Sharded({.total = total})), "");
  for (const int64_t total : {-1, 0, 1'001}) {
    EXPECT_EQ(PointerOf(Sharded({.total = total})), "/shards/total");
    EXPECT_EQ(PointerOf(Sharded({.alive = true, .max = total})), "/shards/max");
    EXPECT_EQ(PointerOf(Sharded({.max = total, .total_from = "{{params.n}}"})), "/shards/max");
  }
  for (const int64_t most : {1, 1'000}) {
    EXPECT_EQ(PointerOf(Sharded({.alive = true, .max = most})), "");
  }
  for (const int64_t wait : {0, 604'800}) EXPECT_EQ(PointerOf(Everywhere(wait)), "");
  for (const int64_t wait : {-1, 604'801}) {
    EXPECT_EQ(PointerOf(Everywhere(wait)), "/broadcast/wait_s");
  }
}

TEST(FanOutTest, ATotalMayBeATemplate) {
  EXPECT_TRUE(IsTotalTemplate("{{params.n}}"));
  EXPECT_FALSE(IsTotalTemplate("alive"));
  EXPECT_EQ(PointerOf(Sharded({.total_from = "{{params.n}}"})), "");
  EXPECT_EQ(PointerOf(Sharded({.alive = true, .total_from = "{{params.n}}"})), "/shards/total");
  const std::string nul("{{params.n}}\0", 13);
  EXPECT_EQ(PointerOf(Sharded({.total_from = nul})), "/shards/total");
  const std::string longer = "{{" + std::string(kTotalFromBytesMax, 'n') + "}}";
  EXPECT_EQ(PointerOf(Sharded({.total_from = longer})), "/shards/total");
}

// As in all texts of the job; the places of a parameter's value are those of the run.
TEST(FanOutTest, TheTemplateOfATotalIsChecked) {
  JobDefinition job = Sharded({.total_from = "{{params.n}}"});
  EXPECT_TRUE(ValidateTemplates(job).ok()) << "the request gives it";
  job.schedules.emplace_back();
  const Status missing = ValidateTemplates(job);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().pointer, "/shards/total");
  job.schedules[0].parameters["n"] = int64_t{3};
  EXPECT_TRUE(ValidateTemplates(job).ok());
  for (const std::string text : {"{{params.n", "{{count}}", "{{secrets.n}}", "{{env.N}}",
                                 "{{shard_total}}", "{{nodes.list.outputs.n}}"}) {
    const Status status = ValidateTemplates(Sharded({.total_from = text}));
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(status.error().pointer, "/shards/total") << text;
  }
  // Totals that would be refused at each fire.
  for (const std::string text :
       {"{{{{8", "{{{{8}}", "{{{{params.n}}}}", "{{params.n}} parts", "-{{params.n}}",
        "{{params.n}}{{{{", "{{run_id}}", "{{fire_time}}", "{{fire_date}}", "{{fire_date - 1d}}",
        "{{fire_date | %Y-%m}}", "{{fire_time.local}}", "{{trigger.state}}", "{{job_id}}",
        "{{params.n}} {{params.n}}", "1 {{params.n}}", "{{fire_date | %H %M}}",
        "{{trigger.run_id}}", "alive:{{params.n}}"}) {
    JobDefinition wrong = Sharded({.total_from = text});
    wrong.parameters["n"] = int64_t{3};
    const Status status = ValidateTemplates(wrong);
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(status.error().pointer, "/shards/total") << text;
  }
  for (const std::string text :
       {"{{params.n}}", " {{ params.n }}\n", "{{params.n}}0", "1{{attempt}}", "{{fire_date | %d}}",
        "{{fire_date + 1w | %H%M}}"}) {
    JobDefinition right = Sharded({.total_from = text});
    right.parameters["n"] = int64_t{3};
    const Status status = ValidateTemplates(right);
    EXPECT_TRUE(status.ok()) << text << ": " << status.error().message;
  }
  const Status node = ValidateTemplates(Sharded({.total_from = "{{nodes.list.outputs.n}}"}));
  EXPECT_NE(node.error().message.find("write {{params.n}} here"), std::string::npos)
      << node.error().message;
}

TEST(FanOutTest, ATotalIsAParameterThatMayBeANumber) {
  const auto fits = [](const ParameterRule& rule) {
    JobDefinition job = Sharded({.total_from = "{{params.n}}"});
    job.parameter_rules["n"] = rule;
    return ValidateTemplates(job).ok();
  };
  using enum ParameterType;
  for (const auto type : {kString, kInteger, kNumber}) EXPECT_TRUE(fits({.type = type}));
  EXPECT_FALSE(fits({.type = kBoolean}));
  EXPECT_TRUE(fits({.choices = {std::string("all"), std::string("8")}}));
  EXPECT_FALSE(fits({.choices = {std::string("all"), std::string("none")}}));
  EXPECT_TRUE(fits({.type = kInteger, .choices = {int64_t{4}, int64_t{8}}}));
}

TEST(FanOutTest, WhatCannotBeCombinedIsRefused) {
  JobDefinition both = Sharded();
  both.broadcast.emplace();
  EXPECT_EQ(PointerOf(both), "/broadcast");
  for (JobDefinition job : {Sharded(), Everywhere()}) {
    for (const auto policy : {OverlapPolicy::kCancelPrevious, OverlapPolicy::kTerminatePrevious}) {
      job.overlap_policy = policy;
      EXPECT_EQ(PointerOf(job), "/overlap_policy");
    }
    for (const auto policy : {OverlapPolicy::kAllow, OverlapPolicy::kSkip, OverlapPolicy::kQueueOne,
                              OverlapPolicy::kQueueAll}) {
      job.overlap_policy = policy;
      EXPECT_EQ(PointerOf(job), "");
    }
    job.type = JobType::kWorkflow;
    EXPECT_EQ(PointerOf(job), job.shards ? "/shards" : "/broadcast");
  }
}

TEST(FanOutTest, ABroadcastChoosesItsHosts) {
  JobDefinition job = Everywhere();
  job.executor_selector = "zone=a";
  EXPECT_EQ(PointerOf(job), "");
  job.routing = Routing::kRandom;
  EXPECT_EQ(PointerOf(job), "/routing");
  job = Everywhere();
  job.executor_id = "host-1";
  EXPECT_EQ(PointerOf(job), "/executor_id");
  job = Sharded();
  job.executor_id = "host-1";
  job.routing = Routing::kRandom;
  EXPECT_EQ(PointerOf(job), "");
}

}  // namespace
}  // namespace carillon::fan_out_test
