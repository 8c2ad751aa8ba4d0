#include "common/adapters/mysql/firing/claim_batch.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "common/adapters/mysql/access/run_backers.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/slots/group_slots.h"
#include "common/adapters/mysql/slots/job_slots.h"
#include "common/base/failpoint.h"
#include "common/domain/nodes/run_rules.h"
#include "common/domain/run/run_kind.h"

namespace carillon::mysql {
namespace {

// The jobs of the batch whose runs need slots.
struct SlotRules {
  SlotsOfJobs slots = {};
  QueuesOfJobs queues = {};
};

// Slots are locked before the queues are read, because claims that queue runs hold these locks.
Result<SlotRules> LockSlotRules(Session& session, const std::vector<ClaimRequest>& requests,
                                const std::vector<size_t>& places, const LockedRuns& runs) {
  SlotRules rules;
  std::vector<JobNo> counted;
  for (const size_t place : places) {
    const ClaimRequest& request = requests[place];
    const auto found = runs.find(request.key);
    if (!TakesSlots(request.overlap.policy) || found == runs.end()) continue;
    const RunRow& row = found->second.row;
    rules.slots[row.job_no];
    rules.queues[row.job_no].segment = row.segment;
    if (request.overlap.policy == OverlapPolicy::kQueueAll) counted.push_back(row.job_no);
  }
  std::sort(counted.begin(), counted.end());
  counted.erase(std::unique(counted.begin(), counted.end()), counted.end());
  CARILLON_TRY(LockSlots(session, &rules.slots));
  CARILLON_TRY(ReadQueues(session, counted, &rules.queues));
  std::set<JobNo> above;  // their limit: it was lowered
  for (const size_t place : places) {
    const auto slots = rules.slots.find(requests[place].job_no);
    if (slots == rules.slots.end()) continue;
    const auto taken = static_cast<int64_t>(slots->second.taken.size());
    if (taken > requests[place].overlap.max_running) above.insert(slots->first);
  }
  CARILLON_TRY(ReadStarted(session, {above.begin(), above.end()}, &rules.slots));
  return rules;
}

struct ClaimBatchState {
  LockedRuns runs;
  EnabledExecutors enabled;
  SlotRules jobs;
  GroupsByName groups;
  std::map<RunKey, std::string> refusals = {};  // of runs that somebody behind them may not run
};

// Reads the people behind the runs that act for others, if any does. They may have waited for long
// since a request or the release of a node, which asked before.
Status AskRights(Session& session, const std::vector<ClaimRequest>& requests,
                 const std::vector<size_t>& places, const ClaimRules& rules,
                 ClaimBatchState* state) {
  std::vector<RunKey> asked;
  for (const size_t place : places) {
    const auto run = state->runs.find(requests[place].key);
    if (run == state->runs.end()) continue;
    const RunRow& row = run->second.row;
    const bool on_behalf = (row.flags & run_flag::kOnBehalf) != 0;
    rules.memory.behalf_jobs.Note(row.job_no, on_behalf);
    if (on_behalf && row.state == RunState::kPending) asked.push_back(row.key);
  }
  if (asked.empty() || failpoint::Broken("claim.rights")) return {};
  CARILLON_ASSIGN_OR_RETURN(state->refusals, ReadRefusals(session, asked));
  return {};
}

// The groups are locked before the runs.
Status LockNamedGroups(Session& session, const std::vector<ClaimRequest>& requests,
                       const std::vector<size_t>& places, GroupsByName* groups) {
  for (const size_t place : places) {
    if (!requests[place].group.empty()) (*groups)[requests[place].group];
  }
  return LockGroups(session, groups);
}

// As the slots of jobs: the first run of the queue is read after the runs were locked.
Status LockGroupRules(Session& session, const std::vector<ClaimRequest>& requests,
                      const std::vector<size_t>& places, WallTime now, ClaimBatchState* state) {
  std::map<std::string, std::vector<GroupPlace>> wanted;
  std::set<std::string> reserved;
  for (const size_t place : places) {
    const ClaimRequest& request = requests[place];
    const auto run = state->runs.find(request.key);
    if (request.group.empty() || run == state->runs.end()) continue;
    if (run->second.row.state != RunState::kPending) continue;
    const bool has_slot = run->second.group_slot != 0 &&
                          run->second.row.group == state->groups.at(request.group).group_no;
    if (has_slot) {
      reserved.insert(request.group);
    } else {
      wanted[request.group].push_back(PlaceInGroup(run->second.row));
    }
  }
  for (const std::string& name : reserved) {
    CARILLON_TRY(ReadUse(session, now, &state->groups.at(name)));
  }
  for (const auto& [name, claims] : wanted) {
    LockedGroup& group = state->groups.at(name);
    if (group.group_no == GroupNo{}) continue;
    CARILLON_ASSIGN_OR_RETURN(const auto first, ReadGroupWaits(session, group.group_no, 1));
    if (!first.empty()) group.first = first.front().place;
    // Slots are locked only for runs that may take them: claims that come all the time, behind a
    // run that is queued, would otherwise keep every free slot from the admission of that run.
    const auto count = std::count_if(claims.begin(), claims.end(), [&](const GroupPlace& place) {
      return !group.first || !(*group.first < place) || failpoint::Broken("group.queued_before");
    });
    CARILLON_TRY(LockFreeSlots(session, count, now, Duration{}, &group));
  }
  return {};
}

// Orders claims by their places in a group, so that of several in one batch the first gets
// the slot.
void SortForGroups(const std::vector<ClaimRequest>& requests, const LockedRuns& runs,
                   std::vector<size_t>* places) {
  const auto order = [&](size_t place) {
    const auto run = runs.find(requests[place].key);
    return run == runs.end() ? GroupPlace{.key = requests[place].key}
                             : PlaceInGroup(run->second.row);
  };
  std::stable_sort(places->begin(), places->end(),
                   [&](size_t a, size_t b) { return order(a) < order(b); });
}

// The free slot of the job that the run takes, if it needs one.
std::optional<int64_t> TakeJobSlot(const ClaimRequest& request, const ClaimFacts& facts,
                                   JobSlots* slots) {
  if (slots == nullptr || facts.slots.has_slot) return std::nullopt;
  const std::optional<int64_t> slot = slots->Lowest(request.overlap.max_running);
  CARILLON_CHECK(slot.has_value(), "an accepted claim has a free slot");
  // Later requests of the batch must find the slot taken.
  slots->taken[*slot] = request.key;
  return slot;
}

void TakeGroupSlot(StoredRun& run, LockedGroup* group, const GroupFacts& facts, WallTime now,
                   RunWriter& writer) {
  const uint32_t reserved = facts.has_slot ? run.group_slot : 0;
  if (reserved == 0) writer.FreeGroupSlot(run);  // of a group that its job has left
  if (group == nullptr) return;
  const std::optional<FreeSlot> slot =
      reserved != 0 ? FreeSlot{.slot = reserved} : group->TakeFree();
  CARILLON_CHECK(slot.has_value(), "an accepted claim has a free slot of its group");
  writer.TakeGroupSlot(run, group->group_no, slot->slot, now);
}

// True if the run itself names the group, for its node does. Such a group may be gone when the node
// belongs to an earlier version of its workflow, and limits nothing then.
bool NamesGroup(const RunRow& row, const std::string& group) {
  if ((row.flags & run_flag::kRules) == 0) return false;
  const Result<RunRules> rules = RunRulesFromText(row.rules);
  return rules.ok() && rules->concurrency_group == group;
}

Result<ClaimReply> ClaimOne(const ClaimRequest& request, uint32_t incarnation,
                            ClaimBatchState& state, RunWriter& writer, WallTime now) {
  const auto found = state.runs.find(request.key);
  // A request with a segment other than its run's was checked against the wrong fence. It is
  // decided as if the run did not exist.
  const bool present = found != state.runs.end() && found->second.row.segment == request.segment;
  StoredRun* const run = present ? &found->second : nullptr;
  ClaimFacts facts{.now = now, .executor_enabled = state.enabled.at(request.executor)};
  const bool takes_slots = run != nullptr && TakesSlots(request.overlap.policy);
  JobSlots* const slots = takes_slots ? &state.jobs.slots.at(run->row.job_no) : nullptr;
  JobQueueFacts* const queue = takes_slots ? &state.jobs.queues.at(run->row.job_no) : nullptr;
  if (takes_slots) facts.slots = SlotFactsOf(*slots, *queue, request.key);
  LockedGroup* group =
      run != nullptr && !request.group.empty() ? &state.groups.at(request.group) : nullptr;
  if (group != nullptr && group->group_no == GroupNo{} && NamesGroup(run->row, request.group)) {
    group = nullptr;
  }
  if (group != nullptr) facts.group = GroupFactsOf(*group, *run);
  const auto refusal = state.refusals.find(request.key);
  if (refusal != state.refusals.end()) facts.refusal = refusal->second;
  ClaimDecision decision = DecideClaim(run == nullptr ? nullptr : &run->row, request, facts);
  // The group was deleted, so the job was edited since the task was published.
  if (decision.for_group && group->group_no == GroupNo{}) {
    decision = {ClaimVerdict::kRefused, ClaimReason::kVersionMoved};
  }
  if (decision.verdict == ClaimVerdict::kAccepted) {
    run->row.claim_token = request.token;
    run->row.executor = request.executor;
    run->row.incarnation = request.incarnation;
    run->incarnation_no = incarnation;
    const std::optional<int64_t> slot = TakeJobSlot(request, facts, slots);
    if (takes_slots) slots->started.insert(request.key);
    TakeGroupSlot(*run, group, facts.group, now, writer);
    CARILLON_TRY(writer.Claim(*run, slot, now));
    if (StartsLate(run->row, request, now)) writer.NoteLate(run->row, now);
  } else if (decision.verdict == ClaimVerdict::kSkipped) {
    if (takes_slots) slots->Release(request.key);
    CARILLON_TRY(writer.End(*run, RunState::kSkipped, SkipReasonOf(decision), now, facts.refusal));
  } else if (decision.verdict == ClaimVerdict::kEnqueued) {
    QueueWrite place{.expires = QueueExpiry(run->row, request.overlap.queue_timeout, now)};
    if (decision.for_group) {
      place.group = group->group_no;
      place.slot = TakeJobSlot(request, facts, slots);
      group->Queue(PlaceInGroup(run->row));
    } else {
      slots->Release(request.key);
      queue->Add(request.key);
    }
    CARILLON_TRY(writer.Queue(*run, place, now));
  }
  const bool gave_back =
      decision.verdict == ClaimVerdict::kSkipped || decision.verdict == ClaimVerdict::kEnqueued;
  if (gave_back && facts.group.has_slot && facts.group.warm == Duration{}) --group->used;
  ClaimReply reply{.verdict = decision.verdict, .reason = decision.reason};
  reply.in_timed_group = decision.for_group && group->per > Duration{};
  reply.not_before = decision.not_before;
  if (run != nullptr) {
    reply.job_no = run->row.job_no;
    reply.def_version = run->row.def_version;
  }
  return reply;
}

Status ClaimRead(Session& session, const std::vector<ClaimRequest>& requests,
                 std::vector<size_t> places, const ClaimRules& rules, ClaimBatchState& state,
                 RunWriter& writer, Replies* replies) {
  CARILLON_TRY(LockNamedGroups(session, requests, places, &state.groups));
  std::vector<RunKey> keys;
  keys.reserve(places.size());
  for (const size_t place : places) keys.push_back(requests[place].key);
  CARILLON_ASSIGN_OR_RETURN(state.runs, LockRuns(session, std::move(keys), rules.incarnations));
  CARILLON_ASSIGN_OR_RETURN(state.jobs, LockSlotRules(session, requests, places, state.runs));
  CARILLON_TRY(LockGroupRules(session, requests, places, rules.now, &state));
  CARILLON_TRY(AskRights(session, requests, places, rules, &state));
  for (const auto& [job_no, unused] : state.jobs.slots) rules.memory.slot_jobs.Note(job_no, true);
  if (!state.groups.empty()) SortForGroups(requests, state.runs, &places);
  for (const size_t place : places) {
    if (!requests[place].group.empty()) rules.memory.slot_jobs.Note(requests[place].job_no, true);
    CARILLON_ASSIGN_OR_RETURN((*replies)[place], ClaimOne(requests[place], rules.numbers[place],
                                                          state, writer, rules.now));
  }
  return {};
}

// Fills in the replies of accepted plain claims, from the requests alone: no row is read.
void FinishPlain(const std::vector<ClaimRequest>& requests, const std::vector<size_t>& places,
                 Replies* replies) {
  for (const size_t place : places) {
    const ClaimRequest& request = requests[place];
    (*replies)[place] = {.verdict = ClaimVerdict::kAccepted,
                         .job_no = request.job_no,
                         .def_version = request.def_version};
  }
}

}  // namespace

Result<std::optional<Replies>> ClaimBatch(Session& session,
                                          const std::vector<ClaimRequest>& requests,
                                          const ClaimRules& rules, Look look) {
  EnabledExecutors executors;
  for (const ClaimRequest& request : requests) executors.emplace(request.executor, true);
  ClaimBatchState state;
  CARILLON_ASSIGN_OR_RETURN(state.enabled,
                            LockFenceAndExecutors(session, rules.fence, std::move(executors)));
  const std::set<JobNo> on_behalf = rules.memory.behalf_jobs.Among(requests);
  const PlainSplit split = SplitPlain(requests, [&](const ClaimRequest& request) {
    return look == Look::kPlain && MayBePlain(request) && state.enabled.at(request.executor) &&
           !on_behalf.contains(request.job_no);
  });
  RunWriter writer(session);
  Replies replies(requests.size());
  if (!split.plain.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const Facts facts, WritePlainClaims(session, requests, rules.numbers,
                                                                  split.plain, rules.now));
    if (facts == Facts::kMissed) return std::optional<Replies>{};
    FinishPlain(requests, split.plain, &replies);
  }
  if (!split.others.empty()) {
    CARILLON_TRY(ClaimRead(session, requests, split.others, rules, state, writer, &replies));
  }
  CARILLON_TRY(writer.Flush());
  return std::optional<Replies>(std::move(replies));
}

Result<std::vector<RunKey>> SkipBatch(Session& session, const std::vector<SkipItem>& items,
                                      Incarnations& incarnations, WallTime now) {
  std::vector<RunKey> keys;
  keys.reserve(items.size());
  for (const SkipItem& item : items) keys.push_back(item.key);
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, std::move(keys), incarnations));
  RunWriter writer(session);
  std::vector<RunKey> written;
  for (const SkipItem& item : items) {
    const auto found = runs.find(item.key);
    if (found == runs.end()) continue;
    StoredRun& run = found->second;
    if (!DecideSkip(run.row, item)) continue;
    CARILLON_TRY(writer.End(run, RunState::kSkipped, item.reason, now, item.error));
    written.push_back(item.key);
  }
  CARILLON_TRY(writer.Flush());
  return written;
}

}  // namespace carillon::mysql
