// The contract of IdempotencyStore.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class IdempotencyStoreContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(IdempotencyStoreContract, StoreFactories);

TYPED_TEST(IdempotencyStoreContract, RepeatedRequestGetsTheFirstAnswer) {
  StoreDriver s = this->driver();
  const StoredAnswer answer{201, R"({"job_id":"a"})", "/api/jobs/a", "\"1\""};
  EXPECT_EQ(s.v(s.idempotency.BeginRequest("POST /jobs", "k", "f", kT0)).state, RequestState::kNew);
  EXPECT_EQ(s.v(s.idempotency.BeginRequest("POST /jobs", "k", "f", kT0 + 1s)).state,
            RequestState::kInFlight);
  ASSERT_OK(s.idempotency.FinishRequest("POST /jobs", "k", answer));
  const RequestLookup replay = s.v(s.idempotency.BeginRequest("POST /jobs", "k", "f", kT0 + 2s));
  EXPECT_EQ(replay.state, RequestState::kReplay);
  EXPECT_EQ(replay.answer.status, 201);
  EXPECT_EQ(replay.answer.body, answer.body);
  EXPECT_EQ(replay.answer.location, answer.location);
  EXPECT_EQ(replay.answer.etag, answer.etag);
  EXPECT_EQ(s.v(s.idempotency.BeginRequest("POST /jobs", "k", "other", kT0 + 2s)).state,
            RequestState::kMismatch);
  EXPECT_EQ(s.v(s.idempotency.BeginRequest("PUT /jobs/a", "k", "f", kT0 + 2s)).state,
            RequestState::kNew);
}

TYPED_TEST(IdempotencyStoreContract, AbandonedDeadAndExpiredRequestsStartAnew) {
  StoreDriver s = this->driver();
  s.v(s.idempotency.BeginRequest("s", "abandoned", "f", kT0));
  ASSERT_OK(s.idempotency.AbandonRequest("s", "abandoned"));
  EXPECT_EQ(s.v(s.idempotency.BeginRequest("s", "abandoned", "f", kT0 + 1s)).state,
            RequestState::kNew);
  s.v(s.idempotency.BeginRequest("s", "dead", "f", kT0));
  EXPECT_EQ(s.v(s.idempotency.BeginRequest("s", "dead", "f", kT0 + 61s)).state, RequestState::kNew);
  EXPECT_EQ(s.v(s.idempotency.BeginRequest("s", "dead", "f", kT0 + 62s)).state,
            RequestState::kInFlight);
  s.v(s.idempotency.BeginRequest("s", "old", "f", kT0));
  ASSERT_OK(s.idempotency.FinishRequest("s", "old", {200, "x", "", ""}));
  EXPECT_EQ(s.v(s.idempotency.BeginRequest("s", "old", "f", kT0 + 23h)).state,
            RequestState::kReplay);
  EXPECT_EQ(s.v(s.idempotency.BeginRequest("s", "old", "f", kT0 + 24h + 1s)).state,
            RequestState::kNew);
}

}  // namespace carillon::test
