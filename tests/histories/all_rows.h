// Reads every row that the ports of a store show. On paired stores, this compares them.
#pragma once

#include "common/ports/store/stores.h"

namespace carillon::test {

void ReadAllRows(const Stores& stores, WallTime now);

}  // namespace carillon::test
