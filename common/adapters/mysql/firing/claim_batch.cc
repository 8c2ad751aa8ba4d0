#include "common/adapters/mysql/firing/claim_batch.h"

#include <algorithm>

#include "common/adapters/mysql/firing/job_slots.h"
#include "common/adapters/mysql/rows/run_rows.h"
#include "common/adapters/mysql/rows/run_writer.h"

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
  return rules;
}

struct ClaimBatchState {
  LockedRuns runs;
  EnabledExecutors enabled;
  SlotRules jobs;
};

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
  const ClaimDecision decision = DecideClaim(run == nullptr ? nullptr : &run->row, request, facts);
  if (decision.verdict == ClaimVerdict::kAccepted) {
    run->row.claim_token = request.token;
    run->row.executor = request.executor;
    run->row.incarnation = request.incarnation;
    run->incarnation_no = incarnation;
    std::optional<int64_t> slot;
    if (takes_slots && !facts.slots.has_slot) {
      slot = slots->Lowest(request.overlap.max_running);
      CARILLON_CHECK(slot.has_value(), "an accepted claim has a free slot");
      // Later requests of the batch must find the slot taken.
      slots->taken[*slot] = request.key;
    }
    CARILLON_TRY(writer.Claim(*run, slot, now));
    if (StartsLate(run->row, request, now)) writer.NoteLate(run->row, now);
  } else if (decision.verdict == ClaimVerdict::kSkipped) {
    if (takes_slots) slots->Release(request.key);
    CARILLON_TRY(writer.End(*run, RunState::kSkipped, SkipReasonOf(decision), now));
  } else if (decision.verdict == ClaimVerdict::kEnqueued) {
    const Duration timeout = request.overlap.queue_timeout;
    const WallTime expires = timeout > Duration::zero() ? now + timeout : kNever;
    slots->Release(request.key);
    queue->Add(request.key);
    CARILLON_TRY(writer.Queue(*run, expires, now));
  }
  ClaimReply reply{.verdict = decision.verdict, .reason = decision.reason};
  if (run != nullptr) {
    reply.job_no = run->row.job_no;
    reply.def_version = run->row.def_version;
  }
  return reply;
}

Status ClaimRead(Session& session, const std::vector<ClaimRequest>& requests,
                 const std::vector<size_t>& places, const ClaimRules& rules, ClaimBatchState& state,
                 RunWriter& writer, Replies* replies) {
  std::vector<RunKey> keys;
  keys.reserve(places.size());
  for (const size_t place : places) keys.push_back(requests[place].key);
  CARILLON_ASSIGN_OR_RETURN(state.runs, LockRuns(session, std::move(keys), rules.incarnations));
  CARILLON_ASSIGN_OR_RETURN(state.jobs, LockSlotRules(session, requests, places, state.runs));
  for (const auto& [job_no, unused] : state.jobs.slots) rules.slot_jobs.Note(job_no, true);
  for (const size_t place : places) {
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
  const PlainSplit split = SplitPlain(requests, [&](const ClaimRequest& request) {
    return look == Look::kPlain && MayBePlain(request) && state.enabled.at(request.executor);
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

Result<size_t> SkipBatch(Session& session, const std::vector<SkipItem>& items,
                         Incarnations& incarnations, WallTime now) {
  std::vector<RunKey> keys;
  keys.reserve(items.size());
  for (const SkipItem& item : items) keys.push_back(item.key);
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, std::move(keys), incarnations));
  RunWriter writer(session);
  size_t written = 0;
  for (const SkipItem& item : items) {
    const auto found = runs.find(item.key);
    if (found == runs.end()) continue;
    StoredRun& run = found->second;
    if (!DecideSkip(run.row, item)) continue;
    CARILLON_TRY(writer.End(run, RunState::kSkipped, item.reason, now));
    ++written;
  }
  CARILLON_TRY(writer.Flush());
  return written;
}

}  // namespace carillon::mysql
