#include "executor/leases/lease_watch.h"

#include <gtest/gtest.h>

#include "tests/support/failpoint_on.h"

namespace carillon::executor::lease_watch_test {
namespace {

SteadyTime At(Duration d) { return SteadyTime(d); }

TEST(LeaseWatchTest, RefusesToStartInTheMargin) {
  const WatchedLease lease{At(20s), true};
  EXPECT_EQ(DecideAtStart(lease, At(17s) - 1us), LeaseAction::kNone);
  EXPECT_EQ(DecideAtStart(lease, At(17s)), LeaseAction::kRefuseStart);
  EXPECT_EQ(DecideAtStart({At(20s), false}, At(17s)), LeaseAction::kRefuseStart);
}

TEST(LeaseWatchTest, KillsInTheMarginWhatItsPolicyWouldRetry) {
  const WatchedLease lease{At(20s), true};
  EXPECT_EQ(NextLeaseCheck(lease), At(17s));
  EXPECT_EQ(DecideWhileRunning(lease, At(17s) - 1us), LeaseAction::kNone);
  EXPECT_EQ(DecideWhileRunning(lease, At(17s)), LeaseAction::kKill);
  EXPECT_EQ(DecideWhileRunning({At(20s), false}, At(1000s)), LeaseAction::kNone);
}

TEST(LeaseWatchTest, GrantedLeaseAgesFromItsRequest) {
  const int64_t sent_us = Duration(5s).count();
  EXPECT_EQ(GrantedEnd(sent_us, 20s, At(9s)), At(25s));
  failpoint::Break("lease.from_receipt");
  EXPECT_EQ(GrantedEnd(sent_us, 20s, At(9s)), At(29s));
  failpoint::Reset();
}

TEST(LeaseWatchTest, RenewalNeverShortens) {
  EXPECT_EQ(RenewedEnd(At(20s), At(30s)), At(30s));
  EXPECT_EQ(RenewedEnd(At(20s), At(10s)), At(20s));
}

TEST(LeaseWatchTest, RuleCanBeSwitchedOffForTheSimulator) {
  failpoint::Break("lease.daemon_checks");
  EXPECT_EQ(DecideAtStart({At(20s), true}, At(99s)), LeaseAction::kNone);
  EXPECT_EQ(DecideWhileRunning({At(20s), true}, At(99s)), LeaseAction::kNone);
  failpoint::Reset();
}

}  // namespace
}  // namespace carillon::executor::lease_watch_test
