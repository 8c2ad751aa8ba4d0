// The namespaces that are in use.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListNamespaces(const Call& call);

}  // namespace carillon::scheduler
