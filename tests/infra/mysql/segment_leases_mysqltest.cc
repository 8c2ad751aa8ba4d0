// A rolling upgrade: members of an earlier version, which write no leases into segment rows, beside
// current members. A member that takes over waits at least for its own lease. A lease in the row
// can only make it wait longer.
#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {
namespace {

class EarlierOwnerTest : public ::testing::Test {
 protected:
  // Takes the segments as an earlier member does.
  void TakesWithoutALease(uint64_t generation) {
    ASSERT_OK(
        earlier_->Run("UPDATE segments s SET s.owner = 'm0', s.incarnation = 'i0', s.epoch = "
                      "s.epoch + 1, s.connections = '', s.assign_gen = " +
                      std::to_string(generation)));
  }
  // Takes the segments as a current member, and returns the longest lease of previous owners.
  Duration Take(uint64_t generation, Duration lease) {
    return s
        .v(s.segments.Take({.member = MemberId("m1"),
                            .incarnation = Incarnation("i1"),
                            .generation = Generation(generation),
                            .segments = StoreDriver::All(),
                            .lease = lease}))
        .lease_before;
  }

  MariadbDatabase database_;
  MysqlHandle handle_{StoreDriver::v(mysql::MysqlStores::Open(database_.Options(kSegments)))};
  StoreDriver s{handle_};
  std::unique_ptr<mysql::Session> earlier_ = database_.Connect();
};

TEST_F(EarlierOwnerTest, TellsNoLease) {
  TakesWithoutALease(1);
  EXPECT_EQ(Take(2, 20s), Duration{});
}

TEST_F(EarlierOwnerTest, DoesNotShortenWhatTheOwnerBeforeItGranted) {
  Take(1, 60s);
  TakesWithoutALease(2);
  EXPECT_EQ(Take(3, 20s), 60s);
}

TEST_F(EarlierOwnerTest, DoesNotShortenItHoweverLongThatOwnerHadTheSegment) {
  Take(1, 60s);
  ASSERT_OK(earlier_->Run("UPDATE segments SET taken_us = taken_us - 3600000000"));
  TakesWithoutALease(2);
  EXPECT_EQ(Take(3, 20s), 60s);
}

TEST_F(EarlierOwnerTest, DoesNotShortenWhatAnOwnerBeforeThatGranted) {
  Take(1, 60s);
  Take(2, 20s);
  TakesWithoutALease(3);
  EXPECT_EQ(Take(4, 20s), 60s);
}

}  // namespace
}  // namespace carillon::test
