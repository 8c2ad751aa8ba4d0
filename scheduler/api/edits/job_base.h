// The stored job on which a write is based.
#pragma once

#include "common/ports/store/job_store.h"
#include "scheduler/api/call/ownership.h"

namespace carillon::scheduler {

// If the definition cannot be decoded, `definition` has only the owner, the namespace and
// `enabled`; the job can still be replaced and deleted.
struct JobBase {
  StoredJob job;
  bool readable = true;
};
JobAccessScope ScopeOf(const JobBase& base);
// Null if there is no job, or its definition cannot be decoded.
inline const JobDefinition* DefinitionOf(const JobBase* base) {
  return base != nullptr && base->readable ? &base->job.definition : nullptr;
}

}  // namespace carillon::scheduler
