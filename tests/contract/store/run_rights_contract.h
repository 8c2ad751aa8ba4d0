// The contract of claims of runs that act for others than the owner of their job: whoever lost the
// right to run it while the run waited is refused.
#pragma once

#include "tests/contract/store/workflow_rights_contract.h"
#include "tests/support/failpoint_on.h"

namespace carillon::test {

class RunRightsDriver : public RightsDriver {
 public:
  explicit RunRightsDriver(StoreHandle& store) : RightsDriver(store) { Share({"load", "hers"}); }

  StoredJob Load() { return v(jobs.GetJob(JobId("load"))); }
  // Edits the job of the node.
  StoredJob Edit(const std::function<void(JobDefinition&)>& change, WallTime now = kT0) {
    const StoredJob job = Load();
    JobDefinition definition = job.definition;
    change(definition);
    return Replace(job, definition, now);
  }
  RunKey Executed(const std::string& parameters, WallTime now = kT0) {
    const ExecuteRequest request{.job_id = JobId("load"), .parameters_json = parameters};
    return v(runs.ExecuteJob(request, {.now = now})).key;
  }
  RunKey NodeKeyOf(const RunKey& flow) { return RowOf(flow, "load").key; }
  ClaimRequest Asking(const RunKey& key) {
    const JobDefinition definition = Load().definition;
    ClaimRequest request = ClaimOf(Get(key).row, ++tokens_);
    request.overlap = OverlapRulesOf(definition);
    request.group = definition.concurrency_group;
    return request;
  }
  void ExpectClaim(const RunKey& key, WallTime now, ClaimVerdict verdict) {
    const ClaimReply reply = Claim(Asking(key), fence, now);
    EXPECT_EQ(reply.verdict, verdict) << Name(reply.reason);
  }
  // As the release refuses it, and its workflow goes on from that.
  void ExpectRefused(const RunKey& flow, WallTime now, const std::string& who = "bert") {
    const ClaimReply reply = Claim(Asking(NodeKeyOf(flow)), fence, now);
    EXPECT_EQ(reply.verdict, ClaimVerdict::kSkipped);
    EXPECT_EQ(reply.reason, ClaimReason::kForbidden);
    Steps(now);
    ExpectForbidden(flow, who);
  }
  void ExpectRunRefused(const RunKey& key, WallTime now, const std::string& sentence) {
    ExpectClaim(key, now, ClaimVerdict::kSkipped);
    EXPECT_EQ(StateOf(key), RunState::kSkipped);
    EXPECT_EQ(Get(key).result.reason, reason::kForbidden);
    EXPECT_EQ(Get(key).result.error, sentence);
  }
  void End(const RunKey& key, RunState state, WallTime now) {
    EXPECT_EQ(Apply(ReportOf(Get(key).row, state, now), fence, now).verdict,
              ResultVerdict::kApplied);
  }
  std::vector<RunKey> AdmitToGroups(WallTime now) {
    std::vector<RunKey> admitted;
    for (const QueuedGroup& group : v(queues.ScanGroups(All(), GroupNo{}, 100, kT0)).groups) {
      for (const RunRow& row : v(queues.AdmitGroup(group, fence, now)).admitted) {
        admitted.push_back(row.key);
      }
    }
    return admitted;
  }

  static constexpr const char* kBertGave =
      "bert, who gave the run its parameters, may not run the job now.";

 private:
  uint64_t tokens_ = 9000;
};

template <typename Factory>
class RunRightsContract : public StoreContract<Factory> {
 protected:
  RunRightsContract() { failpoint::Reset(); }
  ~RunRightsContract() override { failpoint::Reset(); }
  RunRightsDriver rights() { return RunRightsDriver(this->handle()); }
};
TYPED_TEST_SUITE(RunRightsContract, StoreFactories);

TYPED_TEST(RunRightsContract, NodeThatWaitedForItsPausedJobIsAskedAgain) {
  RunRightsDriver s = this->rights();
  s.Pause(s.Load(), kT0);
  const RunKey refused = s.BegunWith(s.hers, s.From(s.kBert));
  s.ExpectReleased(refused);
  s.Share({"hers"});
  s.Resume(s.Load(), kT0 + 10s);
  s.ExpectRefused(refused, kT0 + 10s);
  // Released before the pause, and nobody has lost a right.
  s.Share({"load", "hers"});
  const RunKey allowed = s.BegunWith(s.hers, s.From(s.kBert));
  s.Pause(s.Load(), kT0 + 11s);
  s.Resume(s.Load(), kT0 + 12s);
  s.ExpectClaim(s.NodeKeyOf(allowed), kT0 + 12s, ClaimVerdict::kAccepted);
}

TYPED_TEST(RunRightsContract, NextAttemptOfANodeIsAskedAgain) {
  RunRightsDriver s = this->rights();
  s.Edit([](JobDefinition& load) {
    load.retry_count = 3;
    load.retry_interval_s = 1;
  });
  const RunKey flow = s.BegunWith(s.hers, s.From(s.kBert));
  s.ExpectClaim(s.NodeKeyOf(flow), kT0 + 2s, ClaimVerdict::kAccepted);
  s.End(s.NodeKeyOf(flow), RunState::kFailed, kT0 + 3s);
  s.ExpectClaim(s.NodeKeyOf(flow), kT0 + 60s, ClaimVerdict::kAccepted);
  s.End(s.NodeKeyOf(flow), RunState::kFailed, kT0 + 61s);
  s.Share({"hers"});
  s.ExpectRefused(flow, kT0 + 120s);
  EXPECT_EQ(s.Get(s.NodeKeyOf(flow)).attempts.size(), 2u);
}

TYPED_TEST(RunRightsContract, NodeThatWaitedForItsGroupIsAskedAgain) {
  RunRightsDriver s = this->rights();
  EXPECT_OK(s.groups.PutGroup("db", {.limit = 1}, kT0));
  s.Edit([](JobDefinition& load) { load.concurrency_group = "db"; });
  const RunKey holder = s.Executed("");
  s.ExpectClaim(holder, kT0 + 1s, ClaimVerdict::kAccepted);
  const RunKey flow = s.BegunWith(s.hers, s.From(s.kBert));
  s.ExpectClaim(s.NodeKeyOf(flow), kT0 + 2s, ClaimVerdict::kEnqueued);
  s.Share({"hers"});
  s.End(holder, RunState::kCompleted, kT0 + 3s);
  EXPECT_EQ(s.AdmitToGroups(kT0 + 4s), std::vector<RunKey>{s.NodeKeyOf(flow)});
  s.ExpectRefused(flow, kT0 + 5s);
  // The slot that was reserved for it is free.
  s.ExpectClaim(s.Executed("", kT0 + 6s), kT0 + 6s, ClaimVerdict::kAccepted);
}

TYPED_TEST(RunRightsContract, NodeThatWaitedForASlotOfItsJobIsAskedAgain) {
  RunRightsDriver s = this->rights();
  const StoredJob load =
      s.Edit([](JobDefinition& job) { job.overlap_policy = OverlapPolicy::kQueueAll; });
  const RunKey holder = s.Executed("");
  s.ExpectClaim(holder, kT0 + 1s, ClaimVerdict::kAccepted);
  const RunKey flow = s.BegunWith(s.hers, s.From(s.kBert));
  s.ExpectClaim(s.NodeKeyOf(flow), kT0 + 2s, ClaimVerdict::kEnqueued);
  s.Share({"hers"});
  s.End(holder, RunState::kCompleted, kT0 + 3s);
  EXPECT_EQ(s.v(s.queues.Admit({load.job_no, load.segment}, s.fence, kT0 + 4s)).admitted.size(),
            1u);
  s.ExpectRefused(flow, kT0 + 5s);
  s.ExpectClaim(s.Executed("", kT0 + 6s), kT0 + 6s, ClaimVerdict::kAccepted);
}

TYPED_TEST(RunRightsContract, OwnerOfTheWorkflowIsAskedAgain) {
  RunRightsDriver s = this->rights();
  const RunKey flow = s.Begun(s.his, kT0);
  s.ExpectReleased(flow);
  s.Change(s.kBert, [](UserRecord& bert) { bert.disabled = true; });
  s.ExpectRefused(flow, kT0 + 1s);
}

TYPED_TEST(RunRightsContract, NestedWorkflowIsAskedAgainWhenItBegins) {
  RunRightsDriver s = this->rights();
  s.Share({"outer", "hers", "load"});
  const StoredJob outer =
      s.Create("outer", s.Of(s.kAnna, "outer", s.Flow({s.Given(s.Node("hers"))})));
  const RunKey flow = s.BegunWith(outer, s.From(s.kBert));
  EXPECT_EQ(s.States(flow), "hers PENDING");
  s.Share({"outer", "load"});
  const BeginReply reply = s.Begin(s.RowOf(flow, "hers").key, kT0 + 2s);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(reply.reason, ClaimReason::kForbidden);
  s.Steps(kT0 + 2s);
  EXPECT_EQ(s.States(flow), "hers SKIPPED forbidden");
  s.ExpectEnd(flow, RunState::kFailed, reason::kNodeFailed);
}

TYPED_TEST(RunRightsContract, RunOfARequestIsAskedAtEachAttempt) {
  RunRightsDriver s = this->rights();
  s.Edit([](JobDefinition& load) { load.retry_count = 1; });
  const RunKey first = s.Executed(s.From(s.kBert));
  const RunKey failed = s.Executed(s.From(s.kBert), kT0 + 1s);
  const RunKey plain = s.Executed("", kT0 + 2s);
  const RunKey own = s.Executed(s.From(s.kAnna), kT0 + 3s);
  s.ExpectClaim(failed, kT0 + 4s, ClaimVerdict::kAccepted);
  s.End(failed, RunState::kFailed, kT0 + 5s);
  s.Share({});
  s.ExpectRunRefused(first, kT0 + 6s, s.kBertGave);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
  s.ExpectRunRefused(failed, kT0 + 1h, s.kBertGave);
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({})).size(), 1u) << "it failed before";
  s.ExpectClaim(plain, kT0 + 6s, ClaimVerdict::kAccepted);
  s.ExpectClaim(own, kT0 + 6s, ClaimVerdict::kAccepted);
}

TYPED_TEST(RunRightsContract, RunOfABackfillIsAskedAtEachAttempt) {
  RunRightsDriver s = this->rights();
  const StoredJob load =
      s.Edit([&](JobDefinition& job) { job.schedules = s.Every(1h).schedules; }, kT0 + 90min);
  const ScheduleId schedule = load.schedules.at(0).schedule_id;
  const Backfill made = s.v(s.backfills.CreateBackfill({.job_id = load.job_id,
                                                        .schedule_id = schedule,
                                                        .from = kT0 + 1h,
                                                        .to = kT0 + 2h,
                                                        .parameters_json = s.From(s.kBert)},
                                                       {}, {.now = kT0 + 2h}));
  s.v(s.backfills.StepBackfill({made.number, load.job_no, load.segment}, s.fence, kT0 + 2h, 100h));
  s.Share({"hers"});
  s.ExpectRunRefused({kT0 + 1h, schedule, 0}, kT0 + 2h, s.kBertGave);
}

TYPED_TEST(RunRightsContract, FormerOwnerIsAskedOnceTheJobIsAnothers) {
  RunRightsDriver s = this->rights();
  const RunKey run = s.Executed(s.From(s.kAnna));
  const RunKey flow = s.Begun(s.hers, kT0);
  s.Edit([](JobDefinition& load) { load.retry_count = 1; });
  const RunKey active = s.Executed(s.From(s.kAnna), kT0 + 1s);
  s.ExpectClaim(active, kT0 + 1s, ClaimVerdict::kAccepted);
  s.Edit([](JobDefinition& load) { load.user_id = "user-root"; }, kT0 + 2s);
  s.End(active, RunState::kFailed, kT0 + 3s);
  const std::string sentence = "anna, who gave the run its parameters, may not run the job now.";
  s.ExpectRunRefused(run, kT0 + 4s, sentence);
  s.ExpectRunRefused(active, kT0 + 1h, sentence);
  s.ExpectRefused(flow, kT0 + 4s, "anna");
}

TYPED_TEST(RunRightsContract, RepeatedClaimOfAStartedAttemptIsConfirmed) {
  RunRightsDriver s = this->rights();
  const RunKey flow = s.BegunWith(s.hers, s.From(s.kBert));
  const ClaimRequest request = s.Asking(s.NodeKeyOf(flow));
  EXPECT_EQ(s.Claim(request, s.fence, kT0 + 2s).verdict, ClaimVerdict::kAccepted);
  s.Share({});
  EXPECT_EQ(s.Claim(request, s.fence, kT0 + 3s).verdict, ClaimVerdict::kAcceptedAgain);
}

// Also if the batch is first tried without a read of its rows.
TYPED_TEST(RunRightsContract, RefusalCostsNoOtherClaimOfTheBatch) {
  RunRightsDriver s = this->rights();
  const auto claim = [&](std::string_view broken) {
    failpoint::Reset();
    failpoint::Break("fast.memory");
    if (!broken.empty()) failpoint::Break(std::string(broken));
    s.Share({"load", "hers"});
    const RunKey node = s.NodeKeyOf(s.BegunWith(s.hers, s.From(s.kBert)));
    const RunKey bert = s.Executed(s.From(s.kBert));
    const RunKey anna = s.Executed(s.From(s.kAnna));
    const RunKey root = s.Executed(s.From("user-root"));
    s.Share({});
    std::vector<ClaimRequest> requests;
    for (const RunKey& key : {node, anna, bert, root}) requests.push_back(s.Asking(key));
    std::vector<ClaimVerdict> verdicts;
    for (const ClaimReply& reply : s.v(s.firing.Claim(requests, s.fence, kT0 + 5s))) {
      verdicts.push_back(reply.verdict);
    }
    return verdicts;
  };
  const ClaimVerdict started = ClaimVerdict::kAccepted;
  const ClaimVerdict skipped = ClaimVerdict::kSkipped;
  EXPECT_EQ(claim(""), (std::vector{skipped, started, skipped, started}));
  for (const char* rule : {"fast.claim.on_behalf", "claim.rights"}) {
    EXPECT_EQ(claim(rule), std::vector(4, started)) << rule;
  }
}

}  // namespace carillon::test
