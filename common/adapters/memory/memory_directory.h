// The executor's view of a MemoryEnsemble; the counterpart of zookeeper_directory.
//
// Threads  Thread-safe. The MemoryEnsemble must outlive the directory.
#pragma once

#include <memory>

#include "common/adapters/memory/memory_coordinator.h"
#include "common/ports/member_directory.h"

namespace carillon::memory {

std::unique_ptr<MemberDirectory> NewDirectory(MemoryEnsemble& ensemble);

}  // namespace carillon::memory
