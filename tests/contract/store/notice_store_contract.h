// The contract of NoticeStore: the notices that the firing path creates, and how deliveries follow
// from them.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

inline constexpr WallTime kLater = kT0 + 400 * 24h;  // later than everything in this file

template <typename Factory>
class NoticeStoreContract : public StoreContract<Factory> {
 protected:
  static constexpr size_t kMany = 100;

  static RunRow Fail(StoreDriver& s, const StoredJob& job, const Fence& fence, WallTime now,
                     uint64_t token) {
    const RunRow row = s.Start(s.Execute(job, now), token, fence, now);
    s.Apply(s.ReportOf(row, RunState::kFailed, now + 1s), fence, now + 1s);
    return row;
  }
  static RunRow Succeed(StoreDriver& s, const StoredJob& job, const Fence& fence, WallTime now,
                        uint64_t token) {
    const RunRow row = s.Start(s.Execute(job, now), token, fence, now);
    s.Apply(s.ReportOf(row, RunState::kCompleted, now + 1s), fence, now + 1s);
    return row;
  }
  static std::vector<OpenNotice> Open(StoreDriver& s) {
    return s.v(s.notices.ScanNotices(s.All(), kMany));
  }
  static OpenNotice OnlyOpen(StoreDriver& s) {
    const std::vector<OpenNotice> open = Open(s);
    EXPECT_EQ(open.size(), 1u);
    return open.empty() ? OpenNotice{} : open.front();
  }
  static NoticeDecision Told(const OpenNotice& open) {
    return {.notice = open.notice,
            .verdict = NoticeVerdict::kTell,
            .deliveries = {{.channel = DeliveryChannel::kWebhook, .message = "{\"a\": 1}"},
                           {.channel = DeliveryChannel::kMail,
                            .recipients = {"a@b.example", "c@d.example"},
                            .message = "Subject: ü\r\n\r\nx"}}};
  }
  static std::vector<Delivery> Due(StoreDriver& s, WallTime now) {
    return s.v(s.notices.ScanDeliveries(
        s.All(), {DeliveryChannel::kWebhook, DeliveryChannel::kMail}, now, kMany));
  }
  static JobDefinition Retried() {
    JobDefinition job = StoreDriver::Manual();
    job.retry_count = 1;
    job.retry_interval_s = 0;
    return job;
  }
};
TYPED_TEST_SUITE(NoticeStoreContract, StoreFactories);

TYPED_TEST(NoticeStoreContract, TheLastFailureLeavesOneNoticeWithItsRun) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = this->Retried();
  definition.notify.late_after_s = 7;
  const StoredJob job = s.Create("j", definition);
  const RunRow first = this->Fail(s, job, fence, kT0, 1);
  EXPECT_TRUE(this->Open(s).empty()) << "a try is left";
  const RunRow second = s.Start(s.Get(first.key).row, 2, fence, kT0 + 2s);
  const ResultReport report = s.ReportOf(second, RunState::kFailed, kT0 + 3s);
  s.Apply(report, fence, kT0 + 3s);
  s.Apply(report, fence, kT0 + 4s);
  const OpenNotice open = this->OnlyOpen(s);
  EXPECT_EQ(open.notice.kind, NoticeKind::kFailed);
  EXPECT_EQ(open.notice.key, first.key);
  EXPECT_EQ(open.notice.segment, first.segment);
  EXPECT_EQ(open.notice.attempt, 2);
  EXPECT_EQ(open.notice.state, RunState::kFailed);
  EXPECT_EQ(open.notice.reason, reason::kExitCode);
  EXPECT_EQ(open.notice.created, kT0 + 3s);
  EXPECT_EQ(open.job_id, job.job_id);
  EXPECT_EQ(open.rules.late_after_s, 7);
  EXPECT_EQ(open.memory.told, WallTime{});
  const auto run = s.v(s.notices.FindRun(open.notice));
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->result.exit_code, 3);
  EXPECT_EQ(run->attempts.size(), 1u);
  Notice gone = open.notice;
  gone.key.fire += 1us;
  EXPECT_FALSE(s.v(s.notices.FindRun(gone)).has_value());
}

TYPED_TEST(NoticeStoreContract, ALossForGoodIsAFailure) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.on_lost = OnLost::kFail;
  const StoredJob job = s.Create("j", definition);
  const RunRow row = s.Start(s.Execute(job, kT0), 1, fence, kT0);
  s.Lose(row, fence, kT0 + 30s);
  const OpenNotice open = this->OnlyOpen(s);
  EXPECT_EQ(open.notice.kind, NoticeKind::kFailed);
  EXPECT_EQ(open.notice.reason, reason::kExecutorLost);
}

TYPED_TEST(NoticeStoreContract, ASuccessAndACancelLeaveNone) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  this->Succeed(s, job, fence, kT0, 1);
  const RunRow row = s.Execute(job, kT0 + 5s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(row.key, {.now = kT0 + 6s})));
  EXPECT_TRUE(this->Open(s).empty());
}

TYPED_TEST(NoticeStoreContract, ARunThatFailsAgainAfterARetryByHandIsAnotherNotice) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  const RunRow row = this->Fail(s, job, fence, kT0, 1);
  s.v(s.runs.RetryRun({.key = row.key}, {.now = kT0 + 2s}));
  const RunRow again = s.Start(s.Get(row.key).row, 2, fence, kT0 + 3s);
  s.Apply(s.ReportOf(again, RunState::kTimedOut, kT0 + 4s), fence, kT0 + 4s);
  const auto open = this->Open(s);
  ASSERT_EQ(open.size(), 2u);
  EXPECT_EQ(open[0].notice.attempt, 1);
  EXPECT_EQ(open[1].notice.attempt, 2);
  EXPECT_EQ(open[1].notice.state, RunState::kTimedOut);
}

TYPED_TEST(NoticeStoreContract, ASkipAfterATryIsANoticeOfItsOwnWithTheTriesOfItsDeadLetter) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  const RunRow row = this->Fail(s, job, fence, kT0, 1);
  s.v(s.runs.RetryRun({.key = row.key}, {.now = kT0 + 2s}));
  const RunRow waiting = s.Get(row.key).row;
  ASSERT_EQ(s.v(s.firing.Skip({{waiting.key, waiting.segment, waiting.job_no, waiting.attempt,
                                waiting.def_version, reason::kQueueTimeout}},
                              fence, kT0 + 1h))
                .size(),
            1u);
  const auto open = this->Open(s);
  ASSERT_EQ(open.size(), 2u) << "that it failed was told before";
  EXPECT_EQ(open[1].notice.state, RunState::kSkipped);
  const std::vector<DeadLetter> letters = s.v(s.runs.ListDeadLetters({.limit = 10}));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(TriesOf(open[1].notice), letters[0].attempts);
  EXPECT_EQ(letters[0].attempts, 1);
}

TYPED_TEST(NoticeStoreContract, FencedWritesLeaveNone) {
  StoreDriver s = this->driver();
  const Fence old = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  const RunRow row = s.Start(s.Execute(job, kT0), 1, old, kT0);
  const Fence fence = s.Take(2);
  EXPECT_CODE(s.firing.ApplyResults({s.ReportOf(row, RunState::kFailed)}, old, kT0 + 1s),
              ErrorCode::kFenced);
  EXPECT_TRUE(this->Open(s).empty());
  s.Apply(s.ReportOf(row, RunState::kFailed), fence, kT0 + 2s);
  const OpenNotice open = this->OnlyOpen(s);
  EXPECT_CODE(s.notices.DecideNotices({this->Told(open)}, old, kT0 + 3s), ErrorCode::kFenced);
  EXPECT_TRUE(this->Due(s, kT0 + 9s).empty());
  this->OnlyOpen(s);
}

TYPED_TEST(NoticeStoreContract, AStartLaterThanAllowedLeavesANotice) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  ClaimRequest in_time = s.ClaimOf(s.Execute(job, kT0), 1);
  in_time.late_after = 10s;
  s.Claim(in_time, fence, kT0 + 10s);
  EXPECT_TRUE(this->Open(s).empty());
  ClaimRequest late = s.ClaimOf(s.Execute(job, kT0 + 20s), 2);
  late.late_after = 10s;
  s.Claim(late, fence, kT0 + 30s + 1us);
  s.Claim(late, fence, kT0 + 31s);  // the same claim again, as after a lost answer
  const OpenNotice open = this->OnlyOpen(s);
  EXPECT_EQ(open.notice.kind, NoticeKind::kLate);
  EXPECT_EQ(open.notice.key, late.key);
}

TYPED_TEST(NoticeStoreContract, AStartIsLateFromItsDueTimeAndNotFromItsFire) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Every(2h);
  definition.schedules[0].jitter = 1h;
  s.Create("j", definition);
  s.Plan(kT0 + 4h, fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 2u);
  std::vector<ClaimRequest> requests = {s.ClaimOf(rows[0], 1), s.ClaimOf(rows[1], 2)};
  for (ClaimRequest& request : requests) request.late_after = 10s;
  EXPECT_EQ(s.Claim(requests[0], fence, rows[0].due + 10s).verdict, ClaimVerdict::kAccepted);
  EXPECT_TRUE(this->Open(s).empty());
  EXPECT_EQ(s.Claim(requests[1], fence, rows[1].due + 11s).verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(this->OnlyOpen(s).notice.key, rows[1].key);
}

TYPED_TEST(NoticeStoreContract, FiresThatWerePassedOverLeaveOneForEachGap) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Every(60s);
  definition.misfire_policy = MisfirePolicy::kSkip;
  const StoredJob job = s.Create("j", definition);
  s.Plan(kT0 + 600s, fence, kT0 + 600s);
  const auto gaps = s.Gaps(job);
  ASSERT_EQ(gaps.size(), 1u);
  const OpenNotice open = this->OnlyOpen(s);
  EXPECT_EQ(open.notice.kind, NoticeKind::kMissed);
  EXPECT_EQ(open.notice.key.fire, gaps[0].range.from);
  EXPECT_EQ(open.notice.until, gaps[0].range.to);
  EXPECT_EQ(open.notice.fires, gaps[0].range.count);
  EXPECT_FALSE(s.v(s.notices.FindRun(open.notice)).has_value());
}

TYPED_TEST(NoticeStoreContract, WhatIsToldBecomesDeliveriesAndIsRemembered) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  const RunRow row = this->Fail(s, job, fence, kT0, 1);
  const OpenNotice open = this->OnlyOpen(s);
  ASSERT_OK(s.notices.DecideNotices({this->Told(open)}, fence, kT0 + 5s));
  EXPECT_TRUE(this->Open(s).empty());
  EXPECT_CODE(s.notices.DecideNotices({this->Told(open)}, fence, kT0 + 6s), ErrorCode::kConflict);
  EXPECT_TRUE(this->Due(s, kT0 + 4s).empty());
  const auto due = this->Due(s, kT0 + 5s);
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].channel, DeliveryChannel::kWebhook);
  EXPECT_EQ(due[0].message, "{\"a\": 1}");
  EXPECT_EQ(due[0].notice_id, open.notice.id);
  EXPECT_EQ(due[0].key, row.key);
  EXPECT_EQ(due[0].job_id, job.job_id);
  EXPECT_EQ(due[1].channel, DeliveryChannel::kMail);
  EXPECT_EQ(due[1].message, "Subject: ü\r\n\r\nx");
  EXPECT_EQ(due[1].recipients, (std::vector<std::string>{"a@b.example", "c@d.example"}));
  const DeliveryBacklog backlog = s.v(s.notices.ReadBacklog(s.All()));
  EXPECT_EQ(backlog.pending, 2);
  EXPECT_EQ(backlog.oldest, kT0 + 5s);
  this->Fail(s, job, fence, kT0 + 60s, 2);
  EXPECT_EQ(this->OnlyOpen(s).memory.told, kT0 + 5s);
}

TYPED_TEST(NoticeStoreContract, WhatIsHeldBackIsCountedUntilTheNextIsTold) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  const auto decide = [&](NoticeVerdict verdict, WallTime now) {
    NoticeDecision decision{.notice = this->OnlyOpen(s).notice, .verdict = verdict};
    ASSERT_OK(s.notices.DecideNotices({decision}, fence, now));
  };
  this->Fail(s, job, fence, kT0, 1);
  decide(NoticeVerdict::kTell, kT0 + 2s);
  this->Fail(s, job, fence, kT0 + 10s, 2);
  decide(NoticeVerdict::kHoldBack, kT0 + 12s);
  this->Fail(s, job, fence, kT0 + 20s, 3);
  EXPECT_EQ(this->OnlyOpen(s).memory.held_back, 1);
  EXPECT_EQ(this->OnlyOpen(s).memory.told, kT0 + 2s);
  decide(NoticeVerdict::kTell, kT0 + 22s);
  this->Fail(s, job, fence, kT0 + 30s, 4);
  EXPECT_EQ(this->OnlyOpen(s).memory.held_back, 0);
  decide(NoticeVerdict::kDrop, kT0 + 32s);
  EXPECT_TRUE(this->Open(s).empty());
}

TYPED_TEST(NoticeStoreContract, TheFirstSuccessAfterAToldFailureIsFoundOnce) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  const StoredJob other = s.Create("o", s.Manual());
  const auto find = [&] {
    return s.v(s.notices.ScanRecoveries(s.All(), std::nullopt, kLater, 10));
  };
  this->Succeed(s, job, fence, kT0, 1);
  this->Fail(s, job, fence, kT0 + 10s, 2);
  this->Fail(s, other, fence, kT0 + 10s, 3);
  this->Succeed(s, other, fence, kT0 + 20s, 4);
  EXPECT_TRUE(find().recoveries.empty()) << "nothing was told";
  const auto open = this->Open(s);
  ASSERT_EQ(open.size(), 2u);
  ASSERT_OK(s.notices.DecideNotices(
      {this->Told(open[0]), {.notice = open[1].notice, .verdict = NoticeVerdict::kDrop}}, fence,
      kT0 + 30s));
  EXPECT_TRUE(find().recoveries.empty());
  const RunRow good = this->Succeed(s, job, fence, kT0 + 40s, 5);
  this->Succeed(s, job, fence, kT0 + 50s, 6);
  const RecoveryPage page = find();
  ASSERT_EQ(page.recoveries.size(), 1u);
  EXPECT_EQ(page.recoveries[0].key, good.key);
  EXPECT_EQ(page.recoveries[0].job_no, job.job_no);
  EXPECT_FALSE(page.next.has_value());
  ASSERT_OK(s.notices.AddNotices({{.kind = NoticeKind::kRecovered,
                                   .segment = page.recoveries[0].segment,
                                   .job_no = job.job_no,
                                   .key = good.key,
                                   .state = RunState::kCompleted,
                                   .created = kT0 + 60s}},
                                 fence));
  EXPECT_TRUE(find().recoveries.empty());
  EXPECT_EQ(this->OnlyOpen(s).notice.kind, NoticeKind::kRecovered);
}

TYPED_TEST(NoticeStoreContract, WhoRecoveredIsRememberedAsSuchUntilTheNextFailureIsTold) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  const auto fail_and_decide = [&](NoticeVerdict verdict, WallTime now, uint64_t token) {
    this->Fail(s, job, fence, now, token);
    const OpenNotice open = this->OnlyOpen(s);
    EXPECT_OK(
        s.notices.DecideNotices({{.notice = open.notice, .verdict = verdict}}, fence, now + 2s));
    return open.memory;
  };
  fail_and_decide(NoticeVerdict::kTell, kT0, 1);
  EXPECT_FALSE(fail_and_decide(NoticeVerdict::kHoldBack, kT0 + 10s, 2).recovered);
  this->Succeed(s, job, fence, kT0 + 20s, 3);
  const RecoveryPage page = s.v(s.notices.ScanRecoveries(s.All(), std::nullopt, kLater, 10));
  ASSERT_EQ(page.recoveries.size(), 1u);
  ASSERT_OK(s.notices.AddNotices({{.kind = NoticeKind::kRecovered,
                                   .segment = page.recoveries[0].segment,
                                   .job_no = job.job_no,
                                   .key = page.recoveries[0].key,
                                   .state = RunState::kCompleted,
                                   .created = kT0 + 30s}},
                                 fence));
  const OpenNotice recovery = this->OnlyOpen(s);
  EXPECT_FALSE(recovery.memory.recovered) << "it is of failures";
  ASSERT_OK(s.notices.DecideNotices({this->Told(recovery)}, fence, kT0 + 31s));
  const NoticeMemory after = fail_and_decide(NoticeVerdict::kHoldBack, kT0 + 40s, 4);
  EXPECT_TRUE(after.recovered);
  EXPECT_EQ(after.told, kT0 + 2s);
  EXPECT_EQ(after.held_back, 0);
  const NoticeMemory still = fail_and_decide(NoticeVerdict::kTell, kT0 + 70s, 5);
  EXPECT_TRUE(still.recovered) << "what is held back tells nobody";
  EXPECT_EQ(still.held_back, 1);
  EXPECT_FALSE(fail_and_decide(NoticeVerdict::kDrop, kT0 + 80s, 6).recovered);
}

TYPED_TEST(NoticeStoreContract, ManyAreDecidedAtOnceAsOneAfterTheOther) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Manual());
  for (uint64_t i = 0; i < 4; ++i) {
    this->Fail(s, a, fence, kT0 + Duration(10s) * i, 2 * i + 1);
    this->Fail(s, b, fence, kT0 + Duration(10s) * i, 2 * i + 2);
  }
  std::map<std::string, int> seen;
  std::vector<NoticeDecision> decisions;
  for (const OpenNotice& open : this->Open(s)) {
    const int nth = seen[open.job_id.value()]++;
    // a: sent, held back twice, dropped; b: dropped, held back, sent, held back
    const bool is_a = open.job_id == a.job_id;
    const auto verdict = nth == (is_a ? 0 : 2)   ? NoticeVerdict::kTell
                         : nth == (is_a ? 3 : 0) ? NoticeVerdict::kDrop
                                                 : NoticeVerdict::kHoldBack;
    NoticeDecision decision = this->Told(open);
    decision.verdict = verdict;
    if (verdict != NoticeVerdict::kTell) decision.deliveries.clear();
    decisions.push_back(decision);
  }
  ASSERT_EQ(decisions.size(), 8u);
  auto twice = decisions;
  ASSERT_OK(s.notices.DecideNotices(decisions, fence, kT0 + 100s));
  EXPECT_TRUE(this->Open(s).empty());
  EXPECT_CODE(s.notices.DecideNotices(twice, fence, kT0 + 101s), ErrorCode::kConflict);
  std::set<std::string> told;
  for (const Delivery& delivery : s.v(s.notices.ListDeliveries({}))) {
    told.insert(delivery.job_id.value() + " " + FormatRfc3339(delivery.key.fire));
  }
  EXPECT_EQ(told,
            (std::set<std::string>{"a " + FormatRfc3339(kT0), "b " + FormatRfc3339(kT0 + 20s)}));
  this->Fail(s, a, fence, kT0 + 200s, 9);
  this->Fail(s, b, fence, kT0 + 200s, 10);
  for (const OpenNotice& open : this->Open(s)) {
    EXPECT_EQ(open.memory.told, kT0 + 100s) << open.job_id.value();
    EXPECT_EQ(open.memory.held_back, open.job_id == a.job_id ? 2 : 1) << open.job_id.value();
  }
  // A success that ended before the last failure that was held back does not count.
  this->Succeed(s, a, fence, kT0 + 15s, 11);
  EXPECT_TRUE(s.v(s.notices.ScanRecoveries(s.All(), std::nullopt, kLater, 10)).recoveries.empty());
  this->Succeed(s, a, fence, kT0 + 300s, 12);
  EXPECT_TRUE(
      s.v(s.notices.ScanRecoveries(s.All(), std::nullopt, kT0 + 299s, 10)).recoveries.empty());
  EXPECT_EQ(s.v(s.notices.ScanRecoveries(s.All(), std::nullopt, kLater, 10)).recoveries.size(), 1u);
}

TYPED_TEST(NoticeStoreContract, TheFailedRunItselfMaySucceedInTheEnd) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  const RunRow row = this->Fail(s, job, fence, kT0, 1);
  ASSERT_OK(s.notices.DecideNotices({this->Told(this->OnlyOpen(s))}, fence, kT0 + 2s));
  s.v(s.runs.RetryRun({.key = row.key}, {.now = kT0 + 3s}));
  const RunRow again = s.Start(s.Get(row.key).row, 2, fence, kT0 + 4s);
  s.Apply(s.ReportOf(again, RunState::kCompleted, kT0 + 5s), fence, kT0 + 5s);
  const RecoveryPage page = s.v(s.notices.ScanRecoveries(s.All(), std::nullopt, kLater, 10));
  ASSERT_EQ(page.recoveries.size(), 1u);
  EXPECT_EQ(page.recoveries[0].attempt, 2);
}

TYPED_TEST(NoticeStoreContract, RecoveriesAreLookedForInPages) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (uint64_t i = 0; i < 3; ++i) {
    const StoredJob job = s.Create("j" + std::to_string(i), s.Manual());
    this->Fail(s, job, fence, kT0, 2 * i + 1);
    ASSERT_OK(s.notices.DecideNotices({this->Told(this->OnlyOpen(s))}, fence, kT0 + 2s));
    this->Succeed(s, job, fence, kT0 + 3s, 2 * i + 2);
  }
  std::set<JobNo> found;
  std::optional<JobNo> after;
  for (int pages = 0; pages < 3; ++pages) {
    const RecoveryPage page = s.v(s.notices.ScanRecoveries(s.All(), after, kLater, 2));
    for (const Recovery& one : page.recoveries) found.insert(one.job_no);
    after = page.next;
    if (!after) break;
  }
  EXPECT_EQ(found.size(), 3u);
  EXPECT_FALSE(after.has_value());
}

TYPED_TEST(NoticeStoreContract, ASuccessIsWaitedForAYear) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("j", s.Manual());
  this->Fail(s, job, fence, kT0, 1);
  ASSERT_OK(s.notices.DecideNotices({this->Told(this->OnlyOpen(s))}, fence, kT0 + 2s));
  const auto found = [&] {
    return s.v(s.notices.ScanRecoveries(s.All(), std::nullopt, kLater, 10)).recoveries.size();
  };
  s.v(s.housekeeping.Maintain(kT0 + 48h, {.runs = 24h}));
  this->Succeed(s, job, fence, kT0 + 49h, 2);
  EXPECT_EQ(found(), 1u);
  s.v(s.housekeeping.Maintain(kT0 + 24h * 366, {.runs = 24h * 1000}));
  EXPECT_EQ(found(), 0u);
}

}  // namespace carillon::test
