// The contract of fires that begin again from their beginning: their parts have the places of then.
#pragma once

#include <string>
#include <vector>

#include "tests/contract/store/parts_total_contract.h"

namespace carillon::test {

// The fire of the node a, whose places do not come from a template.
class PlacesAgainDriver : public PartsAgainDriver {
 public:
  using PartsAgainDriver::PartsAgainDriver;
  using Hosts = std::vector<std::string>;

  PartsReply BeginAnew() {
    last = {RequestFor(own)};
    const PartsReply reply = v(workflows.BeginParts(last, fence, now));
    EXPECT_EQ(reply.verdict, ClaimVerdict::kAccepted) << Name(reply.reason);
    return reply;
  }
  void Edit(const JobDefinition& definition) { job = Replace(job, definition, now); }
  void Enable(const std::string& host, bool enabled) {
    v(executors.SetExecutorEnabled(ExecutorId(host), enabled));
  }
  // Of each part the host that it is bound to.
  Hosts HostsOfParts() {
    Hosts hosts;
    for (const RunPart& part : v(runs.ListParts(own))) {
      hosts.push_back(part.pinned_executor.value());
    }
    return hosts;
  }

  ClaimReply ClaimAt(uint32_t shard, const std::string& host) {
    ClaimRequest request = ClaimOf(PartOf(own, shard), ++tokens_);
    request.pinned = true;
    request.executor = ExecutorId(host);
    return Claim(request, fence, now);
  }
  RunRow StartAtHost(uint32_t shard) {
    const ExecutorId host = PartOf(own, shard).pinned_executor;
    EXPECT_EQ(ClaimAt(shard, host.value()).verdict, ClaimVerdict::kAccepted) << shard;
    return PartOf(own, shard);
  }
  // Ends all parts at their hosts, and with them the fire.
  void EndAtHosts(RunState state) {
    const uint32_t total = Get(own).row.shard_total;
    for (uint32_t shard = 1; shard <= total; ++shard) EndRun(StartAtHost(shard), state, now);
    EXPECT_EQ(LookAt(own, now).ended, state);
    Steps(now);
  }

 private:
  uint64_t tokens_ = 700;
};

TYPED_TEST(PartsContract, ABroadcastThatBeginsAgainGoesToTheHostsOfThen) {
  PlacesAgainDriver s(this->handle(), PartsDriver::OnAllHosts());
  for (const char* id : {"h1", "h2"}) s.AddHost(id, kT0);
  s.BeginAnew();
  EXPECT_EQ(s.HostsOfParts(), (PlacesAgainDriver::Hosts{"h1", "h2"}));
  s.EndAtHosts(RunState::kFailed);
  s.Enable("h1", false);
  s.AddHost("h3", kT0);
  s.RunAgain();
  EXPECT_EQ(s.BeginAnew().due, s.PartKey(s.own, 1));
  s.ExpectDue({2, 2});
  EXPECT_EQ(s.HostsOfParts(), (PlacesAgainDriver::Hosts{"h2", "h3"}));
  EXPECT_EQ(s.ClaimAt(2, "h2").reason, ClaimReason::kWrongExecutor);
  s.EndAtHosts(RunState::kCompleted);
  EXPECT_EQ(s.States(s.flow), "a COMPLETED, b PENDING");
}

// None of the hosts of the first begin matches any more.
TYPED_TEST(PartsContract, ABroadcastWhoseHostsHaveAllMovedCanBeginAgain) {
  PlacesAgainDriver s(this->handle(), PartsDriver::OnAllHosts());
  s.AddHost("h1", kT0);
  s.BeginAnew();
  s.SkipPart(s.own, 1, reason::kNoExecutor, s.now);
  EXPECT_EQ(s.LookAt(s.own, s.now).ended, RunState::kSkipped);
  s.Steps(s.now);
  s.Enable("h1", false);
  for (const char* id : {"h2", "h3"}) s.AddHost(id, kT0);
  s.RunAgain();
  s.BeginAnew();
  s.ExpectDue({2, 1});
  EXPECT_EQ(s.HostsOfParts(), (PlacesAgainDriver::Hosts{"h2", "h3"}));
  s.EndAtHosts(RunState::kCompleted);
}

TYPED_TEST(PartsContract, ABroadcastThatBeginsAgainMayFindNoHost) {
  PlacesAgainDriver s(this->handle(), PartsDriver::OnAllHosts());
  s.AddHost("h1", kT0);
  s.BeginAnew();
  s.EndAtHosts(RunState::kFailed);
  s.Enable("h1", false);
  s.RunAgain();
  EXPECT_EQ(s.BeginAnew().ended, RunState::kSkipped);
  s.ExpectEnd(s.own, RunState::kSkipped, reason::kNoExecutor);
  s.ExpectNoParts();
  s.Steps(s.now);
  s.Enable("h1", true);
  s.RunAgain();
  s.BeginAnew();
  s.ExpectDue({2});
  EXPECT_EQ(s.HostsOfParts(), PlacesAgainDriver::Hosts{"h1"});
  s.EndAtHosts(RunState::kCompleted);
}

TYPED_TEST(PartsContract, AFireThatBeginsAgainTakesTheKindOfItsJob) {
  PlacesAgainDriver s(this->handle(), PartsDriver::InParts(3));
  s.BeginAnew();
  s.Fail();
  for (const char* id : {"h1", "h2"}) s.AddHost(id, kT0);
  s.Edit(s.OnAllHosts());
  s.RunAgain();
  s.BeginAnew();
  s.ExpectDue({2, 2});
  EXPECT_EQ(s.HostsOfParts(), (PlacesAgainDriver::Hosts{"h1", "h2"}));
  s.EndAtHosts(RunState::kFailed);
  s.Edit(s.InParts(4));
  s.RunAgain();
  s.BeginAnew();
  s.ExpectDue({3, 3, 2, 1});
  EXPECT_EQ(s.HostsOfParts(), PlacesAgainDriver::Hosts(4));
  s.Fail();  // elsewhere
}

TYPED_TEST(PartsContract, CheckpointsStayWithTheHosts) {
  PlacesAgainDriver s(this->handle(), PartsDriver::OnAllHosts());
  for (const char* id : {"h1", "h2"}) s.AddHost(id, kT0);
  s.BeginAnew();
  const RunRow part = s.StartAtHost(1);
  const RunSave save{.key = part.key,
                     .segment = part.segment,
                     .job_no = part.job_no,
                     .attempt = part.attempt,
                     .token = part.claim_token,
                     .seq = 1,
                     .checkpoint = "half"};
  EXPECT_EQ(s.v(s.checkpoints.Save({save}, s.fence, s.now)).at(0), SaveVerdict::kKept);
  s.EndRun(part, RunState::kFailed, s.now);
  s.EndRun(s.StartAtHost(2), RunState::kFailed, s.now);
  EXPECT_EQ(s.LookAt(s.own, s.now).ended, RunState::kFailed);
  s.Steps(s.now);
  s.RunAgain();
  s.BeginAnew();
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(part.key)), "half");
  s.EndAtHosts(RunState::kFailed);
  s.Enable("h2", false);
  s.AddHost("h3", kT0);
  s.RunAgain();
  s.BeginAnew();
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(part.key)), std::nullopt);
}

}  // namespace carillon::test
