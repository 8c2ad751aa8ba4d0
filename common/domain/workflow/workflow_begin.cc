#include "common/domain/workflow/workflow_begin.h"

#include "common/base/failpoint.h"
#include "common/domain/run/dependents.h"
#include "common/domain/run/run_kind.h"

namespace carillon {

std::string_view Name(BeginKind kind) {
  switch (kind) {
    case BeginKind::kFirst: return "first";
    case BeginKind::kContinued: return "continued";
    case BeginKind::kAnew: return "anew";
  }
  return "";
}

BeginKind KindOfBegin(const RunRow& own, bool begun) {
  if (!begun) return BeginKind::kFirst;
  if (failpoint::Broken("begin.never_anew")) return BeginKind::kContinued;
  if (failpoint::Broken("begin.always_anew")) return BeginKind::kAnew;
  return (own.flags & run_flag::kAnew) != 0 ? BeginKind::kAnew : BeginKind::kContinued;
}

uint32_t FlagsOfNode(const RunRow& own, bool has_dependents) {
  const uint32_t origin = failpoint::Broken("node.origin") ? 0 : own.flags & run_flag::kBackground;
  const uint32_t by_hand = ByHandFlag(own.kind, own.flags);
  const uint32_t flags = run_flag::kNode | run_flag::kHasRequest | origin | by_hand;
  return flags | EndFlags(RunKind::kWorkflow, flags, has_dependents);
}

}  // namespace carillon
