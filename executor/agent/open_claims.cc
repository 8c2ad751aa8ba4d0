#include "executor/agent/open_claims.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "executor/leases/lease_watch.h"

namespace carillon::executor {
namespace {

bool Accepted(ClaimVerdict verdict) {
  return verdict == ClaimVerdict::kAccepted || verdict == ClaimVerdict::kAcceptedAgain;
}

bool WantsSecrets(const TaskMessage& task) {
  return !task.secret_env.empty() ||
         (task.http && !(SecretsIn(task.http->headers).empty() &&
                         SecretsIn({{"body", task.http->body},
                                    {"client_certificate", task.http->client_certificate}})
                             .empty()));
}

}  // namespace

void OpenClaims::ClaimFree(SteadyTime now) {
  for (const Lane lane : {Lane::kLight, Lane::kProcess}) {
    LaneQueues::Queue& queue = rooms_.queues.Of(lane);
    if (queue.size() == 0 || !rooms_.gate.Accepts(lane)) continue;
    while (rooms_.gate.FreeSlots(lane) > 0) {
      if (lane == Lane::kProcess && queue.size() > 0 && !rooms_.gate.rate().Take(now)) break;
      const std::optional<AttemptId> id = queue.Pop();
      if (!id) break;
      Claim(*id, now);
    }
  }
  ClaimHandlers(now);
}

// A handler without a free slot does not delay the tasks of others.
void OpenClaims::ClaimHandlers(SteadyTime now) {
  LaneQueues::Queue& queue = rooms_.queues.Of(Lane::kHandler);
  if (queue.size() == 0 || !rooms_.gate.Accepts(Lane::kHandler)) return;
  const auto has_slot = [this](const AttemptId& id) {
    const RunEntry* entry = rooms_.runs.Find(id);
    return entry == nullptr || rooms_.gate.FreeSlots(entry->handler) > 0;
  };
  while (const std::optional<AttemptId> id = queue.PopIf(has_slot)) Claim(*id, now);
}

void OpenClaims::Claim(const AttemptId& id, SteadyTime now) {
  RunEntry* entry = rooms_.runs.Find(id);
  if (entry == nullptr) return;
  if (!rooms_.sessions.Connected(entry->member)) {
    // No member to claim from: the segment's next owner publishes the task again.
    rooms_.runs.Move(*entry, RunStage::kGone);
    return;
  }
  rooms_.runs.Move(*entry, Next(entry->stage, RunEvent::kSlotTaken).stage);
  entry->held.token = tokens_.Next();
  entry->since = now;
  claims_[entry->held.token] = id;
  SendClaim(*entry, now);
}

void OpenClaims::SendClaim(RunEntry& entry, SteadyTime now) {
  entry.asked = now;
  ClaimRequest request;
  request.key = entry.held.key;
  request.segment = entry.held.segment;
  request.job_no = entry.held.job_no;
  request.attempt = entry.held.attempt;
  request.def_version = entry.task.def_version;
  request.token = entry.held.token;
  request.executor = options_.executor_id;
  request.incarnation = options_.incarnation;
  request.overlap.policy = entry.task.overlap;
  request.wants_secrets = WantsSecrets(entry.task);
  rooms_.sessions.QueueClaim(entry.member, std::move(request), now);
}

void OpenClaims::AskAgain(SteadyTime now) {
  if (now < next_ask_) return;
  next_ask_ = now + kAskAgain / 2;
  std::set<MemberId> asked_again;
  for (const AttemptId& id : rooms_.runs.InStage(RunStage::kClaiming)) {
    RunEntry& entry = *rooms_.runs.Find(id);
    if (now >= entry.since + rooms_.sessions.lease() - kLeaseMargin) {
      GiveUp(entry);
      continue;
    }
    if (now >= entry.since + kSlotPatience) rooms_.runs.SetSlot(entry, false);
    if (now < entry.asked + rooms_.sessions.Patience(entry.member)) continue;
    // `asked` is zero if the claim has just moved to this member and is sent to it for the first
    // time. Then the member is not slow to answer.
    if (entry.asked != SteadyTime{}) asked_again.insert(entry.member);
    SendClaim(entry, now);
  }
  for (const MemberId& member : asked_again) rooms_.sessions.OnAskedAgain(member);
}

void OpenClaims::GiveUp(RunEntry& entry) {
  log::Warn("executor", "claim of run {} attempt {} was never answered", EncodeRunId(entry.id.key),
            entry.id.attempt);
  claims_.erase(entry.held.token);
  rooms_.runs.Move(entry, Next(entry.stage, RunEvent::kGivenUp).stage);
}

SteadyTime OpenClaims::NextDue() const {
  const bool asks = rooms_.runs.count(RunStage::kClaiming) > 0;
  const bool paced =
      rooms_.gate.rate().per_second() > 0 && rooms_.queues.Of(Lane::kProcess).size() > 0 &&
      rooms_.gate.Accepts(Lane::kProcess) && rooms_.gate.FreeSlots(Lane::kProcess) > 0;
  return std::min(asks ? next_ask_ : SteadyTime::max(),
                  paced ? rooms_.gate.rate().Next() : SteadyTime::max());
}

void OpenClaims::OnAnswers(const MemberId& member, const ClaimBatchReply& reply, SteadyTime now) {
  for (const ClaimBatchReply::Item& item : reply.items) {
    const auto claim = claims_.find(item.token);
    if (claim == claims_.end()) continue;  // already answered
    RunEntry& entry = *rooms_.runs.Find(claim->second);
    if (entry.id.key != item.key || entry.stage != RunStage::kClaiming) continue;
    if (Accepted(item.verdict)) {
      entry.member = member;
      Accept(entry, item, GrantedEnd(reply.sent_us, reply.lease, now), now);
    } else if (entry.member == member && item.reason == ClaimReason::kNotOwner) {
      // The segment has another owner now. If the former owner accepted this claim, the new owner
      // answers "accepted again". AskAgain drops the claim in time if no member answers.
      entry.member = rooms_.sessions.After(member);
      entry.asked = SteadyTime{};
      next_ask_ = std::min(next_ask_, now + kAskOther);
    } else if (entry.member == member) {
      claims_.erase(claim);
      rooms_.runs.Move(entry, Next(entry.stage, RunEvent::kRefused).stage);
    }
  }
}

void OpenClaims::Accept(RunEntry& entry, const ClaimBatchReply::Item& answer, SteadyTime lease_end,
                        SteadyTime now) {
  const bool late = now >= lease_end - kLeaseMargin;
  const RunStep step = Next(entry.stage, late ? RunEvent::kAcceptedLate : RunEvent::kAccepted);
  if (step.action == RunAction::kClaim) {
    // The answer to a repeated claim, "accepted again", carries a fresh lease.
    if (now < entry.since + rooms_.sessions.lease() - kLeaseMargin) {
      SendClaim(entry, now);
      return;
    }
    // The claim is accepted and the attempt was never started. Reporting it as lost at once lets
    // the owner retry it without waiting for the end of the lease.
    claims_.erase(entry.held.token);
    rooms_.runs.Move(entry, RunStage::kStarting);
    rooms_.runner.EndUnstarted(entry);
    return;
  }
  claims_.erase(entry.held.token);
  entry.lease_end = lease_end;
  entry.renewed = now;
  rooms_.runs.Move(entry, step.stage);
  if (!answer.secret_failure.empty()) {
    return rooms_.runner.FailUnstarted(entry, answer.secret_failure, answer.secret_error);
  }
  if (WantsSecrets(entry.task) && answer.secrets.empty()) {
    return rooms_.runner.FailUnstarted(
        entry, reason::kSecretUnsupported,
        "the member that accepted the claim runs a version without secrets");
  }
  entry.secrets = answer.secrets;
  entry.checkpoint = answer.checkpoint;
  rooms_.runner.Begin(entry, now);
}

void OpenClaims::MoveTo(const MemberId& member, RunEntry& entry, SteadyTime now) {
  entry.member = member;
  entry.asked = SteadyTime{};
  next_ask_ = now;
}

int OpenClaims::SlotsOf(const MemberId& member, Lane lane) const {
  int held = 0;
  for (const auto& [token, id] : claims_) {
    const RunEntry& entry = *rooms_.runs.Find(id);
    if (entry.lane() == lane && entry.member == member && entry.holds_slot) ++held;
  }
  return held;
}

std::map<std::string, int> OpenClaims::HandlerSlotsOf(const MemberId& member) const {
  std::map<std::string, int> held;
  for (const auto& [token, id] : claims_) {
    const RunEntry& entry = *rooms_.runs.Find(id);
    const bool counts =
        entry.lane() == Lane::kHandler && entry.member == member && entry.holds_slot;
    if (counts) ++held[entry.handler];
  }
  return held;
}

std::vector<HeldAttempt> OpenClaims::SentTo(const MemberId& member) const {
  std::vector<HeldAttempt> sent;
  for (const auto& [token, id] : claims_) {
    const RunEntry& entry = *rooms_.runs.Find(id);
    if (entry.member == member) sent.push_back(entry.held);
  }
  return sent;
}

}  // namespace carillon::executor
