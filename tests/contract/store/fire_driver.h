// Shorthand for the suites of fires that are done in parts.
#pragma once

#include <utility>
#include <vector>

#include "common/domain/parts/run_part.h"
#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class FireContract : public StoreContract<Factory> {
 protected:
  static JobDefinition Sharded(JobDefinition job, int64_t total,
                               OverlapPolicy policy = OverlapPolicy::kAllow) {
    job.shards = Shards{.total = total};
    job.overlap_policy = policy;
    return job;
  }

  static ClaimRequest ToBegin(const RunRow& own, const JobDefinition& job) {
    ClaimRequest request = StoreDriver::ClaimOf(own, own.key.schedule_id.value());
    request.executor = {};
    request.incarnation = {};
    request.overlap = OverlapRulesOf(job);
    return request;
  }
  // The own run of a fire that has begun.
  static RunRow Begin(StoreDriver& s, const RunRow& own, const JobDefinition& job,
                      const Fence& fence, WallTime now) {
    const PartsReply reply = s.v(s.workflows.BeginParts({ToBegin(own, job)}, fence, now));
    EXPECT_EQ(reply.verdict, ClaimVerdict::kAccepted) << Name(reply.reason);
    return s.Get(own.key).row;
  }
  static RunRow BeginNow(StoreDriver& s, const StoredJob& job, const Fence& fence, WallTime now) {
    return Begin(s, s.Execute(job, now), job.definition, fence, now);
  }

  static RunKey KeyOf(const RunRow& own, uint32_t index) {
    return {own.key.fire, own.key.schedule_id, index + 1};
  }
  static RunRow Part(StoreDriver& s, const RunRow& own, uint32_t index) {
    return s.Get(KeyOf(own, index)).row;
  }
  static RunRow StartPart(StoreDriver& s, const RunRow& own, uint32_t index, const Fence& fence,
                          WallTime now) {
    return s.Start(Part(s, own, index), 100 + index, fence, now);
  }
  static void EndPart(StoreDriver& s, const RunRow& own, uint32_t index, RunState state,
                      const Fence& fence, WallTime now) {
    const RunRow started = StartPart(s, own, index, fence, now);
    s.Apply(s.ReportOf(started, state, now), fence, now);
    EXPECT_EQ(Part(s, own, index).state, state);
  }
  // The states of all parts, by index.
  static std::vector<RunState> States(StoreDriver& s, const RunRow& own) {
    std::vector<RunState> states;
    for (const RunPart& part : s.v(s.runs.ListParts(own.key))) states.push_back(part.state);
    return states;
  }
  // The look at a fire after the ends of parts.
  static RunRow Look(StoreDriver& s, const RunRow& own, const Fence& fence, WallTime now) {
    EXPECT_OK(s.completions.EndFires(
        {{.own = own.key, .segment = own.segment, .job_no = own.job_no}}, fence, now));
    return s.Get(own.key).row;
  }
};

}  // namespace carillon::test
