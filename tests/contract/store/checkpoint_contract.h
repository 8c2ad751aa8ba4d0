// The contract of CheckpointStore: only the attempt that runs saves, and only something newer.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class CheckpointContract : public StoreContract<Factory> {
 protected:
  // A running attempt of a job with retries.
  static RunRow Running(StoreDriver& s, const Fence& fence) {
    JobDefinition definition = StoreDriver::Manual();
    definition.retry_count = 5;
    const StoredJob job = s.Create("a", definition);
    return s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  }
  static RunSave SaveOf(const RunRow& row, uint64_t seq, std::optional<std::string> checkpoint) {
    return {.key = row.key,
            .segment = row.segment,
            .job_no = row.job_no,
            .attempt = row.attempt,
            .token = row.claim_token,
            .seq = seq,
            .checkpoint = std::move(checkpoint)};
  }
  static RunSave ProgressOf(const RunRow& row, uint64_t seq, std::optional<int> percent,
                            const std::string& text) {
    RunSave save = SaveOf(row, seq, {});
    save.progress = {.percent = percent, .text = text};
    return save;
  }
  static SaveVerdict Save(StoreDriver& s, const RunSave& save, const Fence& fence,
                          WallTime now = kT0 + 2s) {
    const auto verdicts = s.v(s.checkpoints.Save({save}, fence, now));
    EXPECT_EQ(verdicts.size(), 1u);
    return verdicts.empty() ? SaveVerdict::kRefused : verdicts.front();
  }
  // The attempt fails, and the next one is claimed.
  static RunRow Next(StoreDriver& s, const RunRow& row, uint64_t token, const Fence& fence) {
    EXPECT_EQ(s.Apply(s.ReportOf(row, RunState::kFailed), fence, kT0 + 9s).state,
              RunState::kPending);
    const RunRow pending = s.Get(row.key).row;
    return s.Start(pending, token, fence, pending.due);
  }
};
TYPED_TEST_SUITE(CheckpointContract, StoreFactories);

TYPED_TEST(CheckpointContract, NothingIsThereAtFirst) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow row = this->Running(s, fence);
  EXPECT_EQ(s.Get(row.key).saved, SavedState{});
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), std::nullopt);
  EXPECT_TRUE(s.v(s.checkpoints.WithCheckpoint({row.key})).empty());
  EXPECT_TRUE(s.v(s.checkpoints.WithCheckpoint({})).empty());
  EXPECT_TRUE(s.v(s.checkpoints.Save({}, fence, kT0)).empty());
}

TYPED_TEST(CheckpointContract, BytesComeBackAsTheyWere) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow row = this->Running(s, fence);
  std::string bytes(kCheckpointBytesMax, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  EXPECT_EQ(this->Save(s, this->SaveOf(row, 1, bytes), fence), SaveVerdict::kKept);
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), bytes);
  EXPECT_EQ(s.v(s.checkpoints.WithCheckpoint({row.key})), std::set<RunKey>{row.key});
  const SavedState saved = s.Get(row.key).saved;
  ASSERT_TRUE(saved.checkpoint.has_value());
  EXPECT_EQ(saved.checkpoint->size, static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(saved.checkpoint->attempt, 1);
  EXPECT_EQ(saved.checkpoint->at, kT0 + 2s);
  EXPECT_FALSE(saved.progress.has_value());
  EXPECT_EQ(this->Save(s, this->SaveOf(row, 2, ""), fence), SaveVerdict::kKept);
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), "");
}

TYPED_TEST(CheckpointContract, ProgressAndCheckpointAreKeptOneWithoutTheOther) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow row = this->Running(s, fence);
  EXPECT_EQ(this->Save(s, this->ProgressOf(row, 1, 42, "a \"b\" \xe4\xb8\xad"), fence, kT0 + 2s),
            SaveVerdict::kKept);
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), std::nullopt);
  EXPECT_TRUE(s.v(s.checkpoints.WithCheckpoint({row.key})).empty());
  EXPECT_EQ(this->Save(s, this->SaveOf(row, 2, "one"), fence, kT0 + 3s), SaveVerdict::kKept);
  SavedState saved = s.Get(row.key).saved;
  EXPECT_EQ(saved.progress, (RunProgress{42, "a \"b\" \xe4\xb8\xad"}));
  EXPECT_EQ(saved.progress_at, kT0 + 2s);
  EXPECT_EQ(this->Save(s, this->ProgressOf(row, 3, {}, "text"), fence, kT0 + 4s),
            SaveVerdict::kKept);
  saved = s.Get(row.key).saved;
  EXPECT_EQ(saved.progress, (RunProgress{std::nullopt, "text"}));
  EXPECT_EQ(saved.progress_at, kT0 + 4s);
  ASSERT_TRUE(saved.checkpoint.has_value());
  EXPECT_EQ(saved.checkpoint->at, kT0 + 3s);
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), "one");
}

TYPED_TEST(CheckpointContract, OlderSaveChangesNothing) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow row = this->Running(s, fence);
  EXPECT_EQ(this->Save(s, this->SaveOf(row, 5, "new"), fence), SaveVerdict::kKept);
  for (const uint64_t seq : {uint64_t{5}, uint64_t{4}}) {
    EXPECT_EQ(this->Save(s, this->SaveOf(row, seq, "old"), fence), SaveVerdict::kKeptBefore);
  }
  // Of two saves in one batch the later one counts, whatever their order.
  const auto verdicts = s.v(s.checkpoints.Save(
      {this->SaveOf(row, 7, "newest"), this->SaveOf(row, 6, "newer")}, fence, kT0 + 3s));
  EXPECT_EQ(verdicts, (std::vector{SaveVerdict::kKept, SaveVerdict::kKeptBefore}));
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), "newest");
}

TYPED_TEST(CheckpointContract, AttemptThatWasGivenUpCannotSave) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow first = this->Running(s, fence);
  EXPECT_EQ(this->Save(s, this->SaveOf(first, 900, "first"), fence), SaveVerdict::kKept);
  const RunRow second = this->Next(s, first, 2, fence);
  ASSERT_EQ(second.attempt, 2);
  // Before and after the second attempt has saved something, with a lower number.
  EXPECT_EQ(this->Save(s, this->SaveOf(first, 901, "zombie"), fence), SaveVerdict::kRefused);
  EXPECT_EQ(this->Save(s, this->SaveOf(second, 1, "second"), fence), SaveVerdict::kKept);
  EXPECT_EQ(this->Save(s, this->SaveOf(first, 902, "zombie"), fence), SaveVerdict::kRefused);
  EXPECT_EQ(this->Save(s, this->ProgressOf(first, 903, 1, "zombie"), fence), SaveVerdict::kRefused);
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(first.key)), "second");
  EXPECT_EQ(s.Get(first.key).saved.checkpoint->attempt, 2);
}

TYPED_TEST(CheckpointContract, OnlyARunningRunUnderItsClaimSaves) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow row = this->Running(s, fence);
  RunSave save = this->SaveOf(row, 1, "x");
  save.token = s.Token(99);
  EXPECT_EQ(this->Save(s, save, fence), SaveVerdict::kRefused);
  save = this->SaveOf(row, 1, "x");
  save.key.schedule_id = ScheduleId(999'999);
  EXPECT_EQ(this->Save(s, save, fence), SaveVerdict::kRefused);
  EXPECT_EQ(s.Apply(s.ReportOf(row, RunState::kFailed), fence, kT0 + 9s).state, RunState::kPending);
  EXPECT_EQ(this->Save(s, this->SaveOf(row, 1, "x"), fence), SaveVerdict::kRefused);
  EXPECT_EQ(s.Get(row.key).saved, SavedState{});
}

TYPED_TEST(CheckpointContract, DeposedOwnerCannotSave) {
  StoreDriver s = this->driver();
  const Fence old = s.Take(1, "m1");
  const RunRow row = this->Running(s, old);
  s.Take(2, "m2", "i2");
  EXPECT_CODE(s.checkpoints.Save({this->SaveOf(row, 1, "x")}, old, kT0 + 2s), ErrorCode::kFenced);
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), std::nullopt);
}

TYPED_TEST(CheckpointContract, SuccessDeletesWhatWasSaved) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  // A plain result, and one that is not.
  for (const bool plain : {true, false}) {
    const StoredJob job = s.Create(plain ? "p" : "q", s.Manual());
    const RunRow row = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
    const RunRow other = s.Start(s.Execute(job, kT0 + 1s), 2, fence, kT0 + 1s);
    for (const RunRow& saved : {row, other}) {
      EXPECT_EQ(this->Save(s, this->SaveOf(saved, 1, "x"), fence), SaveVerdict::kKept);
    }
    ResultReport report = s.ReportOf(row, RunState::kCompleted, kT0 + 3s);
    report.result.saved = true;
    report.result.output = plain ? "" : "text";
    EXPECT_EQ(s.Apply(report, fence, kT0 + 4s).state, RunState::kCompleted);
    EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), std::nullopt);
    EXPECT_EQ(s.Get(row.key).saved, SavedState{});
    EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(other.key)), "x");
  }
}

TYPED_TEST(CheckpointContract, OtherEndsAndARetryByHandKeepIt) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow row = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  EXPECT_EQ(this->Save(s, this->SaveOf(row, 1, "x"), fence), SaveVerdict::kKept);
  ResultReport report = s.ReportOf(row, RunState::kFailed, kT0 + 3s);
  report.result.saved = true;
  EXPECT_EQ(s.Apply(report, fence, kT0 + 4s).state, RunState::kFailed);
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), "x");
  s.v(s.runs.RetryRun({.key = row.key}, {.now = kT0 + 5s}));
  const RunRow again = s.Start(s.Get(row.key).row, 2, fence, kT0 + 6s);
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), "x");
  EXPECT_EQ(this->Save(s, this->SaveOf(again, 1, "y"), fence), SaveVerdict::kKept);
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), "y");
}

TYPED_TEST(CheckpointContract, RowGoesWithItsRun) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retention_days = 2;
  const StoredJob job = s.Create("a", definition);
  const RunRow row = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  EXPECT_EQ(this->Save(s, this->SaveOf(row, 1, "x"), fence), SaveVerdict::kKept);
  s.Apply(s.ReportOf(row, RunState::kFailed, kT0 + 3s), fence, kT0 + 4s);
  EXPECT_OK(s.housekeeping.Maintain(kT0 + 24h, {.runs = 240h}));
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), "x");
  EXPECT_OK(s.housekeeping.Maintain(kT0 + 72h, {.runs = 240h}));
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), std::nullopt);
}

// The run is older than the days that MariaDB keeps in partitions of their own.
TYPED_TEST(CheckpointContract, RowOfAPastDayGoesWithItsRun) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow row = this->Running(s, fence);
  EXPECT_EQ(this->Save(s, this->SaveOf(row, 1, "x"), fence), SaveVerdict::kKept);
  s.Apply(s.ReportOf(row, RunState::kCompleted, kT0 + 3s), fence, kT0 + 4s);
  for (int i = 0; i < 2; ++i)
    EXPECT_OK(s.housekeeping.Maintain(kT0 + 20 * 24h, {.runs = 14 * 24h}));
  EXPECT_CODE(s.runs.GetRun(row.key), ErrorCode::kNotFound);
  EXPECT_EQ(s.v(s.checkpoints.ReadCheckpoint(row.key)), std::nullopt);
}

}  // namespace carillon::test
