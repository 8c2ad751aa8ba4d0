// Decides what the begin of a workflow's run does, and what the runs of its nodes take over from
// it. Pure.
//
// Place    A store calls these functions in the transaction that begins the run.
//
// A run that begins once more continues its workflow run, or begins anew. Whoever made the run
// PENDING again has decided that and said so with run_flag::kAnew; the begin does not infer it from
// the nodes.
//
//   made PENDING again by                                              the begin
//   a person's retry of the run                                        continues
//   a person's retry of a workflow around it: only this run failed     continues
//   the same, and a node before it runs again, or it had succeeded     anew
//   a backfill                                                         anew
#pragma once

#include <string_view>

#include "common/domain/run/run.h"

namespace carillon {

enum class BeginKind {
  kFirst,      // there is no workflow run yet
  kContinued,  // the graph, the parameters and the nodes' runs stay
  kAnew,  // a new workflow run replaces it: present version, new parameters, new runs of all nodes
};
std::string_view Name(BeginKind kind);  // "first", …

// `begun`: the run has a workflow run.
BeginKind KindOfBegin(const RunRow& own, bool begun);

// The flags of a node's run. A node of a backfilled workflow run is backfilled, too, also within a
// nested workflow. `has_dependents`: others wait for the ends of the node's job.
uint32_t FlagsOfNode(const RunRow& own, bool has_dependents);

}  // namespace carillon
