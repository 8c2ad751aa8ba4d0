// The contract of SchemaStore.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class SchemaStoreContract : public StoreContract<Factory> {
 protected:
  SchemaLevels Levels() { return StoreDriver::v(this->driver().schema.ReadLevels()); }
  std::unique_ptr<SchemaHold> Hold() { return StoreDriver::v(this->driver().schema.Hold()); }
};
TYPED_TEST_SUITE(SchemaStoreContract, StoreFactories);

TYPED_TEST(SchemaStoreContract, NewStoreIsFinished) {
  const SchemaLevels levels = this->Levels();
  EXPECT_GE(levels.applied, kFirstSchema);
  EXPECT_EQ(levels.known, levels.applied);
  EXPECT_EQ(levels.finished, levels.applied);
}

TYPED_TEST(SchemaStoreContract, OneHoldAtATime) {
  const auto other = this->OpenSecond();
  auto hold = this->Hold();
  EXPECT_CODE(other->schema().Hold(), ErrorCode::kUnavailable);
  hold.reset();
  EXPECT_OK(other->schema().Hold());
}

TYPED_TEST(SchemaStoreContract, OnlyFinishRaisesTheLevel) {
  const SchemaLevels fresh = this->Levels();
  this->handle().SetSchema(fresh.applied, 0);
  const SchemaLevels unfinished = this->Levels();
  EXPECT_EQ(unfinished, (SchemaLevels{fresh.known, fresh.applied, 0}));
  this->Hold().reset();  // as if the member was killed before the write
  EXPECT_EQ(this->Levels(), unfinished);
  EXPECT_OK(this->Hold()->Finish());
  EXPECT_EQ(this->Levels(), fresh);
  EXPECT_OK(this->Hold()->Finish());
  EXPECT_EQ(this->Levels(), fresh) << "a repeated finish changes nothing";
}

TYPED_TEST(SchemaStoreContract, OlderProgramDoesNotFinish) {
  const SchemaLevels fresh = this->Levels();
  this->handle().SetSchema(fresh.known + 1, fresh.known);
  const SchemaLevels upgraded = this->Levels();
  EXPECT_EQ(upgraded, (SchemaLevels{fresh.known, fresh.known + 1, fresh.known}));
  EXPECT_CODE(this->Hold()->Finish(), ErrorCode::kConflict);
  EXPECT_EQ(this->Levels(), upgraded);
}

}  // namespace carillon::test
