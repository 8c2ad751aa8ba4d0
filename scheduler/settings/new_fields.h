// The fields of a job that came after the first release.
//
// A field, or a value or kind of it, that a member of the previous release would misread needs the
// migration of its release. It is off until the upgrade to that release is finished
// (docs/upgrading.md), so CONTRIBUTING.md asks for a row here.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "common/domain/cron/cron.h"
#include "common/domain/job/job.h"
#include "common/domain/run/retry_conditions.h"
#include "common/domain/template/job_templates.h"
#include "common/domain/template/trigger_outputs.h"

namespace carillon::scheduler {

struct NewField {
  std::string_view name;  // of the definition's field, e.g. "schedules"
  int migration = 0;
  bool (*is_used)(const JobDefinition&) = nullptr;
};

// Cron expressions with a year, or with a day such as 30L, 25< or C#1.
inline bool UsesNewCron(const JobDefinition& job) {
  return std::any_of(job.schedules.begin(), job.schedules.end(), [](const ScheduleSpec& spec) {
    return UsesNewCronForm(spec.cron_expression);
  });
}

// Runs keep the time zone of their fire from this one on, too.
inline constexpr int kFireDateMigration = 2;

// Parts of runs, groups in time, pauses after failures, the topic of dead letters, waits for runs
// of other jobs, events, and outputs of the run before.
inline constexpr int kFanOutMigration = 3;

inline bool UsesNewNotice(const JobDefinition& job) {
  return job.notify.on && std::ranges::any_of(*job.notify.on, [](NoticeKind kind) {
           return kind == NoticeKind::kJobPaused || kind == NoticeKind::kApproval;
         });
}

inline bool UsesEvents(const JobDefinition& job) {
  return std::any_of(job.schedules.begin(), job.schedules.end(),
                     [](const ScheduleSpec& spec) { return spec.kind == ScheduleKind::kEvent; });
}

inline bool UsesNewHttp(const JobDefinition& job) {
  return job.http && NeedsHttpExtended(*job.http);
}

// A node that runs no job, or that has rules or edges which 0.1.0 would not read.
inline bool IsNewNode(const WorkflowNode& node) {
  return RunsNoJob(node) || node.rules != RunRules{} || node.trigger_rule.succeeded ||
         node.is_finally || !node.over.empty();
}

inline bool UsesNewNodes(const JobDefinition& job) {
  if (!job.workflow) return false;
  const WorkflowDefinition& workflow = *job.workflow;
  return std::ranges::any_of(workflow.nodes, &IsNewNode) || !workflow.outputs.empty() ||
         workflow.finally_timeout_s != WorkflowDefinition{}.finally_timeout_s;
}

inline constexpr std::array kNewFields = {
    NewField{"working_directory", 2,
             [](const JobDefinition& job) { return !job.working_directory.empty(); }},
    NewField{"output_encoding", 2,
             [](const JobDefinition& job) { return !job.output_encoding.empty(); }},
    NewField{"schedules", 2, &UsesNewCron},
    NewField{"retry_on", 2, [](const JobDefinition& job) { return HasNewCondition(job.retry_on); }},
    NewField{"no_retry_on", 2,
             [](const JobDefinition& job) { return HasNewCondition(job.no_retry_on); }},
    NewField{"http", 2, &UsesNewHttp},
    NewField{"fire_date", kFireDateMigration, &UsesFireDate},
    NewField{"shards", kFanOutMigration,
             [](const JobDefinition& job) { return job.shards.has_value(); }},
    NewField{"broadcast", kFanOutMigration,
             [](const JobDefinition& job) { return job.broadcast.has_value(); }},
    NewField{"presume_dead_s", kFanOutMigration,
             [](const JobDefinition& job) { return job.presume_dead_s > 0; }},
    NewField{"pause_after_failures", kFanOutMigration,
             [](const JobDefinition& job) { return job.pause_after_failures > 0; }},
    NewField{"notify", kFanOutMigration, &UsesNewNotice},
    NewField{"waits_for", kFanOutMigration, &WaitsForOthers},
    NewField{"events", kFanOutMigration, &UsesEvents},
    NewField{"trigger.outputs", kFanOutMigration,
             [](const JobDefinition& job) { return AsksForOutputs(job); }},
    NewField{"workflow", kFanOutMigration, &UsesNewNodes},
    // Of a concurrency group, not of a job: the routes of groups ask themselves.
    NewField{"per_s", kFanOutMigration, [](const JobDefinition&) { return false; }},
};
inline std::span<const NewField> NewFields() { return kNewFields; }

}  // namespace carillon::scheduler
