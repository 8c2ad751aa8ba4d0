// Dead letters on MariaDB in another order than that of their commits: ids are given at the insert.
#include "tests/infra/mysql/store_reads.h"

namespace carillon::test {
namespace {

class LettersTest : public StoreLimitsTest {
 protected:
  LettersTest() : s_(handle_), fence_(s_.Take()), job_(s_.Create("a", s_.Manual())) {}

  RunRow Start(int number) {
    const RunRow pending = s_.Execute(job_, kT0 + 1s * number);
    return s_.Start(pending, static_cast<uint64_t>(number), fence_, kT0 + 1min);
  }
  // Inserts a letter on another connection, and leaves the transaction open.
  void InsertLetter(const RunKey& key) {
    ASSERT_OK(outside_->Begin());
    ASSERT_OK(outside_->Execute(
        "INSERT INTO dead_letters (fire_us, schedule_id, shard, job_no, state, attempts, reason, "
        "created_us) VALUES (?, ?, 0, ?, 'FAILED', 1, 'exit_code', ?)",
        {ToUnixMicros(key.fire), key.schedule_id.value(), job_.job_no.value(),
         ToUnixMicros(kFailed)}));
  }
  void Fail(const RunRow& row) {
    s_.Apply(s_.ReportOf(row, RunState::kFailed, kFailed), fence_, kFailed);
  }
  std::vector<LetterToPublish> Scan(uint64_t first) {
    return s_.v(s_.letters.ScanUnpublished(first, 10)).letters;
  }

  static constexpr WallTime kFailed = kT0 + 2min;
  StoreDriver s_;
  Fence fence_;
  StoredJob job_;
  std::unique_ptr<mysql::Session> outside_ = database_.Connect();
};

TEST_F(LettersTest, ALetterThatCommitsAfterALaterOneWasPublishedIsPublishedToo) {
  const uint64_t first = s_.v(s_.letters.BeginPublishing(kT0));
  const RunRow slow = Start(1);
  const RunRow quick = Start(2);
  InsertLetter(slow.key);
  Fail(quick);
  const auto published = Scan(first);
  ASSERT_EQ(published.size(), 1u);
  EXPECT_EQ(published[0].letter.key, quick.key);
  ASSERT_OK(s_.letters.MarkPublished({published[0].letter.id}));
  ASSERT_OK(outside_->Commit());
  const auto late = Scan(first);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].letter.key, slow.key);
  EXPECT_LT(late[0].letter.id, published[0].letter.id);
}

TEST_F(LettersTest, ALetterThatCommitsAfterTheSwitchOnIsPublishedAlsoWithALowerId) {
  const RunRow slow = Start(1);
  const RunRow quick = Start(2);
  InsertLetter(slow.key);
  Fail(quick);
  const uint64_t first = s_.v(s_.letters.BeginPublishing(kFailed + 1s));
  ASSERT_OK(outside_->Commit());
  const auto letters = Scan(first);
  ASSERT_EQ(letters.size(), 2u);
  EXPECT_EQ(letters[0].letter.key, slow.key);
  EXPECT_EQ(letters[1].letter.key, quick.key);
}

}  // namespace
}  // namespace carillon::test
