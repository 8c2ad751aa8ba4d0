// Plans a retry of a workflow run, and the skip of one of its nodes by a person. Pure.
//
// A retry blocks the chosen nodes and everything downstream of them again; the next step of the
// workflow run (workflow_step.h) then decides about them as if they had never run. The other nodes
// keep their ends. A retry may name nodes to be skipped instead.
//
// If a node runs again that is not finally, then so do all finally nodes, and whoever writes the
// plan clears StepFacts::finally_since. An approval is asked again.
//
// Errors   kInvalid with the pointer ("/from/0", "/skip/2"): no such node. kConflict: nothing is to
//          be run again; the node of PlanSkip cannot be skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/domain/run/run_state.h"
#include "common/domain/workflow/node_rules.h"

namespace carillon {

enum class RetryFrom {
  // Those that made the run fail (FailuresOf), those that are HELD, and those that are CANCELLED,
  // which includes nodes that a cancel of the whole run has ended although they may fail.
  kFailed,
  kStart,  // all nodes
  kNodes,  // the named ones
};

struct WorkflowRetry {
  RetryFrom from = RetryFrom::kFailed;
  std::vector<std::string> nodes = {};  // of kNodes
  std::vector<std::string> skip = {};
  Overlap overlap = Overlap::kUnconfirmed;
};

// The new values of a node run's row. Its claim token, its result and its outputs are cleared, so
// that a late or repeated result of an earlier attempt is only recorded.
struct NodeChange {
  enum class To { kAgain, kSkippedByHand };

  size_t position = 0;
  To to = To::kAgain;
  int attempt = 1;
  bool record_attempt = false;  // copy the ended attempt to the earlier ones
  bool given_back = false;      // nobody was called for the attempt before (returns.h)
  // kAgain: if the run is that of a nested workflow, it begins anew (workflow_begin.h). False:
  // it continues.
  bool anew = false;

  bool operator==(const NodeChange&) const = default;
};

// If a node is listed in `open` or `may_still_run`, nothing may be changed.
struct RetryPlan {
  std::vector<NodeChange> changes = {};     // in the order of the definition
  std::vector<size_t> open = {};            // released or opened, and not ended
  std::vector<size_t> may_still_run = {};   // and the person has not confirmed an overlap
  std::vector<std::string> run_again = {};  // ids of the nodes that are blocked again

  bool refused() const { return !open.empty() || !may_still_run.empty(); }
};

// Attempts: a run that was tried gets the next one, also if it is skipped now, so that no two
// attempts of a run have the same number. One that was SKIPPED and is to run gets it, too, because
// an executor may still ask for the attempt that it was offered before, with its old parameters.
// As nobody was called, that one counts as given back. Only a run that JudgeNode has skipped keeps
// its attempt: it was blocked until then, and never offered. A node that is blocked already stays
// as it is. A HELD node is run again once its process is known to be dead, or the person confirms
// the overlap.
//
// A nested workflow that has failed continues, by a plan of its own for what failed in it, if all
// nodes before its own keep their ends. Otherwise what it worked with is no longer true, or a
// person wants all of it: it begins anew.
//
// Nodes that `skip` names outside of the retried part must be such that PlanSkip can skip them.
// Nodes that they had stopped are blocked again, as there.
//
// A plan without changes: the named nodes are blocked already, or the run waits for its begin after
// an earlier retry (`begins_again`) and nothing else has failed. So several nodes of one run can be
// retried one after another, in any order.
Result<RetryPlan> PlanRetry(const WorkflowGraph& graph, const NodeRows& rows,
                            const WorkflowRetry& retry, bool begins_again = false);

// True if the own run waits for its begin because a person has retried it.
bool BeginsAgain(const RunRow& own);
// kConflict: it is being cancelled, has reached its deadline, or waits to begin anew. The error
// says how to end one that waits for a HELD node.
Status CheckMayRetry(const RunRow& own, bool timed_out);
// kConflict: it has ended, is being cancelled, or has reached its deadline.
Status CheckMaySkip(const RunRow& own, bool timed_out);

// Skips a node that waits, whatever for, is HELD or has failed, in a workflow run that has not
// ended. Nodes that were skipped because of its end, directly or not, are blocked again.
Result<RetryPlan> PlanSkip(const WorkflowGraph& graph, const NodeRows& rows, std::string_view node,
                           Overlap overlap);

// Makes `rows` what they are when the changes have been written.
void ApplyChanges(const std::vector<NodeChange>& changes, NodeRows& rows);

// A sentence for the answer to a refused plan: "running: load, audit; may still run: publish".
std::string RefusalSentence(const WorkflowGraph& graph, const RetryPlan& plan);
// kConflict, with that sentence. Its pointer names confirm_overlap if that is all that is missing.
// `what`: "retry" or "skip".
Error RefusalOf(std::string_view what, const WorkflowGraph& graph, const RetryPlan& plan);
// True if the error of a store has such a sentence, so that the request may succeed later or once
// an overlap is confirmed.
bool NamesOpenNodes(const Error& error);

}  // namespace carillon
