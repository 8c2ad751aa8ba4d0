#include "common/domain/nodes/task_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "common/domain/job_text.h"

namespace carillon {
namespace {

JobDefinition Completed(JobDefinition task, const JobDefinition& workflow) {
  task.name = workflow.name;
  task.user_id = workflow.user_id;
  task.name_space = workflow.name_space;
  task.time_zone = workflow.time_zone;
  task.labels = workflow.labels;
  task.retention_days = workflow.retention_days;
  // The end of the workflow's own run is notified.
  task.notify = {.on = std::vector<NoticeKind>{}};
  return task;
}

struct Foreign {
  std::string_view field;
  bool is_set;
};

// The fields of a job that a task has not: they say when a job runs, or belong to the workflow.
auto ForeignFields(const JobDefinition& task) {
  const JobDefinition usual;
  return std::to_array<Foreign>(
      {{"name", task.name != usual.name},
       {"workflow", task.workflow.has_value()},
       {"schedules", !task.schedules.empty()},
       {"time_zone", task.time_zone != usual.time_zone},
       {"queue_timeout", task.queue_timeout_s != usual.queue_timeout_s},
       {"pause_after_failures", task.pause_after_failures != usual.pause_after_failures},
       {"enabled", task.enabled != usual.enabled},
       {"misfire_policy", task.misfire_policy != usual.misfire_policy},
       {"misfire_grace", task.misfire_grace_s != usual.misfire_grace_s},
       {"catch_up_window", task.catch_up_window_s != usual.catch_up_window_s},
       {"catch_up_max", task.catch_up_max != usual.catch_up_max},
       {"overlap_policy", task.overlap_policy != usual.overlap_policy},
       {"max_running", task.max_running != usual.max_running},
       {"queue_max", task.queue_max != usual.queue_max},
       {"waits_for", !task.waits_for.empty()},
       {"wait_limit", task.wait_limit_s != usual.wait_limit_s},
       {"dst_gap", task.dst_gap != usual.dst_gap},
       {"dst_repeat", task.dst_repeat != usual.dst_repeat},
       {"labels", !task.labels.empty()},
       {"retention_days", task.retention_days != usual.retention_days},
       {"parameter_rules", !task.parameter_rules.empty()},
       {"notify", task.notify != usual.notify},
       {"description", !task.description.empty()},
       {"user_id", !task.user_id.empty()},
       {"namespace", task.name_space != usual.name_space}});
}

}  // namespace

std::vector<NodeJob> TaskJobs(const JobDefinition& workflow) {
  std::vector<NodeJob> jobs;
  if (!workflow.workflow) return jobs;
  const std::vector<WorkflowNode>& nodes = workflow.workflow->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].task.empty()) continue;
    jobs.push_back({.position = i, .job = Completed(nodes[i].task.job(), workflow)});
  }
  return jobs;
}

Result<JobDefinition> TaskAt(const JobDefinition& workflow, size_t position) {
  if (!workflow.workflow || position >= workflow.workflow->nodes.size()) {
    return Error{ErrorCode::kCorrupt, fmt::format("the workflow has no node {}", position + 1)};
  }
  const WorkflowNode& node = workflow.workflow->nodes[position];
  if (!RunsNoJob(node)) {
    return Error{ErrorCode::kCorrupt, fmt::format("node '{}' runs a job of its own name", node.id)};
  }
  if (!node.task.empty()) return Completed(node.task.job(), workflow);
  return Completed({.type = JobType::kNoop}, workflow);
}

RunRules RulesOfNode(const WorkflowNode& node) {
  if (node.approval) return {.type = "approval"};
  if (node.wait) return {.type = "wait"};
  RunRules rules = node.task.empty() ? node.rules : RulesOfTask(node.task.job());
  rules.as = node.as;
  return rules;
}

bool NeedsTaskJob(const JobDefinition& job) {
  return job.workflow && std::ranges::any_of(job.workflow->nodes, RunsNoJob);
}

Status CheckTask(const JobDefinition& task) {
  if (task.type == JobType::kWorkflow) {
    return InvalidAt("/task/type",
                     "a task cannot be a workflow; make it a job, and name it in `job`");
  }
  if (!task.parameters.empty()) {
    return InvalidAt("/task/parameters", "a task has none; set them on the node");
  }
  if (task.shards || task.broadcast) {
    return InvalidAt(task.shards ? "/task/shards" : "/task/broadcast",
                     "a task cannot fan out; use `over` of the node");
  }
  for (const auto& [field, is_set] : ForeignFields(task)) {
    if (!is_set) continue;
    return InvalidAt(fmt::format("/task/{}", field),
                     "a task has no such field; set it on the workflow");
  }
  return {};
}

}  // namespace carillon
