// Claims that wait for an answer: sends them when a slot is free, repeats them, and acts
// on the answers.
//
// Place    Step 7 of docs/life-of-a-run.md; under ExecutorCore.
// Threads  The core loop.
// Time     Never reads a clock.
// Errors   A claim that is never answered is dropped 3 s before its lease would have ended. If the
//          owner had accepted the claim, the owner treats the attempt as lost when the lease ends.
// Always   A claim is repeated with its own token only, so that the owner can recognise it and
//          answer "accepted again". An attempt begins only under an accepted claim.
#pragma once

#include <map>
#include <vector>

#include "executor/agent/attempt_runner.h"
#include "executor/agent/claim_gate.h"
#include "executor/agent/executor_daemon.h"
#include "executor/agent/lane_queues.h"
#include "executor/link/member_sessions.h"
#include "executor/runs/run_table.h"

namespace carillon::executor {

class OpenClaims {
 public:
  static constexpr Duration kAskOther = 20ms;  // delay before a claim goes to another member
  // after this time an unanswered claim gives its slot back
  static constexpr Duration kSlotPatience = 2s;

  struct Rooms {
    RunTable& runs;
    LaneQueues& queues;
    MemberSessions& sessions;
    ClaimGate& gate;
    AttemptRunner& runner;
  };
  OpenClaims(TokenSource& tokens, const ExecutorOptions& options, Rooms rooms)
      : tokens_(tokens), options_(options), rooms_(rooms) {}

  // Claims waiting tasks while there are free slots.
  void ClaimFree(SteadyTime now);
  // Repeats unanswered claims, and drops those that are too old.
  void AskAgain(SteadyTime now);
  SteadyTime NextDue() const;

  void OnAnswers(const MemberId& member, const ClaimBatchReply& reply, SteadyTime now);
  // Sends the claim to the new owner of the segment, who published the task again.
  void MoveTo(const MemberId& member, RunEntry& entry, SteadyTime now);
  // Drops the claim of an attempt that an earlier daemon had already started.
  void Drop(const RunEntry& entry) { claims_.erase(entry.held.token); }

  // ---- the claims that `member` has not answered
  int SlotsOf(const MemberId& member, Lane lane) const;
  // By the name of the handler.
  std::map<std::string, int> HandlerSlotsOf(const MemberId& member) const;
  std::vector<HeldAttempt> SentTo(const MemberId& member) const;

 private:
  void ClaimHandlers(SteadyTime now);
  void Claim(const AttemptId& id, SteadyTime now);
  void SendClaim(RunEntry& entry, SteadyTime now);
  void GiveUp(RunEntry& entry);
  void Accept(RunEntry& entry, const ClaimBatchReply::Item& answer, SteadyTime lease_end,
              SteadyTime now);

  TokenSource& tokens_;
  const ExecutorOptions& options_;
  const Rooms rooms_;
  std::map<ClaimToken, AttemptId> claims_;  // by token: answers carry no attempt number
  SteadyTime next_ask_{};
};

}  // namespace carillon::executor
