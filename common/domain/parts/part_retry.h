// Plans a retry of parts of a fire by a person. Pure.
//
// An open fire gets its parts back at once. One that has ended runs again as a whole, with
// another attempt of its own run; parts that are not chosen keep their ends. As with the nodes of a
// workflow, what is named runs again although it has succeeded, also after a fire that did.
//
// Errors   kInvalid with the pointer ("/shards/0"): no such part. kNotFound: the job is deleted.
//          kConflict: the fire is being cancelled, a chosen part is open, none has failed, a part
//          whose own run is retried has succeeded, or a process of the fire may still run and the
//          person did not confirm that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/run/run_state.h"

namespace carillon {

struct PartChoice {
  enum class Which {
    // Those that have ended other than COMPLETED, and those that are HELD. Not those whose host
    // was down at the first attempt, or whose job their host no longer matches.
    kFailed,
    kAll,
    kNamed,
    // The one whose run is to be retried as any run is: not if it is COMPLETED.
    kItself,
  };
  Which which = Which::kFailed;
  std::vector<uint32_t> indexes = {};  // of kNamed and kItself; from 0

  bool operator==(const PartChoice&) const = default;
};

// A part, as the plan needs it. `row.may_still_run` is false if its process has reported its end.
struct PartOfFire {
  RunRow row;
  std::string reason = {};
};

struct PartRetry {
  size_t position = 0;  // in the list of parts
  RunChange change = {};
};

// True if a retry of the own run is one of its parts. Otherwise it is retried as any run: it has no
// parts, waits for its begin, or has run at an executor since its job lost its shards.
bool IsRetriedByParts(const RunRow& own);

// `parts`: all of the fire, by index.
Result<std::vector<PartRetry>> PlanPartRetry(const RunRow& own,
                                             const std::vector<PartOfFire>& parts,
                                             const PartChoice& choice, const JobRow& job,
                                             Overlap overlap, WallTime now);

// The parts that a retry of the run `key` means, which may be a part. nullopt: it names none.
PartChoice ChoiceOf(const RunKey& key, const std::optional<PartChoice>& choice);

// The next attempt of the own run of a fire that has ended. It becomes RUNNING at once, if it gets
// a slot of its job.
RunChange NextAttemptOfFire(const RunRow& own, const JobRow& job, WallTime now);

// The error of a choice of parts of a run to which IsRetriedByParts does not apply.
Error NoPartsToRetry(const RunRow& own);
// The same for the run of a node, or of a workflow.
Error RetriedByWorkflow(const RunKey& own);
// The error for a fire whose job has become a workflow, which its parts could not run.
Error IsWorkflowNow(const RunRow& own);

// The error if somebody behind the fire may not run its job now: `refusal` is RefusalOf them. The
// begin of a fire asks, and a retry does not begin it again.
Error ForbiddenForFire(const RunRow& own, std::string_view refusal);

// The error if it gets none. `holder`: a run that holds a slot, or waits before it.
Error NoSlotForFire(const RunRow& own, const RunKey& holder);
// True for such an error.
bool NamesHolder(const Error& error);

}  // namespace carillon
