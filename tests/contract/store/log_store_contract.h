// The contract of LogStore: pieces of logs may arrive in any order, and more than once.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class LogStoreContract : public StoreContract<Factory> {
 protected:
  static RunKey Key(uint64_t schedule = 7) {
    return {.fire = kT0, .schedule_id = ScheduleId(schedule)};
  }
  // Entries "line <seq>\n", alternately on stdout and stderr.
  static LogRecord Piece(uint64_t first, uint32_t count, bool last = false, int attempt = 1) {
    LogRecord record{.key = Key(), .attempt = attempt};
    record.chunk = {.first_seq = first, .count = count, .last = last};
    for (uint64_t seq = first; seq < first + count; ++seq) {
      AppendEntry(record.chunk.entries,
                  {.time = kT0 + Duration(static_cast<int64_t>(seq)),
                   .stream = seq % 2 == 0 ? LogStream::kStderr : LogStream::kStdout,
                   .text = "line " + std::to_string(seq) + "\n"});
    }
    return record;
  }
  static std::vector<uint64_t> Firsts(const std::vector<LogChunk>& chunks) {
    std::vector<uint64_t> firsts;
    for (const LogChunk& chunk : chunks) firsts.push_back(chunk.first_seq);
    return firsts;
  }
  static constexpr size_t kAll = 1u << 20;
};
TYPED_TEST_SUITE(LogStoreContract, StoreFactories);

TYPED_TEST(LogStoreContract, NothingIsThereAtFirst) {
  StoreDriver s = this->driver();
  EXPECT_TRUE(s.v(s.logs.ReadLog(this->Key(), 1, 1, this->kAll)).empty());
  const LogExtent extent = s.v(s.logs.GetLogExtent(this->Key(), 1));
  EXPECT_EQ(extent.last_seq, 0u);
  EXPECT_FALSE(extent.complete);
  EXPECT_OK(s.logs.AppendLogs({}));
}

TYPED_TEST(LogStoreContract, PiecesComeBackAsTheyWere) {
  StoreDriver s = this->driver();
  LogRecord bytes = this->Piece(4, 0, true);
  bytes.chunk.count = 1;
  AppendEntry(bytes.chunk.entries, {.time = kT0, .text = std::string("\0\xff\n'\"\\", 6)});
  ASSERT_OK(s.logs.AppendLogs({this->Piece(1, 3), bytes}));
  const auto chunks = s.v(s.logs.ReadLog(this->Key(), 1, 1, this->kAll));
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[0], this->Piece(1, 3).chunk);
  EXPECT_EQ(chunks[1], bytes.chunk);
  const LogExtent extent = s.v(s.logs.GetLogExtent(this->Key(), 1));
  EXPECT_EQ(extent.last_seq, 4u);
  EXPECT_TRUE(extent.complete);
}

TYPED_TEST(LogStoreContract, OrderAndRepetitionsDoNotMatter) {
  StoreDriver s = this->driver();
  ASSERT_OK(s.logs.AppendLogs({this->Piece(4, 2), this->Piece(1, 3)}));
  LogRecord other = this->Piece(1, 3);
  other.chunk.entries += "never";
  ASSERT_OK(s.logs.AppendLogs({other, this->Piece(6, 1, true), this->Piece(4, 2)}));
  const auto chunks = s.v(s.logs.ReadLog(this->Key(), 1, 1, this->kAll));
  EXPECT_EQ(this->Firsts(chunks), (std::vector<uint64_t>{1, 4, 6}));
  EXPECT_EQ(chunks[0], this->Piece(1, 3).chunk) << "what is there stays as it is";
}

TYPED_TEST(LogStoreContract, ReadingGoesOnFromASeq) {
  StoreDriver s = this->driver();
  ASSERT_OK(s.logs.AppendLogs({this->Piece(1, 3), this->Piece(4, 3), this->Piece(7, 3)}));
  const auto from = [&](uint64_t seq) {
    return this->Firsts(s.v(s.logs.ReadLog(this->Key(), 1, seq, this->kAll)));
  };
  EXPECT_EQ(from(3), (std::vector<uint64_t>{1, 4, 7}));
  EXPECT_EQ(from(4), (std::vector<uint64_t>{4, 7}));
  EXPECT_EQ(from(5), (std::vector<uint64_t>{4, 7}));
  EXPECT_EQ(from(9), (std::vector<uint64_t>{7}));
  EXPECT_EQ(from(10), (std::vector<uint64_t>{}));
  ASSERT_OK(s.logs.AppendLogs({this->Piece(10, 0, true)}));
  EXPECT_EQ(from(10), (std::vector<uint64_t>{10})) << "its end";
  EXPECT_EQ(from(11), (std::vector<uint64_t>{10}));
  EXPECT_EQ(s.v(s.logs.GetLogExtent(this->Key(), 1)).last_seq, 9u);
}

TYPED_TEST(LogStoreContract, ALogIsSettledWhenItsEndAndAllBeforeAreThere) {
  StoreDriver s = this->driver();
  const auto extent = [&] { return s.v(s.logs.GetLogExtent(this->Key(), 1)); };
  ASSERT_OK(s.logs.AppendLogs({this->Piece(1, 3)}));
  EXPECT_EQ(extent().entries, 3u);
  EXPECT_FALSE(extent().settled());
  ASSERT_OK(s.logs.AppendLogs({this->Piece(7, 3, true)}));
  EXPECT_EQ(extent().entries, 6u);
  EXPECT_FALSE(extent().settled());
  ASSERT_OK(s.logs.AppendLogs({this->Piece(4, 3), this->Piece(1, 3, false, 2)}));
  EXPECT_EQ(extent().entries, 9u);
  EXPECT_TRUE(extent().settled());
}

TYPED_TEST(LogStoreContract, ReadingIsBoundedByBytes) {
  StoreDriver s = this->driver();
  ASSERT_OK(s.logs.AppendLogs({this->Piece(1, 3), this->Piece(4, 3), this->Piece(7, 3)}));
  const size_t one = this->Piece(1, 3).chunk.entries.size();
  EXPECT_EQ(this->Firsts(s.v(s.logs.ReadLog(this->Key(), 1, 1, 1))), (std::vector<uint64_t>{1}));
  EXPECT_EQ(this->Firsts(s.v(s.logs.ReadLog(this->Key(), 1, 1, 2 * one))),
            (std::vector<uint64_t>{1, 4}));
}

TYPED_TEST(LogStoreContract, AttemptsAndRunsHaveLogsOfTheirOwn) {
  StoreDriver s = this->driver();
  LogRecord elsewhere = this->Piece(1, 5);
  elsewhere.key = this->Key(8);
  ASSERT_OK(s.logs.AppendLogs({this->Piece(1, 3), this->Piece(1, 1, true, 2), elsewhere}));
  EXPECT_EQ(s.v(s.logs.GetLogExtent(this->Key(), 1)).last_seq, 3u);
  EXPECT_EQ(s.v(s.logs.GetLogExtent(this->Key(), 2)).last_seq, 1u);
  EXPECT_EQ(s.v(s.logs.GetLogExtent(this->Key(8), 1)).last_seq, 5u);
}

TYPED_TEST(LogStoreContract, LogGoesWithTheDayOfItsRun) {
  StoreDriver s = this->driver();
  LogRecord old = this->Piece(1, 1);
  old.key.fire = kT0 - 24h * 10;
  ASSERT_OK(s.housekeeping.Maintain(kT0 - 24h * 10, {.runs = 24h * 30}));
  ASSERT_OK(s.logs.AppendLogs({old, this->Piece(1, 1)}));
  ASSERT_OK(s.housekeeping.Maintain(kT0, {.runs = 24h * 7}));
  EXPECT_EQ(s.v(s.logs.GetLogExtent(old.key, 1)).last_seq, 0u);
  EXPECT_EQ(s.v(s.logs.GetLogExtent(this->Key(), 1)).last_seq, 1u);
}

TYPED_TEST(LogStoreContract, APieceIsOfAnAttemptOnlyUnderItsTokenOrOfItsExecutor) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retry_count = 1;
  const StoredJob job = s.Create("a", definition);
  const RunRow planned = s.Execute(job, kT0);
  const RunRow first = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  const auto of = [](const RunRow& row, const ExecutorId& executor) {
    return LogOrigin{
        .key = row.key, .attempt = row.attempt, .token = row.claim_token, .executor = executor};
  };
  const ExecutorId evil("evil");
  LogOrigin guessed = of(first, first.executor);
  guessed.token.low += 1;
  LogOrigin later = of(first, first.executor);
  later.attempt = 2;
  LogOrigin unknown = of(first, first.executor);
  unknown.key.shard = 77;
  using Places = std::vector<size_t>;
  EXPECT_EQ(s.v(s.logs.FindForeign({})), Places());
  EXPECT_EQ(s.v(s.logs.FindForeign(
                {guessed, of(first, first.executor), later, unknown, of(planned, evil)})),
            (Places{0, 2, 3, 4}));
  // Of an earlier attempt only the executor is known.
  s.Apply(s.ReportOf(first, RunState::kFailed, kT0 + 3s), fence, kT0 + 4s);
  EXPECT_EQ(s.v(s.logs.FindForeign({of(first, evil), of(first, first.executor)})), Places{0});
  const RunRow second = s.Start(s.Get(first.key).row, 2, fence, kT0 + 1h);
  EXPECT_EQ(s.v(s.logs.FindForeign(
                {of(second, second.executor), of(first, first.executor), of(first, evil)})),
            Places{2});
  s.Apply(s.ReportOf(second, RunState::kCompleted, kT0 + 2h), fence, kT0 + 2h);
  EXPECT_EQ(s.v(s.logs.FindForeign({of(second, second.executor)})), Places());
}

}  // namespace carillon::test
