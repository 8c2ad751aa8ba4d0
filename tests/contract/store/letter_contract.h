// The contract of LetterStore: which dead letters are published, and in which order.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class LetterContract : public StoreContract<Factory> {
 protected:
  // Leaves a dead letter of a new run of the job, and returns that run.
  RunKey Fail(StoreDriver& s, const StoredJob& job, const Fence& fence, WallTime at = kT0) {
    const RunRow running = s.Start(s.Execute(job, at), ++token_, fence, at + 1s);
    ResultReport report = s.ReportOf(running, RunState::kFailed);
    report.result.error = "it exited with 3";
    report.result.exit_code = 3;
    s.Apply(report, fence, at + 2s);
    return running.key;
  }
  static std::vector<RunKey> KeysOf(const LettersToPublish& page) {
    std::vector<RunKey> keys;
    for (const LetterToPublish& one : page.letters) keys.push_back(one.letter.key);
    return keys;
  }
  uint64_t token_ = 0;
};
TYPED_TEST_SUITE(LetterContract, StoreFactories);

TYPED_TEST(LetterContract, LettersComeByIdUntilTheyAreMarked) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const uint64_t first = s.v(s.letters.BeginPublishing(kT0));
  EXPECT_TRUE(s.v(s.letters.ScanUnpublished(first, 10)).letters.empty());
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Manual());
  std::vector<RunKey> runs;
  for (const StoredJob& job : {b, a, b, a}) runs.push_back(this->Fail(s, job, fence));

  const LettersToPublish page = s.v(s.letters.ScanUnpublished(first, 3));
  ASSERT_EQ(this->KeysOf(page), (std::vector{runs[0], runs[1], runs[2]}));
  EXPECT_EQ(page.waiting, 4) << "also what is not in the page";
  EXPECT_LT(page.letters[0].letter.id, page.letters[1].letter.id);
  ASSERT_OK(s.letters.MarkPublished({page.letters[0].letter.id, page.letters[2].letter.id}));
  const LettersToPublish rest = s.v(s.letters.ScanUnpublished(first, 3));
  EXPECT_EQ(this->KeysOf(rest), (std::vector{runs[1], runs[3]}));
  EXPECT_EQ(rest.waiting, 2);
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({})).size(), 4u) << "a mark deletes nothing";
}

TYPED_TEST(LetterContract, ALetterHasWhatItsReadersNeed) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const uint64_t first = s.v(s.letters.BeginPublishing(kT0));
  JobDefinition definition = s.Manual();
  definition.name = "Export";
  definition.name_space = "billing";
  definition.labels = {{"team", "data"}};
  const StoredJob job = s.Create("export", definition);
  const RunKey key = this->Fail(s, job, fence);
  const RunDetail run = s.v(s.runs.GetRun(key));

  const LettersToPublish page = s.v(s.letters.ScanUnpublished(first, 10));
  ASSERT_EQ(page.letters.size(), 1u);
  const LetterToPublish& one = page.letters[0];
  EXPECT_EQ(one.letter.key, key);
  EXPECT_EQ(one.letter.job_id, job.job_id);
  EXPECT_EQ(one.letter.state, RunState::kFailed);
  EXPECT_EQ(one.letter.attempts, 1);
  EXPECT_EQ(one.letter.reason, run.result.reason);
  EXPECT_EQ(one.letter.created, kT0 + 2s);
  EXPECT_EQ(one.job_name, "Export");
  EXPECT_EQ(one.name_space, "billing");
  EXPECT_EQ(one.labels, (std::map<std::string, std::string>{{"team", "data"}}));
  EXPECT_EQ(one.error, "it exited with 3");
  EXPECT_EQ(one.exit_code, 3);
  EXPECT_EQ(one.executor, run.row.executor);
  EXPECT_FALSE(one.executor.value().empty());
  EXPECT_EQ(one.started, run.result.started);
  EXPECT_EQ(one.ended, run.result.ended);

  this->handle().DamageDefinition(job, true);
  const LettersToPublish damaged = s.v(s.letters.ScanUnpublished(first, 10));
  ASSERT_EQ(damaged.letters.size(), 1u) << "an unreadable definition holds nothing up";
  EXPECT_TRUE(damaged.letters[0].labels.empty());
  this->handle().DamageDefinition(job, false);
}

TYPED_TEST(LetterContract, LettersFromLongBeforeTheFirstCallAreNotPublished) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  this->Fail(s, job, fence);
  const RunKey recent = this->Fail(s, job, fence, kT0 + 1h);
  const WallTime now = kT0 + 1h + 2s + kLettersBeforeBegin;
  const uint64_t first = s.v(s.letters.BeginPublishing(now));
  EXPECT_EQ(this->KeysOf(s.v(s.letters.ScanUnpublished(first, 10))), std::vector{recent});
  const RunKey later = this->Fail(s, job, fence, now);
  EXPECT_EQ(s.v(s.letters.BeginPublishing(now + 24h)), first) << "also for the next leader";
  EXPECT_EQ(this->KeysOf(s.v(s.letters.ScanUnpublished(first, 10))), (std::vector{recent, later}));
}

TYPED_TEST(LetterContract, TheBacklogSaysWhatWaitsAndSinceWhen) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  this->Fail(s, job, fence);
  EXPECT_EQ(s.v(s.letters.GetBacklog()), LetterBacklog{}) << "nobody publishes";
  const uint64_t first = s.v(s.letters.BeginPublishing(kT0 + 1h));
  EXPECT_EQ(s.v(s.letters.GetBacklog()), LetterBacklog{}) << "from before the first call";
  this->Fail(s, job, fence);
  this->Fail(s, job, fence);
  EXPECT_EQ(s.v(s.letters.GetBacklog()), (LetterBacklog{.waiting = 2, .oldest = kT0 + 2s}));
  for (const LetterToPublish& one : s.v(s.letters.ScanUnpublished(first, 10)).letters) {
    ASSERT_OK(s.letters.MarkPublished({one.letter.id}));
  }
  EXPECT_EQ(s.v(s.letters.GetBacklog()), LetterBacklog{});
}

// A leader that was replaced while the bus had its letters marks them all the same, and both may
// mark the same ones.
TYPED_TEST(LetterContract, MarksOfTwoMembersDoNotDisturbEachOther) {
  StoreDriver s = this->driver();
  const auto other_handle = this->OpenSecond();
  StoreDriver other(*other_handle);
  const Fence fence = s.Take();
  const uint64_t first = s.v(s.letters.BeginPublishing(kT0));
  const StoredJob job = s.Create("a", s.Manual());
  for (int i = 0; i < 3; ++i) this->Fail(s, job, fence);
  const LettersToPublish page = s.v(s.letters.ScanUnpublished(first, 10));
  ASSERT_EQ(page.letters.size(), 3u);
  const uint64_t next_first = other.v(other.letters.BeginPublishing(kT0));
  EXPECT_EQ(next_first, first);
  ASSERT_EQ(other.v(other.letters.ScanUnpublished(next_first, 10)).letters.size(), 3u);
  ASSERT_OK(other.letters.MarkPublished({page.letters[0].letter.id, page.letters[1].letter.id}));
  ASSERT_OK(s.letters.MarkPublished({page.letters[1].letter.id, page.letters[2].letter.id}));
  EXPECT_TRUE(other.v(other.letters.ScanUnpublished(first, 10)).letters.empty());
}

TYPED_TEST(LetterContract, LettersThatAreGoneArePassedOver) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const uint64_t first = s.v(s.letters.BeginPublishing(kT0));
  const StoredJob job = s.Create("a", s.Manual());
  const RunKey retried = this->Fail(s, job, fence);
  const RunKey discarded = this->Fail(s, job, fence);
  const LettersToPublish page = s.v(s.letters.ScanUnpublished(first, 10));
  ASSERT_EQ(this->KeysOf(page), (std::vector{retried, discarded}));
  ASSERT_OK(s.runs.RetryRun({.key = retried}, {.now = kT0 + 3s}));
  ASSERT_OK(s.runs.DiscardDeadLetter(page.letters[1].letter.id));
  EXPECT_TRUE(s.v(s.letters.ScanUnpublished(first, 10)).letters.empty());
  EXPECT_OK(s.letters.MarkPublished({page.letters[0].letter.id, page.letters[1].letter.id}));
  EXPECT_OK(s.letters.MarkPublished({}));
}

}  // namespace carillon::test
