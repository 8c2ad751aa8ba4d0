// Stores with a gate, on MariaDB: a connection is used only if the gate has admitted its store.
#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {
namespace {

// Admits one store on one server, and records the identities that it had to judge.
class OneStoreGate final : public StoreGate {
 public:
  Status Check() const override {
    if (!closed_) return {};
    return {ErrorCode::kUnavailable, "closed by the test"};
  }
  uint64_t Stamp() const override { return stamp_; }
  uint64_t Mark() const override { return 0; }
  Status Admit(const Result<StoreIdentity>& seen, uint64_t /*mark*/) override {
    ++shown_;
    if (!seen.ok()) return seen.error();
    if (seen->store_id == wanted_) return {};
    closed_ = true;
    return Check();
  }

  std::string wanted_;
  bool closed_ = false;
  uint64_t stamp_ = 1;
  int shown_ = 0;
};

class StoreGateTest : public ::testing::Test {
 protected:
  StoreGateTest() { gate_.wanted_ = StoreDriver::v(handle_.stores().identity.Identify()).store_id; }

  // Gives the store another id, as if another store answered on new connections.
  void ExchangeStore(const std::string& id) {
    ASSERT_OK(outside_->Run("UPDATE store_identity SET store_id = '" + id + "'"));
    EndConnections();
  }
  void EndConnections() {
    auto rows = outside_->Ask(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() "
        "AND ID <> CONNECTION_ID()");
    ASSERT_TRUE(rows.ok());
    while (rows->Next()) ASSERT_OK(outside_->Kill(rows->Unsigned(1)));
  }
  std::vector<SegmentId> All() {
    std::vector<SegmentId> segments;
    for (uint32_t n = 0; n < kSegments; ++n) segments.push_back(SegmentId(n));
    return segments;
  }

  MariadbDatabase database_;
  MysqlHandle handle_{database_.Open(kSegments)};
  std::unique_ptr<mysql::Session> outside_ = database_.Connect();
  OneStoreGate gate_;
  std::unique_ptr<mysql::MysqlStores> trusted_ =
      handle_.stores().Behind(gate_, mysql::Gated::kEverything);
  std::unique_ptr<mysql::MysqlStores> writes_ =
      handle_.stores().Behind(gate_, mysql::Gated::kWrites);
};

TEST_F(StoreGateTest, ConnectionIsShownOnceUnderOneStamp) {
  for (int i = 0; i < 5; ++i) EXPECT_OK(trusted_->segments.Now());
  EXPECT_EQ(gate_.shown_, 1);
  gate_.stamp_ = 2;
  for (int i = 0; i < 5; ++i) EXPECT_OK(trusted_->segments.Now());
  EXPECT_EQ(gate_.shown_, 2);
  EndConnections();
  EXPECT_OK(trusted_->segments.Now());
  EXPECT_EQ(gate_.shown_, 3);
}

TEST_F(StoreGateTest, NothingIsDoneOnAConnectionToAnotherStore) {
  ASSERT_OK(trusted_->segments.Now());
  ExchangeStore("another");
  const TakeRequest take{MemberId("m1"), Incarnation("i1"), Generation(1), All()};
  EXPECT_CODE(trusted_->segments.Take(take), ErrorCode::kUnavailable);
  EXPECT_TRUE(gate_.closed_);
  EXPECT_CODE(trusted_->segments.Now(), ErrorCode::kUnavailable);
  for (const SegmentRecord& record : StoreDriver::v(handle_.stores().segments.ListSegments())) {
    EXPECT_TRUE(record.owner.empty());
  }
}

TEST_F(StoreGateTest, WritesAloneAreHeldBackWhereAPersonLooks) {
  ASSERT_OK(writes_->segments.Now());
  EXPECT_EQ(gate_.shown_, 0) << "reads are not asked about";
  ExchangeStore("another");
  JobDefinition job;
  job.name = "job";
  job.type = JobType::kNoop;
  EXPECT_CODE(writes_->jobs.CreateJob(JobId("job"), job, {.now = kT0}), ErrorCode::kUnavailable);
  const auto jobs = writes_->jobs.ListJobs({});
  ASSERT_OK(jobs);
  EXPECT_TRUE(jobs->jobs.empty());
  EXPECT_CODE(writes_->jobs.GetJob(JobId("job")), ErrorCode::kNotFound);
}

TEST_F(StoreGateTest, ConnectionThatDiedUnderAnOldStampIsReplaced) {
  ASSERT_OK(trusted_->segments.Now());
  gate_.stamp_ = 2;
  EndConnections();
  EXPECT_OK(trusted_->segments.Now());
  EXPECT_EQ(gate_.shown_, 3) << "the dead one said nothing, the new one was admitted";
}

TEST_F(StoreGateTest, ServerWithoutAStoreIsToldToTheGate) {
  ASSERT_OK(outside_->Run("RENAME TABLE store_identity TO put_aside"));
  EXPECT_CODE(trusted_->segments.Now(), ErrorCode::kBrokenStore);
  EXPECT_CODE(handle_.stores().identity.Identify(), ErrorCode::kBrokenStore);
  ASSERT_OK(outside_->Run("RENAME TABLE put_aside TO store_identity"));
  ASSERT_OK(outside_->Run("ALTER TABLE store_identity DROP COLUMN mark"));
  EXPECT_CODE(handle_.stores().identity.Identify(), ErrorCode::kBrokenStore);
}

// After a restore, the blocks of numbers that a member has reserved may also belong to others.
TEST_F(StoreGateTest, ForgottenBlocksAreNotGoneOnWith) {
  JobDefinition job;
  job.name = "job";
  job.type = JobType::kNoop;
  ASSERT_OK(writes_->jobs.CreateJob(JobId("a"), job, {.now = kT0}));
  ASSERT_OK(outside_->Run("UPDATE id_blocks SET next_id = 500 WHERE name = 'job'"));
  handle_.stores().identity.Forget();
  EXPECT_EQ(StoreDriver::v(writes_->jobs.CreateJob(JobId("b"), job, {.now = kT0})).job_no,
            JobNo(500));
}

// A new owner of a segment ends all connections of the old owner. So the connections of all pools
// with a gate have the same name.
TEST_F(StoreGateTest, ConnectionsAreNamedAsOne) {
  EXPECT_EQ(StoreDriver::v(trusted_->db.pool().Connections()),
            StoreDriver::v(handle_.stores().db.pool().Connections()));
}

}  // namespace
}  // namespace carillon::test
