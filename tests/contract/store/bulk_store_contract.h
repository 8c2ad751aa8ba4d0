// The contract of BulkStore.
#pragma once

#include <map>

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class BulkStoreContract : public StoreContract<Factory> {
 protected:
  static BulkOrder Order(const std::string& id, const std::string& user = "user-anna") {
    return {.bulk_id = id,
            .action = "cancel",
            .kind = "run",
            .reason = "moving 例",
            .confirm_overlap = true,
            .cancel_mode = CancelMode::kKill,
            .actor = "anna",
            .user_id = user,
            .token_id = "tok-1",
            .role = "user",
            .trace_id = "0123456789abcdef0123456789abcdef",
            .created = kT0};
  }
  static std::vector<std::string> Ids(int count) {
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i) ids.push_back("j" + std::to_string(i));
    return ids;
  }
  static BulkAction Create(StoreDriver& s, const std::string& id, int items) {
    return s.v(s.bulk.CreateBulk(Order(id), Ids(items), {}));
  }
  static BulkLease Take(StoreDriver& s, WallTime now) {
    const auto taken = s.v(s.bulk.TakeBulk(now, now + 20s));
    EXPECT_TRUE(taken.has_value());
    return taken ? taken->lease : BulkLease{};
  }
  static BulkItem Done(int64_t position, const std::string& run_id = "") {
    return {.position = position, .id = {}, .result = BulkResult::kDone, .run_id = run_id};
  }
  static BulkItem Failed(int64_t position, const std::string& error = "{\"code\":\"x 例\\\\\"}") {
    return {.position = position, .id = {}, .result = BulkResult::kError, .error_json = error};
  }
  static std::map<BulkResult, int> Results(StoreDriver& s, const std::string& id) {
    std::map<BulkResult, int> results;
    for (const BulkItem& item : s.v(s.bulk.ListBulkItems(id, {.limit = 1000}))) {
      ++results[item.result];
    }
    return results;
  }
  static std::vector<std::string> Listed(StoreDriver& s, const BulkFilter& filter) {
    std::vector<std::string> ids;
    for (const BulkAction& action : s.v(s.bulk.ListBulk(filter))) {
      ids.push_back(action.order.bulk_id);
    }
    return ids;
  }
};
using Texts = std::vector<std::string>;
TYPED_TEST_SUITE(BulkStoreContract, StoreFactories);

TYPED_TEST(BulkStoreContract, AnActionIsThereWithAllItsItems) {
  StoreDriver s = this->driver();
  const std::vector<std::string> ids = {"a", "例", "with \"quotes\"\\"};
  const BulkAction made = s.v(s.bulk.CreateBulk(this->Order("b1"), ids, {}));
  EXPECT_EQ(made.total, 3);
  EXPECT_EQ(made.state, BulkState::kRunning);
  EXPECT_FALSE(HasEnded(made));
  const BulkAction found = s.v(s.bulk.GetBulk("b1"));
  EXPECT_EQ(found.order, this->Order("b1"));
  EXPECT_EQ(found.number, made.number);
  EXPECT_EQ(found.updated, kT0);
  const auto items = s.v(s.bulk.ListBulkItems("b1", {}));
  ASSERT_EQ(items.size(), 3u);
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(items[i].position, static_cast<int64_t>(i));
    EXPECT_EQ(items[i].id, ids[i]);
    EXPECT_EQ(items[i].result, BulkResult::kPending);
    EXPECT_FALSE(items[i].begun);
  }
  EXPECT_CODE(s.bulk.CreateBulk(this->Order("b1"), ids, {}), ErrorCode::kExists);
  EXPECT_CODE(s.bulk.GetBulk("b2"), ErrorCode::kNotFound);
  EXPECT_CODE(s.bulk.GetBulk("bé"), ErrorCode::kNotFound);
  EXPECT_CODE(s.bulk.ListBulkItems("b2", {}), ErrorCode::kNotFound);
  EXPECT_CODE(s.bulk.CancelBulk("b2", kT0), ErrorCode::kNotFound);
}

TYPED_TEST(BulkStoreContract, OneWithoutItemsHasEnded) {
  StoreDriver s = this->driver();
  const BulkAction none = this->Create(s, "none", 0);
  EXPECT_EQ(none.state, BulkState::kDone);
  EXPECT_EQ(s.v(s.bulk.GetBulk("none")).ended, kT0);
  EXPECT_FALSE(s.v(s.bulk.TakeBulk(kT0 + 1s, kT0 + 2s)).has_value());
}

TYPED_TEST(BulkStoreContract, AsManyAsThereMayBeAreWritten) {
  StoreDriver s = this->driver();
  const auto ids = this->Ids(kBulkStoredItemsMax);
  EXPECT_EQ(s.v(s.bulk.CreateBulk(this->Order("large"), ids, {})).total, 20'000);
  const auto last = s.v(s.bulk.ListBulkItems("large", {.after_position = 19'997}));
  ASSERT_EQ(last.size(), 2u);
  EXPECT_EQ(last[1].id, "j19999");
}

TYPED_TEST(BulkStoreContract, TheAnswerOfItsKeyComesWithIt) {
  StoreDriver s = this->driver();
  const KeyedAnswer<BulkAction> keyed{
      .scope = "s", .key = "k", .answer = [](const BulkAction& action) {
        return StoredAnswer{
            .status = 202, .body = action.order.bulk_id, .location = {}, .etag = {}};
      }};
  s.v(s.idempotency.BeginRequest("s", "k", "f", kT0));
  s.v(s.bulk.CreateBulk(this->Order("b1"), this->Ids(2), keyed));
  const RequestLookup again = s.v(s.idempotency.BeginRequest("s", "k", "f", kT0));
  EXPECT_EQ(again.state, RequestState::kReplay);
  EXPECT_EQ(again.answer.body, "b1");
  EXPECT_CODE(s.bulk.CreateBulk(this->Order("b2"), this->Ids(2), keyed), ErrorCode::kConflict);
  EXPECT_CODE(s.bulk.GetBulk("b2"), ErrorCode::kNotFound);
}

TYPED_TEST(BulkStoreContract, AUserHasSoManyOpenAtOnce) {
  StoreDriver s = this->driver();
  for (int64_t i = 0; i < kBulkOpenMax; ++i) this->Create(s, "b" + std::to_string(i), 1);
  EXPECT_CODE(s.bulk.CreateBulk(this->Order("more"), {"j"}, {}), ErrorCode::kExhausted);
  s.v(s.bulk.CreateBulk(this->Order("other", "user-bert"), {"j"}, {}));
  s.v(s.bulk.CancelBulk("b0", kT0));
  this->Create(s, "more", 1);
}

TYPED_TEST(BulkStoreContract, TheyAreListedInPagesAndByWhatTheyAre) {
  StoreDriver s = this->driver();
  for (const char* id : {"a", "b", "c"}) this->Create(s, id, 1);
  s.v(s.bulk.CreateBulk(this->Order("d", "user-bert"), {"j"}, {}));
  s.v(s.bulk.CancelBulk("b", kT0 + 1s));
  EXPECT_EQ(this->Listed(s, {.limit = 2}), (Texts{"d", "c"}));
  const uint64_t third = s.v(s.bulk.GetBulk("c")).number;
  EXPECT_EQ(this->Listed(s, {.before_number = third}), (Texts{"b", "a"}));
  EXPECT_EQ(this->Listed(s, {.state = BulkState::kCancelled}), (Texts{"b"}));
  EXPECT_EQ(this->Listed(s, {.user_id = "user-bert"}), (Texts{"d"}));
  EXPECT_EQ(this->Listed(s, {.open = true}), (Texts{"d", "c", "a"}));
}

TYPED_TEST(BulkStoreContract, ItemsAreDoneUnderALease) {
  StoreDriver s = this->driver();
  this->Create(s, "b1", 5);
  const BulkLease lease = this->Take(s, kT0 + 1s);
  EXPECT_EQ(lease.bulk_id, "b1");
  EXPECT_FALSE(s.v(s.bulk.TakeBulk(kT0 + 20s, kT0 + 40s)).has_value());
  const auto begun = s.v(s.bulk.BeginBulkItems(lease, 2, kT0 + 2s, kT0 + 22s));
  ASSERT_EQ(begun.size(), 3u);
  EXPECT_EQ(begun[2].id, "j2");
  EXPECT_FALSE(begun[0].begun);
  BulkAction action = s.v(
      s.bulk.RecordBulkItems(lease, {this->Done(0, "R0"), this->Failed(1)}, kT0 + 3s, kT0 + 23s));
  EXPECT_EQ(action.done, 1);
  EXPECT_EQ(action.failed, 1);
  EXPECT_EQ(action.updated, kT0 + 3s);
  const auto items = s.v(s.bulk.ListBulkItems("b1", {}));
  EXPECT_EQ(items[0].result, BulkResult::kDone);
  EXPECT_EQ(items[0].run_id, "R0");
  EXPECT_EQ(items[0].error_json, "");
  EXPECT_EQ(items[1].error_json, this->Failed(1).error_json);
  EXPECT_TRUE(items[2].begun);
  EXPECT_FALSE(items[3].begun);
  const auto pending = s.v(s.bulk.ListBulkItems("b1", {.result = BulkResult::kPending}));
  ASSERT_EQ(pending.size(), 3u);
  EXPECT_EQ(pending[0].position, 2);
  // Items 0 and 1 are recorded again with different results: the first results are kept.
  action = s.v(s.bulk.RecordBulkItems(lease, {this->Failed(0), this->Done(1), this->Done(2)},
                                      kT0 + 4s, kT0 + 24s));
  EXPECT_EQ(action.done, 2);
  EXPECT_EQ(action.failed, 1);
  EXPECT_FALSE(HasEnded(action));
  s.v(s.bulk.BeginBulkItems(lease, 4, kT0 + 5s, kT0 + 25s));
  action = s.v(s.bulk.RecordBulkItems(lease, {this->Done(3), this->Done(4)}, kT0 + 6s, kT0 + 26s));
  EXPECT_EQ(action.state, BulkState::kDone);
  EXPECT_EQ(action.ended, kT0 + 6s);
  EXPECT_EQ(s.v(s.bulk.GetBulk("b1")).ended, kT0 + 6s);
  EXPECT_FALSE(s.v(s.bulk.TakeBulk(kT0 + 1h, kT0 + 2h)).has_value());
  EXPECT_EQ(s.v(s.bulk.CancelBulk("b1", kT0 + 7s)).state, BulkState::kDone);
}

TYPED_TEST(BulkStoreContract, WhoLosesTheLeaseWritesNothing) {
  StoreDriver s = this->driver();
  this->Create(s, "b1", 4);
  const BulkLease old = this->Take(s, kT0 + 1s);
  s.v(s.bulk.BeginBulkItems(old, 1, kT0 + 1s, kT0 + 10s));
  // An expired lease is still valid until another member takes it.
  s.v(s.bulk.RecordBulkItems(old, {this->Done(0)}, kT0 + 30s, kT0 + 31s));
  EXPECT_FALSE(s.v(s.bulk.TakeBulk(kT0 + 30s, kT0 + 60s)).has_value());
  const BulkLease next = this->Take(s, kT0 + 32s);
  EXPECT_GT(next.number, old.number);
  EXPECT_CODE(s.bulk.RecordBulkItems(old, {this->Done(1)}, kT0 + 33s, kT0 + 53s),
              ErrorCode::kFenced);
  EXPECT_CODE(s.bulk.RecordBulkItems(old, {}, kT0 + 33s, kT0 + 53s), ErrorCode::kFenced);
  EXPECT_CODE(s.bulk.BeginBulkItems(old, 3, kT0 + 33s, kT0 + 53s), ErrorCode::kFenced);
  EXPECT_CODE(s.bulk.StopBulk(old, "x", "{}", kT0 + 33s), ErrorCode::kFenced);
  EXPECT_CODE(s.bulk.RecordBulkItems({"gone", 1}, {}, kT0, kT0 + 1s), ErrorCode::kFenced);
  ASSERT_OK(s.bulk.ReleaseBulk(old));
  EXPECT_FALSE(s.v(s.bulk.TakeBulk(kT0 + 34s, kT0 + 60s)).has_value());
  // The next owner is told which items may have been executed.
  const auto begun = s.v(s.bulk.BeginBulkItems(next, 2, kT0 + 34s, kT0 + 54s));
  ASSERT_EQ(begun.size(), 2u);
  EXPECT_EQ(begun[0].position, 1);
  EXPECT_TRUE(begun[0].begun);
  EXPECT_FALSE(begun[1].begun);
  ASSERT_OK(s.bulk.ReleaseBulk(next));
  EXPECT_EQ(this->Take(s, kT0 + 35s).number, next.number + 1);
}

TYPED_TEST(BulkStoreContract, TheOneThatWaitedLongestIsTaken) {
  StoreDriver s = this->driver();
  for (const char* id : {"a", "b"}) this->Create(s, id, 2);
  const BulkLease a = this->Take(s, kT0 + 1s);
  EXPECT_EQ(a.bulk_id, "a");
  s.v(s.bulk.RecordBulkItems(a, {this->Done(0)}, kT0 + 2s, kT0 + 22s));
  ASSERT_OK(s.bulk.ReleaseBulk(a));
  EXPECT_EQ(this->Take(s, kT0 + 3s).bulk_id, "b");
  EXPECT_EQ(this->Take(s, kT0 + 3s).bulk_id, "a");
}

TYPED_TEST(BulkStoreContract, ACancelSkipsWhatNobodyBegan) {
  StoreDriver s = this->driver();
  this->Create(s, "b1", 6);
  const BulkLease lease = this->Take(s, kT0 + 1s);
  s.v(s.bulk.BeginBulkItems(lease, 2, kT0 + 1s, kT0 + 21s));
  s.v(s.bulk.RecordBulkItems(lease, {this->Done(0)}, kT0 + 2s, kT0 + 22s));
  const BulkAction cancelled = s.v(s.bulk.CancelBulk("b1", kT0 + 3s));
  EXPECT_EQ(cancelled.state, BulkState::kCancelled);
  EXPECT_EQ(cancelled.skipped, 3);
  EXPECT_FALSE(HasEnded(cancelled));
  EXPECT_EQ(s.v(s.bulk.CancelBulk("b1", kT0 + 4s)).skipped, 3);
  // Skipped items are never begun, and their result does not change.
  EXPECT_EQ(s.v(s.bulk.BeginBulkItems(lease, 5, kT0 + 4s, kT0 + 24s)).size(), 2u);
  const BulkAction ended = s.v(s.bulk.RecordBulkItems(
      lease, {this->Done(1), this->Failed(2), this->Done(3)}, kT0 + 5s, kT0 + 25s));
  EXPECT_EQ(ended.state, BulkState::kCancelled);
  EXPECT_EQ(ended.ended, kT0 + 5s);
  EXPECT_EQ(ended.done + ended.failed + ended.skipped, ended.total);
  EXPECT_EQ(this->Results(s, "b1")[BulkResult::kSkipped], 3);
  // An action that was not begun ends as soon as it is cancelled.
  this->Create(s, "b2", 2);
  EXPECT_TRUE(HasEnded(s.v(s.bulk.CancelBulk("b2", kT0 + 6s))));
}

TYPED_TEST(BulkStoreContract, AStopTellsWhatMayHaveBeenDone) {
  StoreDriver s = this->driver();
  this->Create(s, "b1", 4);
  const BulkLease lease = this->Take(s, kT0 + 1s);
  s.v(s.bulk.BeginBulkItems(lease, 1, kT0 + 1s, kT0 + 21s));
  s.v(s.bulk.RecordBulkItems(lease, {this->Done(0)}, kT0 + 2s, kT0 + 22s));
  const BulkAction stopped = s.v(s.bulk.StopBulk(lease, "gone", "{\"code\":\"u\"}", kT0 + 3s));
  EXPECT_EQ(stopped.state, BulkState::kStopped);
  EXPECT_EQ(stopped.error, "gone");
  EXPECT_EQ(stopped.done, 1);
  EXPECT_EQ(stopped.failed, 1);
  EXPECT_EQ(stopped.skipped, 2);
  EXPECT_EQ(s.v(s.bulk.GetBulk("b1")).ended, kT0 + 3s);
  EXPECT_EQ(s.v(s.bulk.ListBulkItems("b1", {}))[1].error_json, "{\"code\":\"u\"}");
  EXPECT_EQ(s.v(s.bulk.CancelBulk("b1", kT0 + 4s)).state, BulkState::kStopped);
}

TYPED_TEST(BulkStoreContract, TheyAreKeptForAWhileAfterTheirEnd) {
  StoreDriver s = this->driver();
  this->Create(s, "old", 3);
  this->Create(s, "open", 3);
  s.v(s.bulk.CancelBulk("old", kT0 + 1h));
  s.v(s.housekeeping.Maintain(kT0 + 1h + kBulkKept, {.runs = 24h * 14}));
  EXPECT_EQ(s.v(s.bulk.GetBulk("old")).total, 3);
  s.v(s.housekeeping.Maintain(kT0 + 2h + kBulkKept, {.runs = 24h * 14}));
  EXPECT_CODE(s.bulk.GetBulk("old"), ErrorCode::kNotFound);
  EXPECT_EQ(s.v(s.bulk.ListBulkItems("open", {})).size(), 3u);
}

}  // namespace carillon::test
