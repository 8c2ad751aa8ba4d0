// Sessions of this executor with the members: registration, heartbeats, batches of claims.
//
// Place    Steps 7 and 8 of docs/life-of-a-run.md.
// Threads  Not thread-safe; the core loop owns it.
// Time     Never reads a clock. Messages carry this host's steady time at sending. Replies return
//          this time, and leases are counted from it.
// Errors   A message that cannot be sent is lost. Registration and heartbeats repeat on their own;
//          the core repeats unanswered claims.
//          The stream of a member that answers no heartbeat is closed, and a new one opened.
// Always   A batch of claims is sent when it has 256 requests, or 2 ms after the previous batch.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/backoff.h"
#include "common/ports/executor_link.h"

namespace carillon::executor {

inline constexpr size_t kClaimBatchMax = 256;
inline constexpr Duration kClaimGap = 2ms;
inline constexpr Duration kHeartbeatEvery = 2s;  // unless the member asks for another interval
inline constexpr Duration kAskAgain = 500ms;     // shortest wait for the answer to a claim
inline constexpr Duration kAskAgainMax = 4s;     // longest wait

class MemberSessions {
 public:
  MemberSessions(ExecutorLink& link, ExecutorRecord record);

  // Keeps one session for each connected member, and sends the registrations that are due.
  void Sync(SteadyTime now);
  bool Connected(const MemberId& member) const { return sessions_.count(member) > 0; }
  // Registers again with every member, if the report has changed.
  void SetChecks(const std::vector<HostCheck>& checks);
  std::vector<MemberId> Members() const;
  // The interval that the member asked for; kHeartbeatEvery if it is not connected.
  Duration HeartbeatEvery(const MemberId& member) const;
  bool several() const { return sessions_.size() > 1; }
  // The fewest free process slots that the last heartbeat reported to any registered member.
  int LeastReportedFreeSlots() const;
  // The next connected member in rotation; `member` itself if there is no other.
  MemberId After(const MemberId& member) const;

  void OnRegistered(const MemberId& member, const Registered& message);
  void OnHeartbeatReply(const MemberId& member, const HeartbeatReply& reply);

  void QueueClaim(const MemberId& member, ClaimRequest request, SteadyTime now);
  void FlushClaims(SteadyTime now);

  // The time to wait for the member's answer before a claim is sent again: twice as long as its
  // last answer took, doubled after each repetition, between kAskAgain and kAskAgainMax. The wait
  // adapts, because a slow member still has all claims, and every repetition slows the
  // member further.
  Duration Patience(const MemberId& member) const;
  // Call it after claims to this member were sent again: doubles Patience(member).
  void OnAskedAgain(const MemberId& member);
  void OnClaimsAnswered(const MemberId& member, const ClaimBatchReply& reply, SteadyTime now);
  // The length of a lease according to the latest reply of a member.
  Duration lease() const { return lease_; }

  // For how long streams may stay away while this executor holds nothing: the interval that a
  // member asked for last. Zero in a small fleet.
  Duration calm() const { return calm_; }

  // Sends a heartbeat to each registered member whose heartbeat is due, or to all with kChange. A
  // member that was told to expect silence is told at once of anything else.
  using Fill = std::function<void(const MemberId& member, Heartbeat* heartbeat)>;
  enum class Cause { kTime, kChange };
  void SendHeartbeats(SteadyTime now, Cause cause, const Fill& fill);

  SteadyTime NextDue() const;
  const std::string& refusal() const { return refusal_; }

 private:
  struct Session {
    bool registered = false;
    std::string standing;      // as last reported: "enabled", "disabled", "draining"
    SteadyTime register_at{};  // next try
    Backoff register_again{{.first = 1s, .longest = 4s}};
    Duration heartbeat_every = kHeartbeatEvery;
    Duration quiet_every = kHeartbeatEvery;  // while there is nothing to tell
    SteadyTime heartbeat_at{};
    Duration announced = kHeartbeatEvery;  // by the last heartbeat
    bool quiet = false;                    // the last heartbeat announced more than usual
    std::optional<Heartbeat> last;         // if it listed no attempt
    SteadyTime look_at{};                  // when it is looked for news again
    std::optional<SteadyTime> unanswered;  // since this heartbeat the member has not answered
    int unanswered_beats = 0;
    int reported_free_slots = 0;
    std::vector<ClaimRequest> claims;
    SteadyTime claims_at{};  // when the next batch may be sent
    Duration patience = kAskAgain;
  };
  void SendClaims(const MemberId& member, Session& session, SteadyTime now);
  void SendHeartbeat(const MemberId& member, Session& session, Heartbeat heartbeat, SteadyTime now);
  void CloseIfSilent(const MemberId& member, Session& session, SteadyTime now);

  ExecutorLink& link_;
  ExecutorRecord record_;
  std::map<MemberId, Session> sessions_;
  std::string refusal_;
  Duration lease_ = 20s;
  Duration calm_{};
  Rng rng_;
  SteadyTime next_sync_{};
  uint64_t next_batch_ = 1;
};

}  // namespace carillon::executor
