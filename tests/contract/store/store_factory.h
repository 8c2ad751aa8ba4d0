// The store of the test program, for the suites of store_contracts.cc. The program defines it, as
// tests/contract/memory/store_test.cc does.
#pragma once

#include <memory>

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

// An empty store with kSegments segments. Handles are destroyed before their factory.
class StoreFactory {
 public:
  StoreFactory();
  ~StoreFactory();
  StoreFactory(const StoreFactory&) = delete;
  StoreFactory& operator=(const StoreFactory&) = delete;

  // A handle on the store. May be called again, for a restart or for a concurrent writer.
  std::unique_ptr<StoreHandle> Open();

 private:
  struct Store;
  std::unique_ptr<Store> store_;
};

}  // namespace carillon::test
