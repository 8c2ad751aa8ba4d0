// Handler of /api/namespaces, which lists the namespaces in use.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListNamespaces(const Call& call);

}  // namespace carillon::scheduler
