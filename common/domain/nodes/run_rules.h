// The rules that the run of a workflow's node has of its own, in place of those of its job. Pure.
//
// Place    A node of a workflow names them (workflow_spec.h). The release of the node writes them
//          into the row of its run, so that they stay what they were when the node was released.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

enum class OnLost;        // job.h, which includes this file
enum class RetryBackoff;  // likewise
struct JobDefinition;

// Not set: as the job says.
struct RunRules {
  // Of the row of a run only: Name(JobType) of a task, "approval" or "wait"; "" = it runs a job.
  std::string type = {};
  std::optional<int64_t> timeout_s = {};
  std::optional<int64_t> retry_count = {};
  std::optional<int64_t> retry_interval_s = {};
  std::optional<RetryBackoff> retry_backoff = {};
  std::optional<std::vector<int64_t>> retry_intervals_s = {};
  std::optional<std::vector<std::string>> retry_on = {};
  std::optional<std::vector<std::string>> no_retry_on = {};
  std::optional<OnLost> on_lost = {};
  std::optional<int> priority = {};
  std::optional<std::string> executor_id = {};  // "": any executor, whatever the job says
  std::optional<std::string> executor_selector = {};
  std::optional<std::string> concurrency_group = {};  // "": none
  // Of the row of a task's run only: JobDefinition::presume_dead_s.
  std::optional<int64_t> presume_dead_s = {};
  // Of the row of a run only: the number of items of a mapped node (mapped_items.h), and the name
  // of the parameter that has the item of a part (WorkflowNode::as).
  std::optional<int64_t> items = {};
  std::string as = {};

  bool operator==(const RunRules&) const = default;
};

// The column `rules` of job_runs: "retry_count=3;timeout=60"; "" without rules. Text is
// percent-escaped.
inline constexpr size_t kRunRulesBytesMax = 4'000;
std::string ToText(const RunRules& rules);
// kCorrupt: not of this form, or with a rule that this version does not know, whose effect nobody
// could guess.
Result<RunRules> RunRulesFromText(std::string_view text);

// The definition with these rules in place of its own; with `items`, it has so many parts.
JobDefinition WithRules(JobDefinition job, const RunRules& rules);

// All rules of a task, for the row of its run: decisions about results have no definition.
RunRules RulesOfTask(const JobDefinition& task);

}  // namespace carillon
