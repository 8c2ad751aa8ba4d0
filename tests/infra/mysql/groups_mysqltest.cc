// Concurrency groups on MariaDB: who waits for whom, slots that nobody uses, bounds of the
// rows read.
#include <fmt/core.h>

#include <thread>

#include "tests/infra/mysql/store_reads.h"

namespace carillon::test {
namespace {

class GroupsTest : public StoreReadsTest {
 protected:
  void SetUp() override {
    StoreReadsTest::SetUp();
    StoreDriver s = driver();
    s.v(s.groups.PutGroup("db", {.limit = 2}, kT0));
    JobDefinition definition = s.Manual();
    definition.concurrency_group = "db";
    job_ = s.Create("a", definition);
  }
  ClaimRequest NewClaim() {
    StoreDriver s = driver();
    ClaimRequest request = s.ClaimOf(s.Execute(job_, kT0), ++token_);
    request.group = "db";
    return request;
  }
  ClaimVerdict Claim(const ClaimRequest& request) {
    StoreDriver s = driver();
    return s.Claim(request, fence_, kT0 + 1s).verdict;
  }

  SystemClock clock_;
  StoredJob job_;
  uint64_t token_ = 0;
};

// Another member stands still in the middle of a claim that has locked a slot.
TEST_F(GroupsTest, AClaimThatStandsStillCostsTheGroupOneSlotOnly) {
  const ClaimRequest first = NewClaim();
  const ClaimRequest second = NewClaim();
  ASSERT_OK(outside_->Begin());
  ASSERT_OK(outside_->Query(
      "SELECT g.slot_limit FROM concurrency_groups g WHERE g.name = 'db' LOCK IN SHARE MODE"));
  ASSERT_OK(
      outside_->Query("SELECT t.slot_no FROM group_slots t FORCE INDEX (free_slots) WHERE "
                      "t.fire_us = 0 LIMIT 1 FOR UPDATE SKIP LOCKED"));
  EXPECT_EQ(Claim(first), ClaimVerdict::kAccepted);
  EXPECT_EQ(Claim(second), ClaimVerdict::kEnqueued);
  ASSERT_OK(outside_->Rollback());
  StoreDriver s = driver();
  const auto groups = s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 10, kT0)).groups;
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(s.v(s.queues.AdmitGroup(groups[0], fence_, kT0 + 2s)).admitted.size(), 1u);
}

// The change gives up soon, so that later claims, which wait behind it, do not wait for long. The
// other member would stand still for longer than the limit of any lock wait.
TEST_F(GroupsTest, AChangeGivesUpSoonIfAClaimOfTheGroupStandsStill) {
  StoreDriver s = driver();
  ASSERT_OK(LetIdleInTransactions(*outside_));
  ASSERT_OK(outside_->Begin());
  ASSERT_OK(outside_->Query(
      "SELECT g.slot_limit FROM concurrency_groups g WHERE g.name = 'db' LOCK IN SHARE MODE"));
  const SteadyTime began = clock_.Steady();
  EXPECT_CODE(s.groups.PutGroup("db", {.limit = 1}, kT0), ErrorCode::kUnavailable);
  EXPECT_CODE(s.groups.DeleteGroup("db"), ErrorCode::kUnavailable);
  EXPECT_LT(clock_.Steady() - began, 5s);  // one wait of any other statement
  EXPECT_EQ(Claim(NewClaim()), ClaimVerdict::kAccepted);
  ASSERT_OK(outside_->Rollback());
  EXPECT_EQ(s.v(s.groups.PutGroup("db", {.limit = 1}, kT0)).limit, 1);
}

TEST_F(GroupsTest, AnEditWaitsForAGroupBeforeItLocksCalendars) {
  StoreDriver s = driver();
  s.v(s.calendars.PutCalendar("workdays", {.weekdays = 0b0111110}, kT0));
  JobDefinition edited = s.Every(1h);
  edited.concurrency_group = "db";
  edited.schedules[0].calendar = "workdays";
  const StoredJob job = s.Create("b", s.Every(1h));
  ASSERT_OK(LetIdleInTransactions(*outside_));
  ASSERT_OK(outside_->Begin());
  ASSERT_OK(
      outside_->Query("SELECT g.slot_limit FROM concurrency_groups g WHERE g.name = 'db' FOR "
                      "UPDATE"));
  std::thread edit([&] { s.Replace(job, edited, kT0 + 1s); });
  const auto watch = database_.Connect();
  bool waits = false;
  for (int tries = 0; !waits && tries < 20'000; ++tries) {
    waits = StatusOf(*watch, "Innodb_row_lock_current_waits") > 0;
  }
  EXPECT_TRUE(waits);
  EXPECT_OK(outside_->Query("SELECT c.version FROM calendars c FOR UPDATE NOWAIT"));
  EXPECT_OK(outside_->Rollback());
  edit.join();
}

// A member of a version without groups ends runs and leaves their slots.
TEST_F(GroupsTest, SlotsOfRunsThatEndedWithoutFreeingThemAreReclaimed) {
  StoreDriver s = driver();
  const ClaimRequest ended = NewClaim();
  const ClaimRequest gone = NewClaim();
  EXPECT_EQ(Claim(ended), ClaimVerdict::kAccepted);
  EXPECT_EQ(Claim(gone), ClaimVerdict::kAccepted);
  EXPECT_TRUE(s.v(s.queues.ScanUnusedSlots(s.All(), kT0 + 1h, 10)).empty());
  ASSERT_OK(outside_->Execute(
      "UPDATE job_runs SET state = 'COMPLETED', open_segment = NULL WHERE fire_us = ? AND "
      "schedule_id = ?",
      {ToUnixMicros(ended.key.fire), ended.key.schedule_id.value()}));
  ASSERT_OK(outside_->Execute("DELETE FROM job_runs WHERE fire_us = ? AND schedule_id = ?",
                              {ToUnixMicros(gone.key.fire), gone.key.schedule_id.value()}));
  const auto unused = s.v(s.queues.ScanUnusedSlots(s.All(), kT0 + 1h, 10));
  ASSERT_EQ(unused.size(), 2u);
  EXPECT_EQ(s.v(s.queues.ReclaimSlots(unused, fence_, kT0 + 1h)), 2u);
  EXPECT_EQ(s.v(s.groups.GetGroup("db", 10, kT0)).group.running, 0);
  EXPECT_EQ(s.v(s.queues.ReclaimSlots(unused, fence_, kT0 + 1h)), 0u);
}

// A row of run_waits that such a member has left.
TEST_F(GroupsTest, AnAdmissionDeletesPlacesOfRunsThatAreNoLongerQueued) {
  StoreDriver s = driver();
  s.v(s.groups.PutGroup("db", {.limit = 0}, kT0));
  const ClaimRequest gone = NewClaim();
  const ClaimRequest next = NewClaim();
  EXPECT_EQ(Claim(gone), ClaimVerdict::kEnqueued);
  EXPECT_EQ(Claim(next), ClaimVerdict::kEnqueued);
  ASSERT_OK(outside_->Execute(
      "UPDATE job_runs SET state = 'CANCELLED', open_segment = NULL WHERE fire_us = ? AND "
      "schedule_id = ?",
      {ToUnixMicros(gone.key.fire), gone.key.schedule_id.value()}));
  s.v(s.groups.PutGroup("db", {.limit = 1}, kT0));
  std::vector<RunRow> admitted;
  for (int look = 0; look < 2; ++look) {
    for (const QueuedGroup& group : s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 10, kT0)).groups) {
      const auto effect = s.v(s.queues.AdmitGroup(group, fence_, kT0 + 2s));
      admitted.insert(admitted.end(), effect.admitted.begin(), effect.admitted.end());
    }
  }
  ASSERT_EQ(admitted.size(), 1u);
  EXPECT_EQ(admitted[0].key, next.key);
}

TEST_F(GroupsTest, ClaimsReadFewRowsWhateverTheLimitAndTheQueue) {
  StoreDriver s = driver();
  s.v(s.groups.PutGroup("db", {.limit = 0}, kT0));
  for (int i = 0; i < 500; ++i) EXPECT_EQ(Claim(NewClaim()), ClaimVerdict::kEnqueued);
  s.v(s.groups.PutGroup("db", {.limit = 5'000}, kT0));
  EXPECT_EQ(Claim(NewClaim()), ClaimVerdict::kEnqueued);  // prepares the statements
  const ClaimRequest claim = NewClaim();
  EXPECT_LT(RowsRead([&] { Claim(claim); }), 100);
  const auto scan = [&] { s.v(s.queues.ScanQueues(s.All(), JobNo(0), 100)); };
  scan();
  EXPECT_LT(RowsRead(scan), 100);
}

// Every member looks often, so that a look may not ask for each group.
TEST_F(GroupsTest, ALookAtManyGroupsWithATimeIsTwoStatements) {
  StoreDriver s = driver();
  constexpr int kGroups = 20;
  for (int i = 0; i < kGroups; ++i) {
    const std::string name = "timed" + std::to_string(i);
    s.v(s.groups.PutGroup(name, {.limit = 3, .per = 10s}, kT0));
    JobDefinition definition = s.Manual();
    definition.concurrency_group = name;
    const StoredJob job = s.Create(name, definition);
    for (int run = 0; run < 4; ++run) {
      ClaimRequest request = s.ClaimOf(s.Execute(job, kT0), ++token_);
      request.group = name;
      const bool last = run == 3;
      EXPECT_EQ(s.Claim(request, fence_, kT0 + 1s).verdict,
                last ? ClaimVerdict::kEnqueued : ClaimVerdict::kAccepted);
      if (run != 0) continue;
      s.Apply(s.ReportOf(s.Get(request.key).row, RunState::kCompleted), fence_, kT0 + 1s);
    }
  }
  size_t found = 0;
  const auto scan = [&](WallTime now) {
    return
        [&, now] { found = s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 100, now)).groups.size(); };
  };
  const auto list = [&] { EXPECT_EQ(s.v(s.groups.ListGroups(kT0 + 2s)).size(), kGroups + 1u); };
  scan(kT0 + 12s)();  // prepares the statements
  list();
  const int64_t counting = Grown("'COM_SELECT'", [] {});
  EXPECT_EQ(Grown("'COM_SELECT'", scan(kT0 + 2s)) - counting, 1);
  EXPECT_EQ(found, 0u);
  EXPECT_EQ(Grown("'COM_SELECT'", scan(kT0 + 12s)) - counting, 2);
  EXPECT_EQ(found, static_cast<size_t>(kGroups));
  EXPECT_EQ(Grown("'COM_SELECT'", list) - counting, 2);
}

// The slots above a limit that was lowered stay.
TEST_F(GroupsTest, ALookReadsOnlyTakenSlots) {
  StoreDriver s = driver();
  s.v(s.groups.PutGroup("db", {.limit = 5'000}, kT0));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Claim(NewClaim()), ClaimVerdict::kAccepted);
  s.v(s.groups.PutGroup("db", {.limit = 2}, kT0));
  EXPECT_EQ(Claim(NewClaim()), ClaimVerdict::kEnqueued);
  size_t found = 0;
  const auto scan = [&] {
    found = s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 100, kT0 + 2s)).groups.size();
  };
  scan();  // prepares the statements
  EXPECT_LT(RowsRead(scan), 100);
  EXPECT_EQ(found, 0u);
  s.v(s.groups.PutGroup("db", {.limit = 3}, kT0));
  scan();
  EXPECT_LT(RowsRead(scan), 100);
  EXPECT_EQ(found, 1u);
}

TEST_F(GroupsTest, ReadingGroupsReadsNoFreeSlots) {
  StoreDriver s = driver();
  s.v(s.groups.PutGroup("db", {.limit = 5'000}, kT0));
  s.v(s.groups.PutGroup("timed", {.limit = 5'000, .per = 10s}, kT0));
  const auto list = [&] { s.v(s.groups.ListGroups(kT0 + 2s)); };
  list();
  EXPECT_LT(RowsRead(list), 100);
}

}  // namespace
}  // namespace carillon::test
