#include "scheduler/explain/waiting.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "common/domain/job/job_types.h"
#include "common/domain/nodes/run_definition.h"
#include "common/domain/schedule/explain.h"
#include "common/domain/selector.h"
#include "scheduler/explain/upstream_answers.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kNamesShown = 3;

// The reason why the executor takes no work; empty if it takes work.
std::string_view DownReason(const ExecutorRecord& executor) {
  switch (executor.state) {
    case ExecutorState::kLost: return "lost";
    case ExecutorState::kOffline: return "offline";
    case ExecutorState::kUnhealthy: return "silent";
    case ExecutorState::kOnline: break;
  }
  if (!executor.enabled) return "disabled";
  if (executor.draining) return "draining";
  if (executor.breaker && !executor.breaker->half_open) return "paused because of its host";
  return {};
}

std::string DownExecutors(const std::vector<const ExecutorRecord*>& matching) {
  std::string list;
  for (size_t i = 0; i < std::min(matching.size(), kNamesShown); ++i) {
    if (i > 0) list += ", ";
    list += fmt::format("{} is {}", matching[i]->id.value(), DownReason(*matching[i]));
  }
  if (matching.size() > kNamesShown) {
    list += fmt::format(", and {} more", matching.size() - kNamesShown);
  }
  return fmt::format("No eligible executor is available: {}.", list);
}

Waiting OnlyOn(const ExecutorId& pinned, const std::vector<const ExecutorRecord*>& matching) {
  if (matching.empty()) {
    return {"pinned_unknown",
            fmt::format("The run is restricted to executor {}, which is unknown.", pinned.value())};
  }
  return {"away", DownExecutors(matching)};
}

// The executors that may run the job by its selector lack a feature that it needs.
Waiting LacksFeature(const std::vector<const ExecutorRecord*>& eligible, Features needs) {
  const std::string names = fmt::format("{}", fmt::join(needs.Names(), ", "));
  if (eligible.size() == 1) {
    return {"no_feature",
            fmt::format("The only eligible executor, {}, does not have what the job needs: {}.",
                        eligible[0]->id.value(), names)};
  }
  return {"no_feature", fmt::format("None of the {} eligible executors has what the job needs: {}.",
                                    eligible.size(), names)};
}

// An executor without a link to this member may have the feature.
bool MayHave(const ExecutorRecord& executor, Features needs) {
  return !executor.features || executor.features->HasAll(needs);
}

Waiting NoHandler(const std::string& handler, size_t executors) {
  return {"no_handler",
          fmt::format("No program offers the handler {} on {}. Start its worker there.", handler,
                      executors == 1 ? "the eligible executor"
                                     : fmt::format("any of the {} eligible executors", executors))};
}

Waiting WaitsForAnExecutor(const WaitingEvidence& evidence) {
  const JobDefinition& job = *evidence.definition;
  const ExecutorId pinned = evidence.row.pinned_executor.empty() ? ExecutorId(job.executor_id)
                                                                 : evidence.row.pinned_executor;
  // A selector that cannot be parsed matches no executor, as in routing.
  const Selector selector = Selector::Parse(job.executor_selector).value_or(Selector::Nothing());
  if (evidence.executors.empty()) return {"no_executor", "No executor has registered."};
  std::vector<const ExecutorRecord*> matching;
  for (const ExecutorRecord& executor : evidence.executors) {
    const bool may = pinned.empty() ? selector.Matches(executor.labels) : executor.id == pinned;
    if (may) matching.push_back(&executor);
  }
  std::vector<const ExecutorRecord*> usable;
  std::copy_if(matching.begin(), matching.end(), std::back_inserter(usable),
               [](const ExecutorRecord* executor) { return DownReason(*executor).empty(); });
  if (usable.empty() && !pinned.empty()) return OnlyOn(pinned, matching);
  if (matching.empty()) {
    return {"no_match", fmt::format("No executor matches the selector \"{}\"; {} registered.",
                                    job.executor_selector,
                                    evidence.executors.size() == 1
                                        ? "one is"
                                        : fmt::format("{} are", evidence.executors.size()))};
  }
  if (usable.empty()) return {"away", DownExecutors(matching)};
  Features needs = NeedsOf(job);
  if (evidence.row.key.shard > 0) needs.Add(Feature::kShards);
  const std::vector<const ExecutorRecord*> eligible = usable;
  std::erase_if(usable, [&](const ExecutorRecord* one) { return !MayHave(*one, needs); });
  if (usable.empty()) return LacksFeature(eligible, needs);
  if (!job.handler.empty()) {
    std::erase_if(usable, [&](const ExecutorRecord* one) {
      return one->features && !one->handlers.contains(job.handler);
    });
    if (usable.empty()) return NoHandler(job.handler, eligible.size());
  }
  // Requests and no-ops need no process slot.
  const bool full = StartsProcess(job.type) &&
                    std::all_of(usable.begin(), usable.end(), [](const ExecutorRecord* executor) {
                      return executor->running >= executor->slots;
                    });
  if (full) {
    return {"no_room",
            usable.size() == 1
                ? fmt::format("All slots of {} are in use; no other executor is eligible.",
                              usable[0]->id.value())
                : fmt::format("All slots of the {} eligible executors are in use.", usable.size())};
  }
  const bool idle = std::ranges::all_of(
      usable, [](const ExecutorRecord* executor) { return executor->claims_nothing; });
  if (idle) {
    return {"queued",
            usable.size() == 1
                ? fmt::format("Due; {} claims none of the tasks that it is sent. Read its log.",
                              usable[0]->id.value())
                : "Due; the eligible executors claim none of the tasks that they are sent."};
  }
  return {"queued", "Due; it is about to be dispatched to an executor."};
}

// "1st", "2nd", "3rd", "4th", "11th", …
std::string Ordinal(int64_t number) {
  const int64_t last_two = number % 100;
  const bool teens = last_two >= 11 && last_two <= 13;
  switch (teens ? 0 : number % 10) {
    case 1: return fmt::format("{}st", number);
    case 2: return fmt::format("{}nd", number);
    case 3: return fmt::format("{}rd", number);
    default: return fmt::format("{}th", number);
  }
}

std::string SlotsSentence(const SlotUse& slots) {
  if (slots.max_running == 1 && slots.taken == 1) return "the only slot is in use";
  return fmt::format("{} of {} slots are in use", slots.taken, slots.max_running);
}

// When the group may start the next, if that is known: empty if a run must end first.
std::string StartSentence(const Group& group, WallTime now) {
  if (group.limit == 0) return " Its limit is 0: nothing starts until it is raised.";
  const bool waits = group.next_cool && *group.next_cool > now &&
                     FreeInGroup(group.limit, group.running + group.cooling) == 0;
  if (!waits) return {};
  const int64_t seconds = std::chrono::ceil<std::chrono::seconds>(*group.next_cool - now).count();
  return fmt::format(" It starts at most {} in {} s: the group may start the next in {} s.",
                     group.limit, group.per / 1s, seconds);
}

Waiting WaitsForAGroup(const QueuePlace& place, const WaitingEvidence& evidence) {
  std::string detail =
      fmt::format("Waits for a slot of the concurrency group {}, {} of {} in its queue.",
                  place.group, Ordinal(place.position), place.length);
  if (evidence.group) detail += StartSentence(*evidence.group, evidence.now);
  return {"group", std::move(detail), place};
}

Waiting WaitsForASlot(const WaitingEvidence& evidence) {
  if (evidence.place && !evidence.place->group.empty())
    return WaitsForAGroup(*evidence.place, evidence);
  std::string detail = "Waits for a slot of its job";
  if (evidence.place) {
    detail = fmt::format("Waits for a slot, {} of {} in the queue of its job",
                         Ordinal(evidence.place->position), evidence.place->length);
  }
  if (evidence.slots) detail += "; " + SlotsSentence(*evidence.slots);
  return {"slot", detail + ".", evidence.place};
}

// "user-1, user-2 and 3 more"
std::string NamesOf(const std::vector<std::string>& users) {
  const size_t shown = std::min(users.size(), kNamesShown);
  std::string names =
      fmt::format("{}", fmt::join(users.begin(), users.begin() + static_cast<long>(shown), ", "));
  if (users.size() > shown) names += fmt::format(" and {} more", users.size() - shown);
  return names;
}

Waiting WaitsForADecision(const WaitingEvidence& evidence) {
  std::string detail = fmt::format("Waits for a decision since {}.", ReadableTime(evidence.opened));
  const std::optional<Approval>& approval = evidence.approval;
  const WallTime until = evidence.until != WallTime{} ? evidence.until : kNever;
  if (evidence.deadline < until) {
    detail +=
        fmt::format(" Without one the workflow times out at {}.", ReadableTime(evidence.deadline));
  } else if (until != kNever) {
    const bool approves = approval && approval->approves_on_timeout;
    detail += fmt::format(" Without one it is {} at {}{}.", approves ? "approved" : "refused",
                          ReadableTime(evidence.until),
                          evidence.cluster_paused ? ", later by the pause of the cluster" : "");
  }
  if (!approval) return {"approval", std::move(detail)};
  detail += approval->by.empty()
                ? " Everybody who may run the workflow may decide."
                : fmt::format(" May be decided by {}, if they may run the workflow.",
                              NamesOf(approval->by));
  return {"approval", std::move(detail)};
}

// The definition that the run executes, or its approval.
void ReadDefinition(JobDefinition of_version, WaitingEvidence& evidence) {
  const RunRow& row = evidence.row;
  const std::optional<size_t> position = NodePositionOf(row.key);
  if (IsOpenedNode(row.due)) {
    const bool has_node =
        of_version.workflow && position && *position < of_version.workflow->nodes.size();
    if (has_node) evidence.approval = of_version.workflow->nodes[*position].approval;
    return;
  }
  auto resolved = DefinitionForRun(std::move(of_version), row.job_no, position, row.rules);
  if (resolved.ok()) evidence.definition = std::move(*resolved);
}

Waiting WaitsForItsHost(WallTime dead_at, bool cluster_paused) {
  return {"host", fmt::format("Its host is lost, and its function may still run. It is taken for "
                              "dead at {}{}, unless the host answers or a person decides before.",
                              ReadableTime(dead_at),
                              cluster_paused ? ", but not while the cluster is paused" : "")};
}

bool IsQueued(const RunRow& row) { return row.state == RunState::kPending && row.due == kQueued; }

// nullopt: the policy of the job has no slots any more, or the job is deleted or unreadable.
Result<std::optional<SlotUse>> ReadSlots(const WaitingStores& stores, const JobId& job_id) {
  const auto absent = [](ErrorCode code) {
    return code == ErrorCode::kNotFound || code == ErrorCode::kCorrupt;
  };
  const auto job = stores.jobs.GetJob(job_id);
  if (!job.ok() && !absent(job.code())) return job.error();
  if (!job.ok() || !TakesSlots(job->definition.overlap_policy)) return std::optional<SlotUse>();
  const auto queue = stores.queues.ReadQueue(job_id, 1);
  if (!queue.ok() && !absent(queue.code())) return queue.error();
  if (!queue.ok()) return std::optional<SlotUse>();
  return std::optional(SlotUse{.taken = static_cast<int64_t>(queue->holders.size()),
                               .max_running = job->definition.max_running});
}

// When the time of the workflow run is over, and with it the wait of an open node. Finally nodes
// have a time of their own.
Result<WallTime> ReadDeadline(WorkflowStore& workflows, const WaitingEvidence& evidence) {
  const std::optional<size_t> position = NodePositionOf(evidence.row.key);
  if (!evidence.node || !position) return kNever;
  const auto view = workflows.GetWorkflowRun(evidence.node->workflow_run);
  if (!view.ok() && view.code() != ErrorCode::kNotFound) return view.error();
  if (!view.ok() || *position >= view->definition.nodes.size()) return kNever;
  return view->definition.nodes[*position].is_finally ? kNever : view->deadline;
}

}  // namespace

bool AwaitsOthers(const WaitingEvidence& evidence) {
  const RunRow& row = evidence.row;
  return row.state == RunState::kPending && row.due == kAwaiting && row.key.fire <= evidence.now;
}

bool IsDue(const WaitingEvidence& evidence) {
  const RunRow& row = evidence.row;
  return row.state == RunState::kPending && row.due <= evidence.now;
}

std::optional<Waiting> DecideWaiting(const WaitingEvidence& evidence) {
  if (const auto dead_at = PresumedDeadAt(evidence.row)) {
    return WaitsForItsHost(*dead_at, evidence.cluster_paused);
  }
  if (evidence.row.state != RunState::kPending) return std::nullopt;
  if (evidence.row.due == kNever) return Waiting{"paused", "The job is paused."};
  if (AwaitsOthers(evidence)) return Waiting{"upstream_run", evidence.upstream};
  if (evidence.row.due == kAwaiting) {
    return Waiting{"not_due",
                   fmt::format("Due at {}, when it begins to wait for runs of other jobs.",
                               ReadableTime(evidence.row.key.fire))};
  }
  if (evidence.row.due == kBlocked) {
    return Waiting{"upstream", "The run waits for other nodes of its workflow run."};
  }
  if (evidence.row.due == kUndecided) return WaitsForADecision(evidence);
  if (evidence.row.due == kTimed) {
    std::string detail = fmt::format("Waits until {}.", ReadableTime(evidence.until));
    if (evidence.deadline < evidence.until) {
      detail +=
          fmt::format(" The workflow times out before, at {}.", ReadableTime(evidence.deadline));
    }
    return Waiting{"time", std::move(detail)};
  }
  const bool queued = IsQueued(evidence.row);
  if (!queued && !IsDue(evidence)) {
    return Waiting{"not_due", fmt::format("Due at {}.", ReadableTime(evidence.row.due))};
  }
  if (evidence.cluster_paused) {
    return Waiting{"cluster_paused", "The cluster is paused. Nothing starts until it is resumed."};
  }
  if (queued) return WaitsForASlot(evidence);
  if (!evidence.definition) {
    return Waiting{"unreadable", "The stored definition of the run cannot be read."};
  }
  if (RunnerOf(evidence.definition->type) == Runner::kScheduler) {
    return Waiting{"queued", "The workflow run is about to begin."};
  }
  const bool begins_at_once = evidence.definition->broadcast && evidence.row.key.shard == 0;
  if (begins_at_once) return Waiting{"queued", "The run is about to begin on each of its hosts."};
  return WaitsForAnExecutor(evidence);
}

Result<std::optional<Waiting>> ExplainWaiting(const WaitingStores& stores, WaitingEvidence evidence,
                                              const JobId& job_id) {
  if (IsOpenedNode(evidence.row.due)) {
    CARILLON_ASSIGN_OR_RETURN(evidence.deadline, ReadDeadline(stores.workflows, evidence));
  }
  if (AwaitsOthers(evidence)) {
    CARILLON_ASSIGN_OR_RETURN(evidence.upstream,
                              ExplainAwaiting(stores.upstream, stores.firing, evidence.row,
                                              {evidence.now, evidence.cluster_paused}));
  } else if (IsQueued(evidence.row)) {
    CARILLON_ASSIGN_OR_RETURN(evidence.place, stores.queues.PlaceOf(evidence.row.key));
    const bool for_group = evidence.place && !evidence.place->group.empty();
    if (for_group) {
      // It may have been deleted meanwhile.
      auto group = stores.groups.GetGroup(evidence.place->group, 0, evidence.now);
      if (!group.ok() && group.code() != ErrorCode::kNotFound) return group.error();
      if (group.ok()) evidence.group = std::move(group->group);
    } else {
      CARILLON_ASSIGN_OR_RETURN(evidence.slots, ReadSlots(stores, job_id));
    }
  } else if (IsDue(evidence) || evidence.row.due == kUndecided) {
    const int64_t version = evidence.row.def_version;
    auto found = stores.jobs.ListVersions(job_id, version + 1, 1);
    if (!found.ok() && found.code() != ErrorCode::kNotFound) return found.error();
    if (found.ok() && !found->empty() && found->front().version == version &&
        found->front().definition) {
      ReadDefinition(*std::move(found->front().definition), evidence);
    }
    if (!IsDue(evidence)) return DecideWaiting(evidence);
    CARILLON_ASSIGN_OR_RETURN(evidence.executors, stores.executors.ListExecutors());
    for (ExecutorRecord& executor : evidence.executors) {
      executor = stores.live.Latest(std::move(executor));
    }
  }
  return DecideWaiting(evidence);
}

}  // namespace carillon::scheduler
