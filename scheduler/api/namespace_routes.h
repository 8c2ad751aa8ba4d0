// The namespaces that are in use.
#pragma once

#include "scheduler/api/call.h"

namespace carillon::scheduler {

Reply ListNamespaces(const Call& call);

// 400: what is at `pointer` is no namespace.
Problem BadNamespace(const std::string& pointer);

}  // namespace carillon::scheduler
