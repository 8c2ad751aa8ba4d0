// The store on MariaDB when connections, commits and owners fail at the worst moment.
#include <future>
#include <thread>

#include "tests/contract/mysql/mysql_handle.h"
#include "tests/support/failpoint_on.h"

namespace carillon::test {
namespace {

class StoreFaultsTest : public ::testing::Test {
 protected:
  void TearDown() override { failpoint::Reset(); }

  StoreDriver driver() { return StoreDriver(handle_); }
  // Returns a pending run. Another run was claimed before, so that the executor's incarnation is
  // already in the store and claiming this run takes a single transaction.
  static RunRow KnownExecutorsRun(StoreDriver& s, const Fence& fence) {
    const StoredJob job = s.Create("a", s.Manual());
    s.Apply(s.ReportOf(s.Start(s.Execute(job, kT0), 9, fence, kT0), RunState::kCompleted), fence,
            kT0);
    return s.Execute(job, kT0);
  }
  // Returns how often the server was told to end a connection (KILL).
  int64_t Kills() {
    auto rows = outside_->Ask("SHOW GLOBAL STATUS LIKE 'Com_kill'");
    CARILLON_CHECK(rows.ok() && rows->Next(), "status");
    return rows->Int(2);
  }
  // Ends every connection to this test's database except the one that runs this query.
  void EndConnections() {
    auto rows = outside_->Ask(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() "
        "AND ID <> CONNECTION_ID()");
    CARILLON_CHECK(rows.ok(), "processlist");
    while (rows->Next()) {
      CARILLON_CHECK(outside_->Kill(rows->Unsigned(1)).ok(), "kill");
    }
  }

  MariadbDatabase database_;
  MysqlHandle handle_{database_.Open(kSegments)};
  std::unique_ptr<mysql::Session> outside_ = database_.Connect();
};

TEST_F(StoreFaultsTest, LostReplyToACommitIsATimeoutAndTheWriteStands) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const RunRow row = KnownExecutorsRun(s, fence);
  failpoint::ArmTimes("mysql.lose_commit_reply", 1);
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(row, 1)}, fence, kT0 + 1s), ErrorCode::kTimeout);
  EXPECT_EQ(s.Get(row.key).row.state, RunState::kRunning);
  // The executor repeats its claim with the same token.
  EXPECT_EQ(s.Claim(s.ClaimOf(row, 1), fence, kT0 + 2s).verdict, ClaimVerdict::kAcceptedAgain);
}

TEST_F(StoreFaultsTest, CommitThatWasNeverSentIsATimeoutAndNothingIsWritten) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const RunRow row = KnownExecutorsRun(s, fence);
  failpoint::ArmTimes("mysql.fail_commit", 1);
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(row, 1)}, fence, kT0 + 1s), ErrorCode::kTimeout);
  EXPECT_EQ(s.Get(row.key).row, row);
}

TEST_F(StoreFaultsTest, LostReplyWhileAnExecutorIsMadeKnownLeavesNothingUnknown) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const RunRow row = s.Execute(s.Create("a", s.Manual()), kT0);
  failpoint::ArmTimes("mysql.lose_commit_reply", 1);
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(row, 1)}, fence, kT0 + 1s), ErrorCode::kUnavailable);
  EXPECT_EQ(s.Get(row.key).row, row);
  EXPECT_EQ(s.Claim(s.ClaimOf(row, 1), fence, kT0 + 2s).verdict, ClaimVerdict::kAccepted);
}

TEST_F(StoreFaultsTest, LostReplyToATakeIsMadeGoodByTakingAgain) {
  StoreDriver s = driver();
  failpoint::ArmTimes("mysql.lose_commit_reply", 1);
  EXPECT_CODE(s.segments.Take({MemberId("m1"), Incarnation("i1"), Generation(1), s.All()}),
              ErrorCode::kTimeout);
  const Fence fence = s.Take(1, "m1", "i1");
  ASSERT_EQ(fence.size(), kSegments);
  EXPECT_EQ(fence[0].epoch, Epoch(2));
}

TEST_F(StoreFaultsTest, ConnectionLostBeforeTheCommitWritesNothing) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const RunRow row = KnownExecutorsRun(s, fence);
  failpoint::Arm("mysql.after_fence", [this] {
    EndConnections();
    return false;
  });
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(row, 1)}, fence, kT0 + 1s), ErrorCode::kUnavailable);
  failpoint::Reset();
  EXPECT_EQ(s.Get(row.key).row, row);
  EXPECT_EQ(s.Claim(s.ClaimOf(row, 1), fence, kT0 + 2s).verdict, ClaimVerdict::kAccepted);
}

TEST_F(StoreFaultsTest, ConnectionLostAtTheCommitIsATimeout) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const RunRow row = KnownExecutorsRun(s, fence);
  failpoint::Arm("mysql.before_commit", [this] {
    EndConnections();
    return false;
  });
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(row, 1)}, fence, kT0 + 1s), ErrorCode::kTimeout);
  failpoint::Reset();
  EXPECT_EQ(s.Get(row.key).row, row);
}

TEST_F(StoreFaultsTest, IdleConnectionsThatTheServerClosedAreReplaced) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow row = s.Execute(job, kT0);
  EndConnections();
  EXPECT_EQ(s.v(s.jobs.GetJob(job.job_id)).job_no, job.job_no);
  EndConnections();
  EXPECT_EQ(s.Claim(s.ClaimOf(row, 1), fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
}

TEST_F(StoreFaultsTest, TakeoverEndsAnOwnerThatIsFrozenBetweenFenceAndCommit) {
  StoreDriver s = driver();
  const Fence fence = s.Take(1, "m1", "i1");
  const RunRow row = KnownExecutorsRun(s, fence);
  std::promise<void> frozen;
  std::promise<void> thawed;
  failpoint::Arm("mysql.before_commit", [&, armed = true]() mutable {
    if (std::exchange(armed, false)) {
      failpoint::Arm("mysql.before_commit", [] { return false; });
      frozen.set_value();
      thawed.get_future().wait();
    }
    return false;
  });
  auto claim = std::async(std::launch::async, [&] {
    return handle_.firing().Claim({StoreDriver::ClaimOf(row, 1)}, fence, kT0 + 1s);
  });
  frozen.get_future().wait();
  MysqlHandle successor(database_.Open(kSegments));
  StoreDriver other(successor);
  const int64_t kills = Kills();
  const Fence fresh = other.Take(2, "m2", "i2");
  EXPECT_EQ(fresh.size(), kSegments);
  EXPECT_GT(Kills(), kills);
  EXPECT_EQ(other.Get(row.key).row, row);
  thawed.set_value();
  EXPECT_CODE(claim.get(), ErrorCode::kTimeout);
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(row, 1)}, fence, kT0 + 2s), ErrorCode::kFenced);
  EXPECT_EQ(other.Claim(other.ClaimOf(row, 2), fresh, kT0 + 3s).verdict, ClaimVerdict::kAccepted);
}

TEST_F(StoreFaultsTest, TakeoverWaitsForACommitInFlightAndSeesIt) {
  StoreDriver s = driver();
  const Fence fence = s.Take(1, "m1", "i1");
  const RunRow row = KnownExecutorsRun(s, fence);
  ASSERT_EQ(s.Claim(s.ClaimOf(row, 1), fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
  MysqlHandle successor(database_.Open(kSegments));
  StoreDriver other(successor);
  const Fence fresh = other.Take(2, "m2", "i2");
  const RunningPage page = other.v(other.firing.ScanRunning(other.All(), std::nullopt, 10));
  ASSERT_EQ(page.runs.size(), 1u);
  EXPECT_EQ(page.runs[0].claim_token, StoreDriver::Token(1));
  EXPECT_EQ(page.runs[0].executor, ExecutorId("e1"));
}

TEST_F(StoreFaultsTest, DeadlockIsRetriedInside) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  s.Start(s.Execute(job, kT0), 9, fence, kT0);
  const RunRow row = s.Execute(job, kT0);
  // Another connection locks the run and then waits for the segment, while the claim has locked the
  // segment and waits for the run. The server rolls one of them back. Claim must succeed anyway.
  ASSERT_OK(outside_->Begin());
  ASSERT_OK(outside_->Ask("SELECT state FROM job_runs FOR UPDATE"));
  std::promise<void> fenced;
  failpoint::Arm("mysql.after_fence", [&, first = true]() mutable {
    if (std::exchange(first, false)) {
      failpoint::Arm("mysql.after_fence", [] { return false; });
      fenced.set_value();
    }
    return false;
  });
  auto claim = std::async(std::launch::async, [&] {
    return handle_.firing().Claim({StoreDriver::ClaimOf(row, 1)}, fence, kT0 + 1s);
  });
  fenced.get_future().wait();
  // Many changed rows make this transaction the heavier one, so that the claim is the victim.
  for (int i = 0; i < 50; ++i) {
    ASSERT_OK(outside_->Run("INSERT INTO system_config VALUES ('n" + std::to_string(i) + "', '')"));
  }
  const Status wanted = outside_->Run("UPDATE segments SET owner = owner, epoch = epoch");
  const int error = outside_->last_error();
  if (wanted.ok()) {
    ASSERT_OK(outside_->Rollback());
  } else {
    EXPECT_EQ(error, mysql::kDeadlock);  // this one was rolled back instead: no lock
  }
  const auto replies = claim.get();
  ASSERT_OK(replies);
  EXPECT_EQ((*replies)[0].verdict, ClaimVerdict::kAccepted);
}

TEST_F(StoreFaultsTest, BusyRowIsUnavailableAfterTheLockWaitAndNothingIsWritten) {
  mysql::MysqlOptions options = database_.Options(kSegments);
  options.session.lock_wait_timeout_s = 1;
  MysqlHandle impatient(StoreDriver::v(mysql::MysqlStores::Open(options)));
  StoreDriver s(impatient);
  const Fence fence = s.Take();
  const RunRow row = KnownExecutorsRun(s, fence);
  ASSERT_OK(LetIdleInTransactions(*outside_));
  ASSERT_OK(outside_->Begin());
  ASSERT_OK(outside_->Ask("SELECT state FROM job_runs FOR UPDATE"));
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(row, 1)}, fence, kT0 + 1s), ErrorCode::kUnavailable);
  ASSERT_OK(outside_->Rollback());
  EXPECT_EQ(s.Get(row.key).row, row);
  EXPECT_EQ(s.Claim(s.ClaimOf(row, 1), fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
}

TEST_F(StoreFaultsTest, ClientThatStopsInATransactionLosesItsLocks) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const RunRow row = KnownExecutorsRun(s, fence);
  const auto stopped = s.v(handle_.stores().db.pool().Acquire("test"));
  ASSERT_OK(stopped->Begin());
  ASSERT_OK(stopped->Ask("SELECT state FROM job_runs FOR UPDATE"));
  // Only the server can end the transaction that holds the lock, after
  // kIdleTransactionTimeoutSeconds, or on MySQL after kIdleSessionTimeoutSeconds. The claim waits
  // until then; each wait is shorter than the latter.
  Result<std::vector<ClaimReply>> claimed = Error{ErrorCode::kUnavailable, ""};
  for (int tries = 0; tries < 4 && claimed.code() == ErrorCode::kUnavailable; ++tries) {
    claimed = s.firing.Claim({s.ClaimOf(row, 1)}, fence, kT0 + 1s);
  }
  ASSERT_OK(claimed);
  EXPECT_EQ((*claimed)[0].verdict, ClaimVerdict::kAccepted);
  EXPECT_FALSE(stopped->Commit().ok());
}

TEST_F(StoreFaultsTest, WritersInEveryDirectionLoseNothing) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  constexpr int kJobs = 8;
  constexpr int kRounds = 12;
  std::vector<StoredJob> jobs;
  std::vector<RunRow> rows;
  for (int i = 0; i < kJobs; ++i) {
    JobDefinition definition = s.Manual();
    definition.retry_count = 3;
    jobs.push_back(s.Create("job" + std::to_string(i), definition));
    for (int k = 0; k < kRounds; ++k) rows.push_back(s.Execute(jobs.back(), kT0));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {  // each claims all runs, in its own order
      std::vector<ClaimRequest> requests;
      for (const RunRow& row : rows) {
        requests.push_back(StoreDriver::ClaimOf(row, static_cast<uint64_t>(t) + 1));
      }
      if (t == 1) std::reverse(requests.begin(), requests.end());
      for (size_t i = 0; i < requests.size(); i += 16) {
        const std::vector<ClaimRequest> some(
            requests.begin() + static_cast<std::ptrdiff_t>(i),
            requests.begin() + static_cast<std::ptrdiff_t>(std::min(i + 16, requests.size())));
        EXPECT_OK(handle_.firing().Claim(some, fence, kT0 + 1s));
      }
    });
  }
  threads.emplace_back([&] {
    for (int round = 0; round < 3; ++round) {
      for (const StoredJob& job : jobs) {
        EXPECT_OK(handle_.jobs().PauseJob(job.job_id, "", {.now = kT0}));
        EXPECT_OK(handle_.jobs().ResumeJob(job.job_id, "", {.now = kT0}));
        EXPECT_OK(handle_.runs().CancelJobRuns(job.job_id, {.now = kT0}));
      }
    }
  });
  for (std::thread& thread : threads) thread.join();
  // Each run was claimed once, or the pause or the cancel ended it before a claim.
  for (const RunRow& row : rows) {
    const RunRow after = s.Get(row.key).row;
    EXPECT_TRUE(after.state == RunState::kRunning || after.state == RunState::kSkipped ||
                after.state == RunState::kCancelled)
        << Name(after.state);
    EXPECT_EQ(after.claim_token.empty(), after.state != RunState::kRunning);
  }
}

}  // namespace
}  // namespace carillon::test
