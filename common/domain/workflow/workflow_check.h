// Finds all mistakes of a workflow's definition. Pure.
//
// Place    Before a workflow is written, and for a question whether it could be. Mistakes of the
//          form, such as a field of the wrong type, are found earlier, by
//          common/wire/json/workflow/workflow_json.h.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job/job.h"
#include "common/domain/workflow/workflow_spec.h"

namespace carillon {

enum class WorkflowMistake {
  kBadField,         // the form or the bounds of a field
  kLimit,            // too many nodes, edges or bytes
  kDuplicateNode,    // two nodes with one id
  kDuplicateEdge,    // two entries of `after` with one node
  kUnknownNode,      // `after` or a template names a node that does not exist
  kCycle,            // the nodes of a cycle, or the workflows that contain each other
  kNotUpstream,      // a template names a node that is not upstream
  kBadTriggerRule,   // more edges must be met than the node has
  kBadCondition,     // `if` cannot be parsed, or asks for what no run of the upstream node has
  kBadTemplate,      // a parameter cannot be parsed, names an unknown workflow parameter, or what
                     // no run of the upstream node has
  kNeverStarts,      // too few edges of the node can ever be met
  kUnknownJob,       // no such job, or the writer may not know of it
  kForbidden,        // the writer may not run the job
  kUnsafeParameter,  // the job's command contains the parameter, which has an output in it
  kTooDeep,          // workflows nested deeper than kWorkflowDepthMax
};
std::string_view Name(WorkflowMistake mistake);  // "bad_field", "unknown_node", …

struct WorkflowProblem {
  WorkflowMistake code = WorkflowMistake::kBadField;
  std::string pointer = {};  // JSON pointer in the definition: "/nodes/3/after/0/node"
  std::string message = {};  // a sentence without its full stop

  bool operator==(const WorkflowProblem&) const = default;
};
using WorkflowProblems = std::vector<WorkflowProblem>;

inline constexpr size_t kWorkflowProblemsMax = 100;  // reported of one definition
inline constexpr int kWorkflowDepthMax = 4;          // workflows on a path, with the outermost one

struct WorkflowCheckOptions {
  // Names of the parameters that every run of the workflow has; null: unknown, and not checked.
  const std::set<std::string>* parameters = nullptr;
  // False if a part of the graph could not be read, so that only each node by itself is checked.
  bool graph_complete = true;
};

// Empty: WorkflowGraph::Compile accepts the definition.
//
// A node never starts if fewer edges than it needs can be met. An edge cannot be met if its
// condition is false or not computable for every end of the upstream node with which the edge is
// met, whatever the exit code and the outputs are: `on: success` with `if: state == "FAILED"`.
// Skips by a person do not count, and an upstream node that never starts counts as one that may, so
// that each mistake is reported once.
WorkflowProblems CheckWorkflow(const WorkflowDefinition& workflow,
                               const WorkflowCheckOptions& options = {});

// ---- checks that need the store ----------------------------------------------------------------

// A job that a node names, here or in a workflow below.
struct WorkflowJob {
  bool visible = true;                               // the writer may know of it
  bool may_run = true;                               // the writer, with parameters of their choice
  std::set<std::string> command_parameters = {};     // command_parameters.h
  std::set<std::string> parameters = {};             // those of the job and of its rules
  std::optional<std::vector<JobId>> node_jobs = {};  // of a workflow: the jobs of its nodes
  std::optional<JobType> type = {};                  // nullopt: not known yet
  std::string_view fan_out = {};                     // the field by which its runs fan out; or ""
  // Of a workflow: the names of its outputs; nullopt: any name may be one.
  std::optional<std::set<std::string>> output_names = {};
};

class WorkflowLookup {
 public:
  virtual ~WorkflowLookup() = default;
  // nullopt: there is no such job.
  virtual Result<std::optional<WorkflowJob>> Find(const JobId& job) = 0;
};

// Checks the jobs of the nodes. `self` is the id of the workflow's own job, which need not exist
// yet. Looks up each job once. An error is that of the lookup.
Result<WorkflowProblems> CheckWorkflowJobs(const WorkflowDefinition& workflow, const JobId& self,
                                           WorkflowLookup& lookup);

// The kinds of results that the runs of a job can hand to later nodes. The parts of a run that fans
// out keep theirs.
struct NodeResults {
  bool outputs = false;
  bool exit_code = false;
  std::optional<std::set<std::string>> names = {};  // the outputs; nullopt: any
};
NodeResults ResultsOf(JobType type, bool fans_out);
// A workflow has the outputs that it declares.
NodeResults ResultsOf(const JobDefinition& job);

// A part of a sentence, "node 'b' asks for outputs of node 'a'", if a node whose job is `job` is
// asked for what `gave` has and `gives` has not; else "".
std::string AskedOfJob(const WorkflowDefinition& workflow, const JobId& job,
                       const NodeResults& gave, const NodeResults& gives = {});

}  // namespace carillon
