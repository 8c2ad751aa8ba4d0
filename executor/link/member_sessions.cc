#include "executor/link/member_sessions.h"

#include <algorithm>
#include <climits>

#include "common/base/log.h"
#include "executor/link/beat_pace.h"

namespace carillon::executor {
namespace {

constexpr Duration kSyncEvery = 100ms;
// News is looked for this often, and told this often at most.
constexpr Duration kLookEvery = 20ms;
constexpr Duration kNewsEvery = 200ms;
// A member that answers no heartbeat for three intervals, and for this long, hangs.
constexpr int kIntervalsUnanswered = 3;
constexpr Duration kUnansweredLeast = 10s;

// Different processes wait for different times.
uint64_t SeedOf(const ExecutorRecord& record) {
  uint64_t hash = 1469598103934665603ull;
  for (const char c : record.id.value() + "/" + record.incarnation.value()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
  return hash;
}

// The state of this executor as the member sees it. For the log only: whether the executor gets
// work is decided with each claim.
std::string_view StandingOf(const Registered& message) {
  if (message.draining) return "draining";
  return message.enabled ? "enabled" : "disabled";
}

}  // namespace

MemberSessions::MemberSessions(ExecutorLink& link, ExecutorRecord record)
    : link_(link), record_(std::move(record)), rng_(SeedOf(record_)) {}

void MemberSessions::Sync(SteadyTime now) {
  if (now >= next_sync_) {
    next_sync_ = now + kSyncEvery;
    std::map<MemberId, Session> present;
    for (const MemberId& member : link_.Members()) {
      const auto known = sessions_.find(member);
      present[member] = known == sessions_.end() ? Session{} : std::move(known->second);
    }
    sessions_ = std::move(present);
  }
  for (auto& [member, session] : sessions_) {
    CloseIfSilent(member, session, now);
    if (session.registered || now < session.register_at) continue;
    // Less and less often: a member that was restarted hears of its whole fleet at once.
    session.register_at = now + session.register_again.Next(rng_);
    const Status sent = link_.Send(member, Register{record_});
    if (!sent.ok()) log::Debug("link", "register: {}", sent.error().message);
  }
}

void MemberSessions::SetChecks(const std::vector<HostCheck>& checks) {
  if (checks == record_.checks) return;
  record_.checks = checks;
  for (auto& [member, session] : sessions_) {
    session.registered = false;
    session.register_at = SteadyTime{};
  }
}

void MemberSessions::CloseIfSilent(const MemberId& member, Session& session, SteadyTime now) {
  const Duration patience = std::max(kIntervalsUnanswered * session.announced, kUnansweredLeast);
  if (!session.unanswered || now - *session.unanswered < patience) return;
  // Else this process was stopped, and the answer waits to be read.
  if (session.unanswered_beats < kIntervalsUnanswered) return;
  log::Warn("link", "no answer for {} s: a new stream is opened member={}", patience / 1s,
            member.value());
  session.unanswered.reset();
  link_.Close(member);
}

std::vector<MemberId> MemberSessions::Members() const {
  std::vector<MemberId> members;
  for (const auto& [member, session] : sessions_) members.push_back(member);
  return members;
}

Duration MemberSessions::HeartbeatEvery(const MemberId& member) const {
  const auto found = sessions_.find(member);
  return found == sessions_.end() ? kHeartbeatEvery : found->second.heartbeat_every;
}

int MemberSessions::LeastReportedFreeSlots() const {
  int least = INT_MAX;
  for (const auto& [member, session] : sessions_) {
    if (session.registered) least = std::min(least, session.reported_free_slots);
  }
  return least;
}

MemberId MemberSessions::After(const MemberId& member) const {
  auto next = sessions_.upper_bound(member);
  if (next == sessions_.end()) next = sessions_.begin();
  return next == sessions_.end() ? member : next->first;
}

void MemberSessions::OnRegistered(const MemberId& member, const Registered& message) {
  const auto found = sessions_.find(member);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  session.unanswered.reset();
  if (message.accepted) {
    if (!session.registered) log::Info("link", "registered member={}", member.value());
    const std::string_view standing = StandingOf(message);
    if (session.standing != standing) {
      log::Info("link", "this executor is {} member={}", standing, member.value());
      session.standing = standing;
    }
    session.heartbeat_every =
        message.heartbeat > Duration::zero() ? message.heartbeat : kHeartbeatEvery;
    const Duration quiet = std::max(session.heartbeat_every, message.quiet_heartbeat);
    calm_ = quiet > session.heartbeat_every ? quiet : Duration{};
    // Somebody waits for the heartbeat that tells that a draining executor is empty.
    session.quiet_every = message.draining ? session.heartbeat_every : quiet;
    session.registered = true;
    session.register_again.Reset();
    session.heartbeat_at = SteadyTime{};
    refusal_.clear();
    return;
  }
  if (refusal_ != message.refusal) log::Error("link", "refused: {}", message.refusal);
  session.registered = false;
  refusal_ = message.refusal;
}

void MemberSessions::OnHeartbeatReply(const MemberId& member, const HeartbeatReply& reply) {
  lease_ = reply.lease;
  const auto found = sessions_.find(member);
  if (found == sessions_.end()) return;
  found->second.unanswered.reset();
  if (!reply.registered) found->second.registered = false;
}

void MemberSessions::QueueClaim(const MemberId& member, ClaimRequest request, SteadyTime now) {
  const auto found = sessions_.find(member);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  session.claims.push_back(std::move(request));
  if (session.claims.size() >= kClaimBatchMax) SendClaims(member, session, now);
}

void MemberSessions::FlushClaims(SteadyTime now) {
  for (auto& [member, session] : sessions_) {
    if (!session.claims.empty() && now >= session.claims_at) SendClaims(member, session, now);
  }
}

Duration MemberSessions::Patience(const MemberId& member) const {
  const auto found = sessions_.find(member);
  return found == sessions_.end() ? kAskAgain : found->second.patience;
}

void MemberSessions::OnAskedAgain(const MemberId& member) {
  const auto found = sessions_.find(member);
  if (found == sessions_.end()) return;
  found->second.patience = std::min(2 * found->second.patience, kAskAgainMax);
}

void MemberSessions::OnClaimsAnswered(const MemberId& member, const ClaimBatchReply& reply,
                                      SteadyTime now) {
  lease_ = reply.lease;
  const auto found = sessions_.find(member);
  if (found == sessions_.end()) return;
  found->second.unanswered.reset();
  const Duration took = now - SteadyTime(Duration(reply.sent_us));
  found->second.patience = std::clamp(2 * took, kAskAgain, kAskAgainMax);
}

void MemberSessions::SendClaims(const MemberId& member, Session& session, SteadyTime now) {
  ClaimBatch batch;
  batch.sent_us = now.time_since_epoch().count();
  batch.batch_id = next_batch_++;
  batch.requests = std::exchange(session.claims, {});
  session.claims_at = now + kClaimGap;
  const Status sent = link_.Send(member, std::move(batch));
  if (!sent.ok()) log::Debug("link", "claims: {}", sent.error().message);
}

void MemberSessions::SendHeartbeats(SteadyTime now, Cause cause, const Fill& fill) {
  for (auto& [member, session] : sessions_) {
    if (!session.registered) continue;
    const bool due = cause == Cause::kChange || now >= session.heartbeat_at;
    if (!due && (!session.quiet || now < session.look_at)) continue;
    session.look_at = now + kLookEvery;
    Heartbeat heartbeat;
    heartbeat.sent_us = now.time_since_epoch().count();
    fill(member, &heartbeat);
    const bool nothing_new =
        session.last && HoldsNothing(heartbeat) && SaysTheSame(heartbeat, *session.last);
    if (!due && nothing_new) continue;
    session.quiet = nothing_new && session.quiet_every > session.heartbeat_every;
    SendHeartbeat(member, session, std::move(heartbeat), now);
  }
}

void MemberSessions::SendHeartbeat(const MemberId& member, Session& session, Heartbeat heartbeat,
                                   SteadyTime now) {
  session.announced = session.quiet ? session.quiet_every : session.heartbeat_every;
  heartbeat.next_in = session.announced;
  session.heartbeat_at = now + session.announced;
  session.look_at = now + kNewsEvery;
  session.reported_free_slots = heartbeat.free_slots;
  session.last.reset();
  if (HoldsNothing(heartbeat)) session.last = heartbeat;
  session.unanswered_beats = session.unanswered ? session.unanswered_beats + 1 : 1;
  if (!session.unanswered) session.unanswered = now;
  const Status sent = link_.Send(member, std::move(heartbeat));
  if (sent.ok()) return;
  log::Debug("link", "heartbeat: {}", sent.error().message);
  session.heartbeat_at = std::min(session.heartbeat_at, now + session.heartbeat_every);
}

SteadyTime MemberSessions::NextDue() const {
  SteadyTime next = next_sync_;
  for (const auto& [member, session] : sessions_) {
    next = std::min(next, session.registered ? session.heartbeat_at : session.register_at);
    if (!session.claims.empty()) next = std::min(next, session.claims_at);
  }
  return next;
}

}  // namespace carillon::executor
