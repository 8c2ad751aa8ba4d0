// The contract of SettingsStore.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class SettingsStoreContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(SettingsStoreContract, StoreFactories);

TYPED_TEST(SettingsStoreContract, NewStoreHasNoSettings) {
  StoreDriver s = this->driver();
  EXPECT_EQ(s.v(s.settings.ReadSettings()).version, 0);
  EXPECT_TRUE(s.v(s.settings.ReadSettings()).values.empty());
}

TYPED_TEST(SettingsStoreContract, SettingsAreReplacedAtTheVersionThatWasReadOnly) {
  StoreDriver s = this->driver();
  const std::map<std::string, std::string> first = {{"executor.slots", "3"},
                                                    {"log.level", "\xe2\x82\xac"}};
  const ClusterSettings written = s.v(s.settings.WriteSettings(0, {.version = 1, .values = first}));
  EXPECT_EQ(written, (ClusterSettings{.version = 1, .values = first}));
  EXPECT_EQ(s.v(s.settings.ReadSettings()), written);
  ClusterSettings next{.version = 3, .values = {{"log.level", "debug"}}};
  EXPECT_CODE(s.settings.WriteSettings(0, next), ErrorCode::kConflict);
  EXPECT_CODE(s.settings.WriteSettings(2, next), ErrorCode::kConflict);
  EXPECT_EQ(s.v(s.settings.ReadSettings()), written) << "nothing of a refused one stays";
  EXPECT_EQ(s.v(s.settings.WriteSettings(1, next)), next) << "versions may be left out";
  s.v(s.settings.WriteSettings(3, {.version = 4}));
  EXPECT_EQ(s.v(s.settings.ReadSettings()), (ClusterSettings{.version = 4}));
  s.v(s.settings.WriteSettings(4, {.version = 9, .values = first}));
  this->Reopen();
  StoreDriver reopened = this->driver();
  EXPECT_EQ(reopened.v(reopened.settings.ReadSettings()),
            (ClusterSettings{.version = 9, .values = first}));
}

}  // namespace carillon::test
