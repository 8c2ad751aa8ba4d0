// The driver of the contract of events, for tests that are no cases of the contract.
#pragma once

#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {

// The headers of the drivers name the stores on which the cases run, of which there are none here.
using StoreFactories = ::testing::Types<MysqlHandle>;

}  // namespace carillon::test

#include "tests/contract/store/event_driver.h"
