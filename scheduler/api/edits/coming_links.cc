#include "scheduler/api/edits/coming_links.h"

#include <algorithm>
#include <utility>

#include "common/domain/run/dependents.h"
#include "common/domain/upstream/upstream_sources.h"
#include "scheduler/api/edits/dependency_check.h"
#include "scheduler/api/edits/wait_check.h"

namespace carillon::scheduler {
namespace {

bool RunsAsNode(const JobDefinition& workflow, const JobId& job) {
  return std::ranges::any_of(NodeJobsOf(workflow), [&](const JobId& node) { return node == job; });
}

bool NamesOthers(const JobDefinition& definition) {
  return !UpstreamOf(definition).empty() || !NodeJobsOf(definition).empty() ||
         WaitsForOthers(definition);
}

}  // namespace

Outcome<bool> ComingLinks::Accept(const JobId& id, const JobDefinition* before,
                                  const JobDefinition& definition) {
  auto held = accepted_.extract(id);
  Outcome<bool> accepted = Check(id, before, definition);
  if (accepted.ok()) {
    accepted_.insert_or_assign(id, definition);
    return accepted;
  }
  accepted_.erase(id);
  if (!held.empty()) accepted_.insert(std::move(held));
  return accepted;
}

Outcome<bool> ComingLinks::Check(const JobId& id, const JobDefinition* before,
                                 const JobDefinition& definition) {
  if (!NamesOthers(definition)) return true;
  // As the store: the first of the jobs that it names that closes a circle is told.
  JobDefinition& own = accepted_.insert_or_assign(id, definition).first->second;
  own.waits_for.clear();
  Status circle = CheckCauses(id, definition);
  own.waits_for = definition.waits_for;
  if (circle.ok()) circle = CheckWaits(id, definition);
  if (circle.ok()) circle = CheckDeadlocks(id, definition);
  if (!circle.ok()) return DependencyProblem(circle.error());
  std::vector<FieldError> found;
  for (size_t i = 0; i < definition.waits_for.size(); ++i) {
    const UpstreamWait& wait = definition.waits_for[i];
    const bool had = before != nullptr && std::ranges::count(before->waits_for, wait) > 0;
    const bool coming = accepted_.contains(wait.job) || accepted_.contains(wait.in);
    if (had || !coming) continue;
    if (!wait.in.empty()) {
      CARILLON_ASSIGN_OR_RETURN(const JobDefinition* workflow, DefinitionOf(wait.in));
      if (workflow != nullptr && !RunsAsNode(*workflow, wait.job)) {
        found.push_back(NotANode(i, wait));
        continue;
      }
    }
    CARILLON_ASSIGN_OR_RETURN(const bool may, MayHaveFires(wait.in.empty() ? wait.job : wait.in));
    if (!may) found.push_back(NeverMet(i, wait));
  }
  if (!found.empty()) return WaitProblem(std::move(found));
  return true;
}

// ---- jobs --------------------------------------------------------------------------------------

Result<const ComingLinks::Stored*> ComingLinks::ReadStored(const JobId& id) {
  const auto known = stored_.find(id);
  if (known != stored_.end()) return &known->second;
  Stored found;
  auto job = call_.stores.jobs.GetJob(id);
  const bool absent =
      !job.ok() && (job.code() == ErrorCode::kNotFound || job.code() == ErrorCode::kCorrupt);
  if (!job.ok() && !absent) return job.error();
  if (job.ok()) found.definition = std::move(job->definition);
  const auto named = call_.stores.jobs.ListDependencies(id);
  if (!named.ok() && named.code() != ErrorCode::kNotFound) return named.error();
  if (named.ok()) {
    for (const JobDependency& one : named->downstream) {
      if (one.kind == DependencyKind::kNode) found.workflows.insert(one.job_id);
    }
  }
  return &stored_.emplace(id, std::move(found)).first->second;
}

Result<const JobDefinition*> ComingLinks::DefinitionOf(const JobId& id) {
  const auto coming = accepted_.find(id);
  if (coming != accepted_.end()) return &coming->second;
  CARILLON_ASSIGN_OR_RETURN(const Stored* stored, ReadStored(id));
  return stored->definition ? &*stored->definition : nullptr;
}

Result<std::set<JobId>> ComingLinks::WorkflowsOf(const JobId& id) {
  CARILLON_ASSIGN_OR_RETURN(const Stored* stored, ReadStored(id));
  std::set<JobId> workflows = stored->workflows;
  for (const auto& [other, definition] : accepted_) {
    if (RunsAsNode(definition, id)) {
      workflows.insert(other);
    } else {
      workflows.erase(other);
    }
  }
  return workflows;
}

// ---- circles -----------------------------------------------------------------------------------

JobNo ComingLinks::NumberOf(const JobId& id) {
  const auto [at, added] = numbers_.try_emplace(id, JobNo(numbers_.size() + 1));
  if (added) by_number_.push_back(id);
  return at->second;
}

Result<std::multimap<JobNo, JobNo>> ComingLinks::ReadUpstream(const std::vector<JobNo>& jobs) {
  std::multimap<JobNo, JobNo> found;
  for (const JobNo job_no : jobs) {
    const JobId id = by_number_.at(job_no.value() - 1);
    CARILLON_ASSIGN_OR_RETURN(const JobDefinition* definition, DefinitionOf(id));
    if (definition != nullptr) {
      for (const JobId& one : UpstreamOf(*definition)) found.emplace(job_no, NumberOf(one));
      for (const JobId& one : WaitedJobsOf(*definition)) found.emplace(job_no, NumberOf(one));
    }
    CARILLON_ASSIGN_OR_RETURN(const std::set<JobId> workflows, WorkflowsOf(id));
    for (const JobId& one : workflows) found.emplace(job_no, NumberOf(one));
  }
  return found;
}

// The definition of `writer` is left out.
Result<std::vector<JobLinks>> ComingLinks::ReadLinks(const std::vector<JobNo>& jobs,
                                                     const JobId& writer) {
  std::vector<JobLinks> links;
  const auto number = [this](const JobId& id) { return NumberOf(id); };
  for (const JobNo job_no : jobs) {
    const JobId id = by_number_.at(job_no.value() - 1);
    CARILLON_ASSIGN_OR_RETURN(const JobDefinition* definition, DefinitionOf(id));
    const bool named = definition != nullptr && id != writer;
    JobLinks& one = links.emplace_back(named ? LinksOf(job_no, *definition, number)
                                             : JobLinks{.job_no = job_no});
    CARILLON_ASSIGN_OR_RETURN(const std::set<JobId> workflows, WorkflowsOf(id));
    for (const JobId& workflow : workflows) {
      if (workflow != writer) one.workflows.insert(NumberOf(workflow));
    }
  }
  return links;
}

Result<std::vector<std::string>> ComingLinks::NamesOf(const std::vector<JobNo>& jobs) {
  std::vector<std::string> names;
  for (const JobNo job_no : jobs) {
    const JobId& id = by_number_.at(job_no.value() - 1);
    CARILLON_ASSIGN_OR_RETURN(const JobDefinition* definition, DefinitionOf(id));
    names.push_back(definition == nullptr ? id.value() : definition->name);
  }
  return names;
}

Result<std::vector<std::string>> ComingLinks::Cycle(const JobId& job, const JobId& upstream) {
  CARILLON_ASSIGN_OR_RETURN(
      const std::vector<JobNo> cycle,
      FindCycle(NumberOf(job), NumberOf(upstream),
                [this](const std::vector<JobNo>& jobs) { return ReadUpstream(jobs); }));
  return NamesOf(cycle);
}

Status ComingLinks::CheckCauses(const JobId& id, const JobDefinition& definition) {
  for (size_t i = 0; i < definition.schedules.size(); ++i) {
    const ScheduleSpec& spec = definition.schedules[i];
    if (spec.kind != ScheduleKind::kAfter) continue;
    CARILLON_ASSIGN_OR_RETURN(const auto names, Cycle(id, JobId(spec.upstream)));
    if (!names.empty()) return DependencyCycle(i, names);
  }
  for (const JobId& node : NodeJobsOf(definition)) {
    CARILLON_ASSIGN_OR_RETURN(const auto names, Cycle(node, id));
    if (!names.empty()) return NodeCycle(definition, node, names);
  }
  return {};
}

Status ComingLinks::CheckWaits(const JobId& id, const JobDefinition& definition) {
  for (size_t i = 0; i < definition.waits_for.size(); ++i) {
    const UpstreamWait& wait = definition.waits_for[i];
    for (const bool in : {false, true}) {
      const JobId& named = in ? wait.in : wait.job;
      if (named.empty()) continue;
      CARILLON_ASSIGN_OR_RETURN(const auto names, Cycle(id, named));
      if (!names.empty()) return AwaitCycle(i, in, names);
    }
  }
  return {};
}

Status ComingLinks::CheckDeadlocks(const JobId& id, const JobDefinition& definition) {
  const JobNo self = NumberOf(id);
  const JobLinks written =
      LinksOf(self, definition, [this](const JobId& named) { return NumberOf(named); });
  CARILLON_ASSIGN_OR_RETURN(
      const auto found,
      FindDeadlock(written, [&](const std::vector<JobNo>& jobs) { return ReadLinks(jobs, id); }));
  if (!found) return {};
  CARILLON_ASSIGN_OR_RETURN(const auto names, NamesOf(found->jobs));
  return DeadlockError(definition, *found, by_number_.at(found->named.value() - 1), names);
}

// ---- fires -------------------------------------------------------------------------------------

Result<bool> ComingLinks::MayHaveFires(const JobId& start) {
  std::set<JobId> known{start};
  std::vector<JobId> open{start};
  while (!open.empty()) {
    const JobId id = std::exchange(open.back(), JobId{});
    open.pop_back();
    CARILLON_ASSIGN_OR_RETURN(const JobDefinition* definition, DefinitionOf(id));
    if (definition == nullptr || known.size() > kSourceJobsMax + 1) return true;
    CARILLON_ASSIGN_OR_RETURN(std::set<JobId> before, WorkflowsOf(id));
    for (const ScheduleSpec& spec : definition->schedules) {
      if (spec.kind == ScheduleKind::kManual) continue;
      // Runs that failures start are dated, too.
      const bool after = spec.kind == ScheduleKind::kAfter && spec.on != AfterOutcome::kFailure;
      if (!after) return true;
      before.insert(JobId(spec.upstream));
    }
    for (const JobId& one : before) {
      if (known.insert(one).second) open.push_back(one);
    }
  }
  return false;
}

}  // namespace carillon::scheduler
