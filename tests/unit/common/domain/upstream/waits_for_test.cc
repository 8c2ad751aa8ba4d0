// The fields `waits_for` and `wait_limit_s` of a job.
#include "common/domain/upstream/waits_for.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "common/domain/job/job.h"
#include "common/domain/run/run.h"

namespace carillon::waits_for_test {
namespace {

JobDefinition Waiting(UpstreamWait wait = {.job = JobId("load"), .window = {.day = 0}}) {
  return {.name = "b", .command = "true", .waits_for = {std::move(wait)}, .wait_limit_s = 3'600};
}

// The JSON pointer of what is wrong; "" = nothing.
std::string PointerOf(const JobDefinition& job) {
  const Status status = ValidateWaits(job);
  if (status.ok()) return "";
  EXPECT_EQ(status.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(status.error().message.empty());
  return status.error().pointer;
}

std::string PointerAfter(const std::function<void(UpstreamWait&)>& change) {
  JobDefinition job = Waiting();
  change(job.waits_for.front());
  return PointerOf(job);
}

std::string PointerOfWindow(WaitWindow window) {
  return PointerAfter([&](UpstreamWait& wait) { wait.window = window; });
}

TEST(WaitsForTest, AWindowIsADayOrASpan) {
  for (const int day : {0, -1, -31}) EXPECT_EQ(PointerOfWindow({.day = day}), "") << day;
  for (const int day : {1, -32}) {
    EXPECT_EQ(PointerOfWindow({.day = day}), "/waits_for/0/window/day") << day;
  }
  for (const int64_t back : {1, 2'678'400}) EXPECT_EQ(PointerOfWindow({.back_s = back}), "");
  for (const int64_t back : {-1, 2'678'401}) {
    EXPECT_EQ(PointerOfWindow({.back_s = back}), "/waits_for/0/window/back_s");
  }
  for (const int64_t ahead : {1, 604'800}) EXPECT_EQ(PointerOfWindow({.ahead_s = ahead}), "");
  for (const int64_t ahead : {-1, 604'801}) {
    EXPECT_EQ(PointerOfWindow({.ahead_s = ahead}), "/waits_for/0/window/ahead_s");
  }
  EXPECT_EQ(PointerOfWindow({}), "/waits_for/0/window");
  EXPECT_EQ(PointerOfWindow({.day = 0, .back_s = 1}), "/waits_for/0/window");
  EXPECT_EQ(PointerOfWindow({.day = 0, .ahead_s = 1}), "/waits_for/0/window");
}

TEST(WaitsForTest, AnEntryNamesAJobAndMayNameAWorkflow) {
  const auto job = [](const std::string& id) {
    return [id](UpstreamWait& wait) { wait.job = JobId(id); };
  };
  const auto in = [](const std::string& id) {
    return [id](UpstreamWait& wait) { wait.in = JobId(id); };
  };
  EXPECT_EQ(PointerAfter(job("a_1-b")), "");
  for (const char* id : {"", "Load", "-a"}) EXPECT_EQ(PointerAfter(job(id)), "/waits_for/0/job");
  EXPECT_EQ(PointerAfter(in("")), "");
  EXPECT_EQ(PointerAfter(in("nightly")), "");
  for (const char* id : {"Night", "load"}) EXPECT_EQ(PointerAfter(in(id)), "/waits_for/0/in");
}

TEST(WaitsForTest, ItWaitsForASuccessOrForAnyEnd) {
  for (const AfterOutcome on : {AfterOutcome::kSuccess, AfterOutcome::kDone}) {
    EXPECT_EQ(PointerAfter([on](UpstreamWait& wait) { wait.on = on; }), "");
  }
  EXPECT_EQ(PointerAfter([](UpstreamWait& wait) { wait.on = AfterOutcome::kFailure; }),
            "/waits_for/0/on");
}

TEST(WaitsForTest, EntriesAreFewAndDiffer) {
  JobDefinition job = Waiting();
  for (int i = 1; i < 10; ++i) {
    job.waits_for.push_back({.job = JobId("load"), .window = {.day = -i}});
  }
  EXPECT_EQ(PointerOf(job), "");
  job.waits_for.push_back({.job = JobId("load"), .window = {.day = -10}});
  EXPECT_EQ(PointerOf(job), "/waits_for");
  job.waits_for.resize(3);
  job.waits_for[2] = job.waits_for[0];
  EXPECT_EQ(PointerOf(job), "/waits_for/2");
  job.waits_for[2].which = WaitWhich::kAll;
  EXPECT_EQ(PointerOf(job), "");
}

TEST(WaitsForTest, TheLimitIsNeededExactlyIfTheJobWaits) {
  JobDefinition job = Waiting();
  for (const int64_t limit : {60, 604'800}) {
    job.wait_limit_s = limit;
    EXPECT_EQ(PointerOf(job), "") << limit;
  }
  for (const int64_t limit : {0, -1, 59, 604'801}) {
    job.wait_limit_s = limit;
    EXPECT_EQ(PointerOf(job), "/wait_limit_s") << limit;
  }
  job.waits_for.clear();
  job.wait_limit_s = 60;
  EXPECT_EQ(PointerOf(job), "/wait_limit_s");
  job.wait_limit_s = 0;
  EXPECT_EQ(PointerOf(job), "");
}

TEST(WaitsForTest, EachNamedJobIsListedOnce) {
  JobDefinition job = Waiting();
  job.waits_for.push_back({.job = JobId("load"), .in = JobId("nightly")});
  job.waits_for.push_back({.job = JobId("clean"), .in = JobId("nightly")});
  EXPECT_EQ(WaitedJobsOf(job),
            (std::vector<JobId>{JobId("clean"), JobId("load"), JobId("nightly")}));
  EXPECT_TRUE(WaitsForOthers(job));
  EXPECT_FALSE(WaitsForOthers({}));
}

TEST(WaitsForTest, SchedulesOfAJobThatWaitsHaveTheFlag) {
  EXPECT_EQ(FlagsOfSchedule({}, false), 0u);
  EXPECT_EQ(FlagsOfSchedule({}, true), run_flag::kDependents);
  EXPECT_EQ(FlagsOfSchedule(Waiting(), false), run_flag::kWaits);
  EXPECT_EQ(FlagsOfSchedule(Waiting(), true), run_flag::kWaits | run_flag::kDependents);
}

}  // namespace
}  // namespace carillon::waits_for_test
