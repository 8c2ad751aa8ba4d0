#include "scheduler/assign/bisect.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace carillon::scheduler {
namespace {

class BisectTest : public ::testing::Test {
 protected:
  BisectTest() { std::iota(items_.begin(), items_.end(), 0); }
  // The store refuses each batch with one of `bad_`.
  Status Run(ErrorCode refusal) {
    return Bisect(
        std::span<int>(items_),
        [&](std::span<int> some) -> Status {
          for (const int item : some) {
            if (bad_.contains(item)) return {refusal, "refused"};
          }
          written_.insert(some.begin(), some.end());
          return {};
        },
        [&](int item, const Error&) { refused_.insert(item); });
  }

  std::vector<int> items_ = std::vector<int>(10);
  std::set<int> bad_;
  std::set<int> written_;
  std::set<int> refused_;
};

TEST_F(BisectTest, OnlyBadItemsAreRefused) {
  bad_ = {0, 6};
  EXPECT_TRUE(Run(ErrorCode::kInvalid).ok());
  EXPECT_EQ(refused_, bad_);
  EXPECT_EQ(written_, (std::set<int>{1, 2, 3, 4, 5, 7, 8, 9}));
}

TEST_F(BisectTest, AStoreThatIsAwayIsNotAskedAgain) {
  bad_ = {3};
  EXPECT_EQ(Run(ErrorCode::kUnavailable).code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(refused_.empty());
  EXPECT_TRUE(written_.empty());
}

TEST_F(BisectTest, TellsErrorsOfItemsFromThoseOfTheStore) {
  for (const ErrorCode code : {ErrorCode::kInvalid, ErrorCode::kExhausted, ErrorCode::kCorrupt}) {
    EXPECT_TRUE(ItemIsBad(code) && AboutOneItem(code)) << ErrorCodeName(code);
  }
  for (const ErrorCode code : {ErrorCode::kConflict, ErrorCode::kExists}) {
    EXPECT_TRUE(!ItemIsBad(code) && AboutOneItem(code)) << ErrorCodeName(code);
  }
  for (const ErrorCode code : {ErrorCode::kFenced, ErrorCode::kUnavailable, ErrorCode::kTimeout,
                               ErrorCode::kBrokenStore, ErrorCode::kNotFound}) {
    EXPECT_FALSE(AboutOneItem(code)) << ErrorCodeName(code);
  }
}

}  // namespace
}  // namespace carillon::scheduler
