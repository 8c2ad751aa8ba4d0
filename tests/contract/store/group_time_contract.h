// Contract of concurrency groups whose slots are given again only after a time (Group::per).
#pragma once

#include "tests/contract/store/group_driver.h"

namespace carillon::test {

template <typename Factory>
class GroupTimeContract : public StoreContract<Factory> {
 protected:
  GroupDriver group_driver() { return GroupDriver(this->handle()); }
};
TYPED_TEST_SUITE(GroupTimeContract, StoreFactories);

inline void StartAndEnd(GroupDriver& s, const StoredJob& job, WallTime now) {
  s.End(s.Started(job, now), RunState::kCompleted, now);
}

TYPED_TEST(GroupTimeContract, ASlotIsGivenAgainOnlyAfterTheTime) {
  GroupDriver s = this->group_driver();
  s.Limit(2, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  StartAndEnd(s, job, kT0 + 1s);
  StartAndEnd(s, job, kT0 + 3s);
  const RunKey first = s.Due(job);
  const ClaimReply reply = s.Offer(job, first, kT0 + 4s);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kEnqueued);
  EXPECT_TRUE(reply.in_timed_group);
  const RunKey second = s.Queued(job, kT0 + 4s);
  const Group group = s.Detail(kT0 + 4s).group;
  EXPECT_EQ(group.per, 10s);
  EXPECT_EQ(group.running, 0);
  EXPECT_EQ(group.cooling, 2);
  EXPECT_EQ(group.next_cool, kT0 + 11s);
  GroupScan scan = s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 10, kT0 + 4s));
  EXPECT_TRUE(scan.groups.empty());
  EXPECT_EQ(scan.next_cool, kT0 + 11s);
  EXPECT_EQ(s.Admit(kT0 + 11s - kGroupAhead - 1us), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(kT0 + 11s - kGroupAhead), std::vector<RunKey>{first});
  EXPECT_EQ(s.Get(first).row.due, kT0 + 11s - kGroupLead);
  // A reserved slot asks for no look.
  scan = s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 10, kT0 + 10s));
  EXPECT_EQ(scan.next_cool, kT0 + 13s);
  s.ExpectOffer(job, first, kT0 + 11s, ClaimVerdict::kAccepted);
  EXPECT_EQ(s.Admit(kT0 + 12s), std::vector<RunKey>{second});
  EXPECT_EQ(s.Detail(kT0 + 13s).group.cooling, 0);
}

TYPED_TEST(GroupTimeContract, AClaimBeforeItsSlotIsCoolIsTooEarlyAndLeavesEverythingAsItIs) {
  GroupDriver s = this->group_driver();
  s.Limit(1, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  StartAndEnd(s, job, kT0 + 1s);
  const RunKey waits = s.Queued(job, kT0 + 2s);
  EXPECT_EQ(s.Admit(kT0 + 10'500ms), std::vector<RunKey>{waits});
  const RunRow admitted = s.Get(waits).row;
  EXPECT_EQ(admitted.due, kT0 + 11s - kGroupLead);
  ClaimReply reply = s.Offer(job, waits, admitted.due - 1us);
  EXPECT_EQ(reply.reason, ClaimReason::kNotDue);
  EXPECT_EQ(reply.not_before, std::nullopt);
  for (const WallTime now : {admitted.due, kT0 + 11s - 1us}) {
    reply = s.Offer(job, waits, now);
    EXPECT_EQ(reply.verdict, ClaimVerdict::kRefused);
    EXPECT_EQ(reply.reason, ClaimReason::kNotDue);
    EXPECT_EQ(reply.not_before, kT0 + 11s);
    EXPECT_EQ(s.Get(waits).row, admitted);
  }
  s.ExpectOffer(job, waits, kT0 + 11s, ClaimVerdict::kAccepted);
  s.End(waits, RunState::kCompleted, kT0 + 11s);
  const RunKey next = s.Queued(job, kT0 + 11s);
  EXPECT_EQ(s.Admit(kT0 + 19s), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(kT0 + 20s), std::vector<RunKey>{next});
}

// While somebody waits, the claims of a group follow one another at its time exactly.
TYPED_TEST(GroupTimeContract, SlotsAreReservedAheadAndClaimedToTheMicrosecond) {
  GroupDriver s = this->group_driver();
  s.Limit(1, 1s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  StartAndEnd(s, job, kT0);
  std::vector<RunKey> keys;
  for (int i = 0; i < 3; ++i) keys.push_back(s.Queued(job, kT0 + 1ms));
  for (int i = 0; i < 3; ++i) {
    const WallTime cool = kT0 + (i + 1) * 1s;
    EXPECT_EQ(s.Admit(cool - 990ms), std::vector<RunKey>{keys[i]});
    EXPECT_EQ(s.Offer(job, keys[i], cool - 20ms).not_before, cool);
    s.ExpectOffer(job, keys[i], cool, ClaimVerdict::kAccepted);
    s.End(keys[i], RunState::kCompleted, cool + 5ms);
  }
}

TYPED_TEST(GroupTimeContract, ARunThatGetsItsSlotAheadTakesNoOther) {
  GroupDriver s = this->group_driver();
  s.Limit(2, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  StartAndEnd(s, job, kT0 + 1s);
  StartAndEnd(s, job, kT0 + 8s);
  const RunKey waits = s.Queued(job, kT0 + 9s);
  EXPECT_EQ(s.Admit(kT0 + 10'500ms), std::vector<RunKey>{waits});
  s.Queued(job, kT0 + 11s);
  EXPECT_EQ(s.Admit(kT0 + 11s), std::vector<RunKey>{});
  s.ExpectOffer(job, waits, kT0 + 11s, ClaimVerdict::kAccepted);
}

TYPED_TEST(GroupTimeContract, ALoweredLimitHoldsForASlotThatIsReservedAhead) {
  GroupDriver s = this->group_driver();
  s.Limit(2, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  StartAndEnd(s, job, kT0 + 1s);
  StartAndEnd(s, job, kT0 + 1500ms);
  const RunKey first = s.Queued(job, kT0 + 2s);
  EXPECT_EQ(s.Admit(kT0 + 10'200ms), std::vector<RunKey>{first});
  s.Limit(1, kT0 + 10'300ms);
  s.ExpectOffer(job, first, kT0 + 11s, ClaimVerdict::kEnqueued);
  // The slot above the limit cools: nothing is reserved before.
  EXPECT_EQ(s.Admit(kT0 + 11'500ms - 1us), std::vector<RunKey>{});
  EXPECT_EQ(s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 10, kT0 + 11'100ms)).next_cool,
            kT0 + 11'500ms);
  EXPECT_EQ(s.Admit(kT0 + 11'500ms), std::vector<RunKey>{first});
  s.ExpectOffer(job, first, kT0 + 11'500ms, ClaimVerdict::kAccepted);
}

TYPED_TEST(GroupTimeContract, TheNextStartIsShownAlsoAfterALoweredLimit) {
  GroupDriver s = this->group_driver();
  s.Limit(3, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  for (const Duration at : {1s, 3s, 5s}) StartAndEnd(s, job, kT0 + at);
  EXPECT_EQ(s.Detail(kT0 + 6s).group.next_cool, kT0 + 11s);
  s.Limit(2, kT0 + 6s);
  EXPECT_EQ(s.Detail(kT0 + 6s).group.cooling, 3);
  EXPECT_EQ(s.Detail(kT0 + 6s).group.next_cool, kT0 + 13s);
  s.Limit(1, kT0 + 6s);
  EXPECT_EQ(s.Detail(kT0 + 6s).group.next_cool, kT0 + 15s);
  s.Limit(0, kT0 + 6s);
  EXPECT_EQ(s.Detail(kT0 + 6s).group.next_cool, std::nullopt);
  EXPECT_EQ(s.v(s.groups.ListGroups(kT0 + 6s)).front().cooling, 3);
  s.Limit(3, kT0 + 11s);
  const RunKey active = s.Started(job, kT0 + 11s);
  s.Limit(1, kT0 + 11s);
  EXPECT_EQ(s.Detail(kT0 + 11s).group.next_cool, std::nullopt);  // the run must end first
  s.End(active, RunState::kCompleted, kT0 + 11s);
  EXPECT_EQ(s.Detail(kT0 + 11s).group.next_cool, kT0 + 21s);
}

TYPED_TEST(GroupTimeContract, ASlotIsFreeWhenItsTimeIsOverAndItsRunHasEnded) {
  GroupDriver s = this->group_driver();
  s.Limit(1, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  const RunKey active = s.Started(job, kT0 + 1s);
  const RunKey waits = s.Queued(job, kT0 + 2s);
  EXPECT_EQ(s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 10, kT0 + 2s)).next_cool, kT0 + 11s);
  EXPECT_EQ(s.Detail(kT0 + 2s).group.cooling, 0);
  EXPECT_EQ(s.Admit(kT0 + 12s), std::vector<RunKey>{});
  s.End(active, RunState::kCompleted, kT0 + 13s);
  EXPECT_EQ(s.Admit(kT0 + 13s), std::vector<RunKey>{waits});
}

TYPED_TEST(GroupTimeContract, ClaimsOfOneBatchCount) {
  GroupDriver s = this->group_driver();
  s.Limit(2, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  std::vector<RunKey> keys;
  std::vector<ClaimRequest> requests;
  for (int i = 0; i < 3; ++i) {
    keys.push_back(s.Due(job));
    requests.push_back(s.RequestFor(job, keys.back()));
  }
  const auto replies = s.v(s.firing.Claim(requests, s.fence, kT0 + 1s));
  EXPECT_EQ(replies[0].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(replies[1].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(replies[2].verdict, ClaimVerdict::kEnqueued);
  s.End(keys[0], RunState::kCompleted, kT0 + 2s);
  s.End(keys[1], RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(s.Admit(kT0 + 2s), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(kT0 + 10s), std::vector<RunKey>{keys[2]});
}

TYPED_TEST(GroupTimeContract, AnEditHoldsForEverySlotAtOnce) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  const StoredJob job = s.Create("a", s.Grouped());
  StartAndEnd(s, job, kT0 + 1s);
  s.Limit(1, 60s, kT0 + 2s);
  const RunKey waits = s.Queued(job, kT0 + 3s);
  EXPECT_EQ(s.Admit(kT0 + 59s), std::vector<RunKey>{});
  // A change of the limit alone leaves the time as it is.
  s.Limit(1, kT0 + 59s);
  EXPECT_EQ(s.Detail(kT0 + 59s).group.per, 60s);
  EXPECT_EQ(s.Admit(kT0 + 59s), std::vector<RunKey>{});
  s.Limit(1, 5s, kT0 + 60s);
  EXPECT_EQ(s.Admit(kT0 + 60s), std::vector<RunKey>{waits});
  s.ExpectOffer(job, waits, kT0 + 60s, ClaimVerdict::kAccepted);
  s.End(waits, RunState::kCompleted, kT0 + 60s);
  const RunKey next = s.Queued(job, kT0 + 61s);
  s.Limit(1, 0s, kT0 + 61s);
  EXPECT_EQ(s.Detail(kT0 + 61s).group.next_cool, std::nullopt);
  EXPECT_EQ(s.Admit(kT0 + 61s), std::vector<RunKey>{next});
}

TYPED_TEST(GroupTimeContract, ARaisedTimeHoldsForASlotThatIsReserved) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  const StoredJob job = s.Create("a", s.Grouped());
  const RunKey active = s.Started(job, kT0 + 1s);
  const RunKey admitted = s.Queued(job, kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(s.Admit(kT0 + 2s), std::vector<RunKey>{admitted});
  s.Limit(1, 60s, kT0 + 3s);
  s.ExpectOffer(job, admitted, kT0 + 4s, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.Admit(kT0 + 59s), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(kT0 + 60s), std::vector<RunKey>{admitted});
  s.ExpectOffer(job, admitted, kT0 + 61s, ClaimVerdict::kAccepted);
}

TYPED_TEST(GroupTimeContract, SlotsAboveALoweredLimitCountWhileTheyCool) {
  GroupDriver s = this->group_driver();
  s.Limit(3, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  for (const Duration at : {1s, 5s, 9s}) StartAndEnd(s, job, kT0 + at);
  s.Limit(2, kT0 + 10s);
  const RunKey first = s.Queued(job, kT0 + 11s);
  const RunKey second = s.Queued(job, kT0 + 11s);
  EXPECT_EQ(s.Admit(kT0 + 14s), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(kT0 + 15s), std::vector<RunKey>{first});
  s.ExpectOffer(job, first, kT0 + 15s, ClaimVerdict::kAccepted);
  EXPECT_EQ(s.Admit(kT0 + 19s - 1us), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(kT0 + 19s), std::vector<RunKey>{second});
  // A slot that was above the limit has kept its time.
  s.ExpectOffer(job, second, kT0 + 19s, ClaimVerdict::kAccepted);
  s.End(first, RunState::kCompleted, kT0 + 19s);
  s.End(second, RunState::kCompleted, kT0 + 19s);
  s.Limit(3, kT0 + 20s);
  s.Started(job, kT0 + 20s);
  s.Queued(job, kT0 + 20s);
}

TYPED_TEST(GroupTimeContract, AReservedSlotIsNotTakenWhileTooManyCool) {
  GroupDriver s = this->group_driver();
  s.Limit(2, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  const RunKey first = s.Started(job, kT0 + 1s);
  const RunKey second = s.Started(job, kT0 + 5s);
  const RunKey admitted = s.Queued(job, kT0 + 6s);
  s.End(first, RunState::kCompleted, kT0 + 7s);
  s.End(second, RunState::kCompleted, kT0 + 7s);
  EXPECT_EQ(s.Admit(kT0 + 10s), std::vector<RunKey>{admitted});
  s.Limit(1, kT0 + 12s);
  s.ExpectOffer(job, admitted, kT0 + 12s, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.Admit(kT0 + 13s), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(kT0 + 15s), std::vector<RunKey>{admitted});
}

TYPED_TEST(GroupTimeContract, ASlotThatWasGivenLongAfterNowMayBeGivenAgain) {
  GroupDriver s = this->group_driver();
  s.Limit(1, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  StartAndEnd(s, job, kT0 + 1h);
  // The clock of the database was set back, first by little.
  const RunKey waits = s.Queued(job, kT0 + 1h - 30s);
  EXPECT_EQ(s.Admit(kT0 + 1h - 60s), std::vector<RunKey>{});
  EXPECT_EQ(s.Detail(kT0 + 1h - 61s).group.cooling, 0);
  EXPECT_EQ(s.Admit(kT0 + 1h - 61s), std::vector<RunKey>{waits});
  s.ExpectOffer(job, waits, kT0 + 1h - 61s, ClaimVerdict::kAccepted);
  s.End(waits, RunState::kCompleted, kT0 + 1h - 60s);
  s.Queued(job, kT0 + 1h - 60s);
}

TYPED_TEST(GroupTimeContract, AReservedSlotThatNobodyClaimsIsNotCharged) {
  GroupDriver s = this->group_driver();
  s.Limit(1, 100s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  StartAndEnd(s, job, kT0 + 1s);
  const RunKey stuck = s.Queued(job, kT0 + 2s);
  const RunKey next = s.Queued(job, kT0 + 2s);
  EXPECT_EQ(s.Admit(kT0 + 101s), std::vector<RunKey>{stuck});
  EXPECT_EQ(s.Reclaim(kT0 + 131s), 1u);
  EXPECT_EQ(s.Admit(kT0 + 131s), std::vector<RunKey>{next});
  s.ExpectOffer(job, next, kT0 + 131s, ClaimVerdict::kAccepted);
}

TYPED_TEST(GroupTimeContract, ARetryIsAStartLikeAnyOther) {
  GroupDriver s = this->group_driver();
  s.Limit(1, 2h, kT0);
  JobDefinition definition = s.Grouped();
  definition.retry_count = 1;
  const StoredJob job = s.Create("a", definition);
  const RunKey tried = s.Started(job, kT0 + 1s);
  s.End(tried, RunState::kFailed, kT0 + 2s);
  s.ExpectOffer(job, tried, kT0 + 1h, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.Admit(kT0 + 2h - 1us), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(kT0 + 2h), std::vector<RunKey>{tried});
}

// The report of an attempt whose process started at `started`, by the clock of its host.
inline ResultReport StartedAt(WallTime started, ResultReport report) {
  report.result.started = started;
  return report;
}

TYPED_TEST(GroupTimeContract, ASlotCoolsFromTheStartOfItsProcess) {
  GroupDriver s = this->group_driver();
  s.Limit(1, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  const RunRow row = s.Get(s.Started(job, kT0 + 1s)).row;
  const RunKey waits = s.Queued(job, kT0 + 1100ms);
  const ResultReport report = StartedAt(kT0 + 1300ms, s.ReportOf(row, RunState::kCompleted));
  EXPECT_TRUE(s.Apply(report, s.fence, kT0 + 1400ms).freed_slot);
  const WallTime cool = kT0 + 11'300ms;
  EXPECT_EQ(s.Detail(kT0 + 2s).group.next_cool, cool);
  EXPECT_EQ(s.v(s.groups.ListGroups(kT0 + 2s)).front().next_cool, cool);
  EXPECT_EQ(s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 10, kT0 + 2s)).next_cool, cool);
  EXPECT_EQ(s.Admit(cool - kGroupAhead - 1us), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(cool - kGroupAhead), std::vector<RunKey>{waits});
  EXPECT_EQ(s.Get(waits).row.due, cool - kGroupLead);
  EXPECT_EQ(s.Offer(job, waits, cool - 1us).not_before, cool);
  s.ExpectOffer(job, waits, cool, ClaimVerdict::kAccepted);
  EXPECT_EQ(s.Apply(report, s.fence, kT0 + 20s).freed_slot, false);
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{waits});
}

TYPED_TEST(GroupTimeContract, AStartCountsNeitherBeforeItsClaimNorAfterItsEnd) {
  GroupDriver s = this->group_driver();
  s.Limit(1, 10s, kT0);
  const StoredJob job = s.Create("a", s.Grouped());
  WallTime now = kT0;
  struct Case {
    WallTime started;
    Duration counts;  // after the claim
  };
  for (const Case& one : {Case{kT0 + 48h, 400ms}, Case{kT0 - 1h, 0ms}, Case{WallTime{}, 0ms}}) {
    now += 1min;
    const RunRow row = s.Get(s.Started(job, now)).row;
    s.Apply(StartedAt(one.started, s.ReportOf(row, RunState::kCompleted)), s.fence, now + 400ms);
    EXPECT_EQ(s.Detail(now + 1s).group.next_cool, now + one.counts + 10s);
  }
}

TYPED_TEST(GroupTimeContract, ARetryWaitsFromTheStartOfTheAttemptBefore) {
  GroupDriver s = this->group_driver();
  s.Limit(1, 2h, kT0);
  JobDefinition definition = s.Grouped();
  definition.retry_count = 1;
  const StoredJob job = s.Create("a", definition);
  const RunKey tried = s.Started(job, kT0 + 1s);
  s.Apply(StartedAt(kT0 + 3s, s.ReportOf(s.Get(tried).row, RunState::kFailed)), s.fence, kT0 + 4s);
  s.ExpectOffer(job, tried, kT0 + 1h, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.Admit(kT0 + 2h + 2s - 1us), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(kT0 + 2h + 2s), std::vector<RunKey>{tried});
}

TYPED_TEST(GroupTimeContract, TheSlotOfALostAttemptCoolsFromItsClaim) {
  GroupDriver s = this->group_driver();
  s.Limit(1, 1min, kT0);
  for (const OnLost on_lost : {OnLost::kRetry, OnLost::kHold}) {
    JobDefinition definition = s.Grouped();
    definition.on_lost = on_lost;
    const bool held = on_lost == OnLost::kHold;
    const StoredJob job = s.Create(held ? "held" : "lost", definition);
    const WallTime claimed = held ? kT0 + 1h : kT0 + 1s;
    const RunRow row = s.Get(s.Started(job, claimed)).row;
    s.Lose(row, s.fence, claimed + 30s);
    EXPECT_EQ(s.Detail(claimed + 31s).group.running, held ? 1 : 0);
    // A HELD run has its slot until its host tells the end.
    s.Apply(StartedAt(claimed + 20s, s.ReportOf(row, RunState::kCompleted)), s.fence,
            claimed + 32s);
    EXPECT_EQ(s.Detail(claimed + 33s).group.next_cool, claimed + (held ? 80s : 60s));
  }
}

// It is another slot than that of the attempt whose success is told so late.
TYPED_TEST(GroupTimeContract, ALateSuccessLeavesTheReservedSlotOfItsRetryAsItIs) {
  GroupDriver s = this->group_driver();
  s.Limit(2, 2h, kT0);
  JobDefinition definition = s.Grouped();
  definition.retry_count = 1;
  const StoredJob job = s.Create("a", definition);
  const RunRow row = s.Get(s.Started(job, kT0 + 1s)).row;
  s.Lose(row, s.fence, kT0 + 30s);
  s.Limit(0, kT0 + 31s);
  s.ExpectOffer(job, row.key, kT0 + 1h, ClaimVerdict::kEnqueued);
  s.Limit(2, kT0 + 1h);
  EXPECT_EQ(s.Admit(kT0 + 1h), std::vector<RunKey>{row.key});
  const ResultReport late = StartedAt(kT0 + 20s, s.ReportOf(row, RunState::kCompleted));
  EXPECT_EQ(s.Apply(late, s.fence, kT0 + 1h + 1s).state, RunState::kCompleted);
  EXPECT_EQ(s.Detail(kT0 + 1h + 2s).group.running, 0);
  EXPECT_EQ(s.Detail(kT0 + 1h + 2s).group.cooling, 1);
}

TYPED_TEST(GroupTimeContract, AGroupWithoutATimeNeverWakesAnybody) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  const StoredJob job = s.Create("a", s.Grouped());
  const RunKey active = s.Started(job, kT0 + 1s);
  const RunKey waits = s.Due(job);
  const ClaimReply reply = s.Offer(job, waits, kT0 + 1s);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kEnqueued);
  EXPECT_FALSE(reply.in_timed_group);
  EXPECT_EQ(s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 10, kT0 + 1s)).next_cool, std::nullopt);
  s.End(active, RunState::kCompleted, kT0 + 1s);
  EXPECT_EQ(s.Admit(kT0 + 1s), std::vector<RunKey>{waits});
}

}  // namespace carillon::test
