// The contract of writes that store the answer for their Idempotency-Key in the same transaction.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class KeyedWriteContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(KeyedWriteContract, StoreFactories);

TYPED_TEST(KeyedWriteContract, ExecuteSettlesItsRequestOrMakesNoRun) {
  StoreDriver s = this->driver();
  const StoredJob job = s.Create("a", s.Manual());
  const KeyedAnswer<CreatedRun> keyed{
      .scope = "POST execute", .key = "k", .answer = [](const CreatedRun& run) {
        return StoredAnswer{202, EncodeRunId(run.key), "/there", ""};
      }};
  const ExecuteRequest request{.job_id = job.job_id, .keyed = keyed};
  EXPECT_CODE(s.runs.ExecuteJob(request, {.now = kT0}), ErrorCode::kConflict);  // never begun
  s.v(s.idempotency.BeginRequest(keyed.scope, keyed.key, "f", kT0));
  const CreatedRun created = s.v(s.runs.ExecuteJob(request, {.now = kT0}));
  const RequestLookup replay =
      s.v(s.idempotency.BeginRequest(keyed.scope, keyed.key, "f", kT0 + 2min));
  EXPECT_EQ(replay.state, RequestState::kReplay);
  EXPECT_EQ(replay.answer.status, 202);
  EXPECT_EQ(replay.answer.body, EncodeRunId(created.key));
  EXPECT_EQ(replay.answer.location, "/there");
  // A late repetition of the request, which took the key over, changes nothing.
  EXPECT_CODE(s.runs.ExecuteJob(request, {.now = kT0 + 1s}), ErrorCode::kConflict);
  ASSERT_OK(s.idempotency.AbandonRequest(keyed.scope, keyed.key));
  EXPECT_EQ(s.v(s.idempotency.BeginRequest(keyed.scope, keyed.key, "f", kT0 + 2min)).state,
            RequestState::kReplay);
  EXPECT_EQ(s.v(s.runs.ListRuns({}, kT0 + 1h)).runs.size(), 1u);
}

TYPED_TEST(KeyedWriteContract, RetryByHandSettlesItsRequestOrChangesNothing) {
  StoreDriver s = this->driver();
  const RunRow run = s.Execute(s.Create("a", s.Manual()), kT0);
  s.v(s.runs.CancelRun(run.key, {.now = kT0 + 1s}));
  const KeyedAnswer<RunDetail> keyed{
      .scope = "POST retry", .key = "k", .answer = [](const RunDetail& retried) {
        return StoredAnswer{202, std::to_string(retried.row.attempt), "", ""};
      }};
  const RetryRequest request{.key = run.key, .keyed = keyed};
  EXPECT_CODE(s.runs.RetryRun(request, {.now = kT0 + 2s}), ErrorCode::kConflict);  // never begun
  EXPECT_EQ(s.Get(run.key).row.state, RunState::kCancelled);
  s.v(s.idempotency.BeginRequest(keyed.scope, keyed.key, "f", kT0));
  EXPECT_EQ(s.v(s.runs.RetryRun(request, {.now = kT0 + 2s})).row.attempt, 2);
  const RequestLookup replay =
      s.v(s.idempotency.BeginRequest(keyed.scope, keyed.key, "f", kT0 + 3s));
  EXPECT_EQ(replay.state, RequestState::kReplay);
  EXPECT_EQ(replay.answer.body, "2");
  // The same request arrives again, late. The run could be retried again, but must not be.
  s.v(s.runs.CancelRun(run.key, {.now = kT0 + 4s}));
  EXPECT_CODE(s.runs.RetryRun(request, {.now = kT0 + 5s}), ErrorCode::kConflict);
  EXPECT_EQ(s.Get(run.key).row.attempt, 2);
}

}  // namespace carillon::test
