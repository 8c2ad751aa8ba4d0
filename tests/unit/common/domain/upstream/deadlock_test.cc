#include "common/domain/upstream/deadlock.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/domain/run/dependents.h"

namespace carillon::deadlock_test {
namespace {

const JobNo kW(10);  // a workflow
const JobNo kO(11);  // one around it
const JobNo kN(20);  // the node of kW
const JobNo kM(21);  // another node
const JobNo kX(30);
const JobNo kY(31);

using Link = Deadlock::Link;
using Jobs = std::vector<JobNo>;

// The jobs that are stored.
class DeadlockTest : public testing::Test {
 protected:
  JobLinks& Of(JobNo job_no) {
    stored_[job_no].job_no = job_no;
    return stored_[job_no];
  }
  void Runs(JobNo workflow, JobNo node) {
    Of(workflow).nodes.insert(node);
    Of(node).workflows.insert(workflow);
  }
  void Starts(JobNo before, JobNo after) { Of(after).before.insert(before); }
  void Waits(JobNo waiting, JobNo job, JobNo in = {}) { Of(waiting).waits.push_back({job, in}); }

  // As if the job had been written last, and now names the same as then.
  std::optional<Deadlock> FindAsIf(JobNo written) {
    JobLinks links = Of(written);
    links.workflows.clear();
    return Find(links);
  }
  std::optional<Deadlock> Find(const JobLinks& written) {
    const auto read = [&](const Jobs& jobs) -> Result<std::vector<JobLinks>> {
      std::vector<JobLinks> found;
      for (const JobNo job_no : jobs) {
        const auto stored = stored_.find(job_no);
        if (stored == stored_.end()) continue;
        found.push_back(stored->second);
        found.back().workflows.erase(written.job_no);
        if (job_no != written.job_no) continue;
        found.back() = {.job_no = job_no, .workflows = stored->second.workflows};
      }
      return found;
    };
    auto found = FindDeadlock(written, read);
    EXPECT_TRUE(found.ok());
    return std::move(found).value();
  }
  Jobs CircleOf(JobNo written) {
    const auto found = FindAsIf(written);
    return found ? found->jobs : Jobs{};
  }
  void ExpectNoCircle() {
    for (const auto& [job_no, links] : std::map(stored_)) {
      EXPECT_EQ(CircleOf(job_no), Jobs{}) << job_no.value();
    }
  }
  // A node waits for a job that starts after the end of its workflow.
  void MakeCircle() {
    Runs(kW, kN);
    Starts(kW, kX);
    Waits(kN, kX);
  }

  std::map<JobNo, JobLinks> stored_;
};

TEST_F(DeadlockTest, JobsThatNameNothingMakeNoCircle) {
  EXPECT_EQ(Find({.job_no = kX}), std::nullopt);
}

TEST_F(DeadlockTest, TwoJobsThatWaitForEachOtherAreACircle) {
  Waits(kX, kY);
  Waits(kY, kX);
  const auto found = FindAsIf(kX);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->link, Link::kWait);
  EXPECT_EQ(found->named, kY);
  EXPECT_EQ(found->entry, 0u);
  EXPECT_EQ(found->jobs, (Jobs{kX, kY, kX}));
}

TEST_F(DeadlockTest, ANodeDoesNotWaitForWhatStartsAfterItsWorkflow) {
  MakeCircle();
  EXPECT_EQ(CircleOf(kX), (Jobs{kX, kN, kW, kX}));
  EXPECT_EQ(CircleOf(kW), (Jobs{kW, kX, kN, kW}));
  EXPECT_EQ(CircleOf(kN), (Jobs{kN, kW, kX, kN}));
}

TEST_F(DeadlockTest, TheLinkIsThatOfTheJobThatIsWritten) {
  MakeCircle();
  EXPECT_EQ(FindAsIf(kX)->link, Link::kBefore);
  EXPECT_EQ(FindAsIf(kX)->named, kW);
  EXPECT_EQ(FindAsIf(kW)->link, Link::kNode);
  EXPECT_EQ(FindAsIf(kW)->named, kN);
  Of(kN).waits.insert(Of(kN).waits.begin(), {.job = kY});
  EXPECT_EQ(FindAsIf(kN)->link, Link::kWait);
  EXPECT_EQ(FindAsIf(kN)->named, kX);
  EXPECT_EQ(FindAsIf(kN)->entry, 1u);
}

TEST_F(DeadlockTest, ANewWorkflowClosesACircleByItsNodes) {
  Waits(kX, kM);
  EXPECT_EQ(Find({.waits = {{.job = kX}}}), std::nullopt);
  const auto found = Find({.waits = {{.job = kX}}, .nodes = {kM}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->link, Link::kWait);
  EXPECT_EQ(found->jobs, (Jobs{JobNo{}, kM, kX, JobNo{}}));
  Of(kM).has_times = true;
  EXPECT_EQ(Find({.waits = {{.job = kX}}, .nodes = {kM}}), std::nullopt);
}

TEST_F(DeadlockTest, AJobWithAnotherCauseHasRunsWithoutTheCircle) {
  MakeCircle();
  Of(kX).has_times = true;
  ExpectNoCircle();
  Of(kX).has_times = false;
  Starts(kY, kX);
  ExpectNoCircle();
  Of(kX).before.erase(kY);
  Runs(kO, kX);
  ExpectNoCircle();
}

TEST_F(DeadlockTest, ACircleThroughAWorkflowAroundIt) {
  Runs(kO, kW);
  Runs(kW, kN);
  Starts(kO, kX);
  Waits(kN, kX);
  EXPECT_EQ(CircleOf(kX), (Jobs{kX, kN, kW, kO, kX}));
  EXPECT_EQ(CircleOf(kW), (Jobs{kW, kO, kX, kN, kW}));
}

TEST_F(DeadlockTest, AWaitForAWorkflowIsOneForAllItsNodes) {
  Runs(kW, kN);
  Runs(kW, kM);
  Waits(kX, kW);
  Waits(kM, kX);
  EXPECT_EQ(CircleOf(kX), (Jobs{kX, kM, kW, kX}));
}

TEST_F(DeadlockTest, AWaitForANodeIsNotOneForTheOthers) {
  Runs(kW, kN);
  Runs(kW, kM);
  Waits(kX, kN, kW);
  Waits(kM, kX);
  ExpectNoCircle();
  Waits(kN, kX);
  EXPECT_EQ(CircleOf(kX), (Jobs{kX, kN, kX}));
}

TEST_F(DeadlockTest, ANodeOnlyWaitsForTheBeginOfItsWorkflow) {
  Runs(kW, kN);
  Waits(kX, kN);
  Waits(kW, kX);
  EXPECT_EQ(CircleOf(kX), (Jobs{kX, kW, kN, kX})) << "its workflow begins after X";
  Of(kW).waits.clear();
  Runs(kW, kM);
  Waits(kM, kX);
  ExpectNoCircle();
}

TEST_F(DeadlockTest, TheRunOfANodeDoesNotWaitForItsOtherCauses) {
  Runs(kW, kN);
  Starts(kX, kN);
  Waits(kX, kW);
  ExpectNoCircle();
  // The run that starts after X needs no end of the workflow.
  Waits(kY, kN);
  ExpectNoCircle();
}

TEST_F(DeadlockTest, AnErrorIsPassedOn) {
  const auto read = [](const Jobs&) -> Result<std::vector<JobLinks>> {
    return Error{ErrorCode::kUnavailable, "away"};
  };
  EXPECT_EQ(FindDeadlock({.job_no = kX, .before = {kY}}, read).code(), ErrorCode::kUnavailable);
}

// ---- definitions

JobDefinition WorkflowAfter(const std::string& before) {
  JobDefinition job{.name = "flow", .type = JobType::kWorkflow};
  job.workflow = WorkflowDefinition{.nodes = {{.id = "n", .job = JobId("node")}}};
  job.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "bad", .on = AfterOutcome::kFailure},
                   {.kind = ScheduleKind::kAfter, .upstream = before}};
  job.waits_for = {{.job = JobId("load"), .window = {.day = 0}},
                   {.job = JobId("load"), .in = JobId("nightly"), .window = {.day = 0}}};
  return job;
}

TEST(LinksOfTest, AreThoseOfADefinition) {
  const std::map<JobId, uint64_t> numbers = {
      {JobId("first"), 1}, {JobId("node"), 2}, {JobId("load"), 3}, {JobId("nightly"), 4}};
  const auto number = [&](const JobId& id) { return JobNo(numbers.at(id)); };
  JobDefinition job = WorkflowAfter("first");
  const JobLinks links = LinksOf(kW, job, number);
  EXPECT_EQ(links.job_no, kW);
  EXPECT_FALSE(links.has_times);
  EXPECT_EQ(links.before, std::set<JobNo>{JobNo(1)}) << "not those whose failures start it";
  EXPECT_EQ(links.nodes, std::set<JobNo>{JobNo(2)});
  ASSERT_EQ(links.waits.size(), 2u);
  EXPECT_EQ(links.waits[0].job, JobNo(3));
  EXPECT_EQ(links.waits[0].in, JobNo{});
  EXPECT_EQ(links.waits[1].job, JobNo(3));
  EXPECT_EQ(links.waits[1].in, JobNo(4));
  EXPECT_TRUE(links.workflows.empty());
  job.schedules.push_back({.kind = ScheduleKind::kRate, .every = 1h});
  EXPECT_TRUE(LinksOf(kW, job, number).has_times);
}

TEST(DeadlockErrorTest, PointsAtTheJobThatClosesTheCircle) {
  const JobDefinition job = WorkflowAfter("first");
  const std::vector<std::string> names = {"flow", "other", "flow"};
  const auto error_of = [&](const Deadlock& deadlock, const std::string& named) {
    const Error error = DeadlockError(job, deadlock, JobId(named), names);
    EXPECT_EQ(DependencyCode(error), "cycle");
    EXPECT_EQ(DependencySentence(error),
              "The jobs would wait for each other without end: flow -> other -> flow.");
    return error.pointer;
  };
  EXPECT_EQ(error_of({.link = Link::kBefore, .named = kX}, "first"), "/schedules/1/job");
  EXPECT_EQ(error_of({.link = Link::kNode, .named = kX}, "node"), "/workflow/nodes/0/job");
  EXPECT_EQ(error_of({.link = Link::kWait, .named = kX, .entry = 1}, "load"), "/waits_for/1/job");
}

}  // namespace
}  // namespace carillon::deadlock_test
