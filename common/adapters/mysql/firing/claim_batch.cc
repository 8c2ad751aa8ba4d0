#include "common/adapters/mysql/firing/claim_batch.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/rows/run_rows.h"
#include "common/adapters/mysql/rows/run_writer.h"

namespace carillon::mysql {
namespace {

// The runs that hold overlap slots, by job.
using Slots = std::map<JobNo, std::vector<RunKey>>;

Result<Slots> LockSlots(Session& session, const std::vector<ClaimRequest>& requests,
                        const std::vector<size_t>& places, const LockedRuns& runs) {
  static const std::string statement =
      "SELECT t.job_no, t.fire_us, t.schedule_id, t.shard FROM JSON_TABLE(?, '$[*]' COLUMNS ("
      "j BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN run_slots t FORCE INDEX (PRIMARY) "
      "ON t.job_no = k.j FOR UPDATE";
  Slots slots;
  for (const size_t place : places) {
    const ClaimRequest& request = requests[place];
    const auto run = runs.find(request.key);
    if (request.overlap == OverlapPolicy::kSkip && run != runs.end()) {
      slots[run->second.row.job_no];
    }
  }
  if (slots.empty()) return slots;
  JsonRows wanted;
  for (const auto& [job_no, unused] : slots) wanted.Begin().Add(job_no.value());
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  while (rows.Next()) {
    slots[JobNo(rows.Unsigned(1))].push_back({.fire = rows.Time(2),
                                              .schedule_id = ScheduleId(rows.Unsigned(3)),
                                              .shard = static_cast<uint32_t>(rows.Unsigned(4))});
  }
  return slots;
}

struct ClaimBatchState {
  LockedRuns runs;
  EnabledExecutors enabled;
  Slots slots;
};

Result<ClaimReply> ClaimOne(const ClaimRequest& request, uint32_t incarnation,
                            ClaimBatchState& state, RunWriter& writer, WallTime now) {
  const auto found = state.runs.find(request.key);
  // A request with a segment other than its run's was checked against the wrong fence. It is
  // decided as if the run did not exist.
  const bool present = found != state.runs.end() && found->second.row.segment == request.segment;
  StoredRun* const run = present ? &found->second : nullptr;
  ClaimFacts facts{.now = now, .executor_enabled = state.enabled.at(request.executor)};
  std::vector<RunKey>* slots = nullptr;
  if (run != nullptr && request.overlap == OverlapPolicy::kSkip) {
    slots = &state.slots.at(run->row.job_no);
    facts.overlap_slot_free = std::all_of(slots->begin(), slots->end(),
                                          [&](const RunKey& key) { return key == request.key; });
  }
  const ClaimDecision decision = DecideClaim(run == nullptr ? nullptr : &run->row, request, facts);
  if (decision.verdict == ClaimVerdict::kAccepted) {
    run->row.claim_token = request.token;
    run->row.executor = request.executor;
    run->row.incarnation = request.incarnation;
    run->incarnation_no = incarnation;
    const bool take_slot = slots != nullptr && slots->empty();
    // Later requests of the batch must find the slot taken.
    if (take_slot) slots->push_back(request.key);
    CARILLON_TRY(writer.Claim(*run, take_slot, now));
    if (StartsLate(run->row, request, now)) writer.NoteLate(run->row, now);
  } else if (decision.verdict == ClaimVerdict::kSkipped) {
    CARILLON_TRY(writer.End(*run, RunState::kSkipped, reason::kOverlap, now));
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
  CARILLON_ASSIGN_OR_RETURN(state.slots, LockSlots(session, requests, places, state.runs));
  for (const auto& [job_no, unused] : state.slots) rules.slot_jobs.Note(job_no, true);
  for (const size_t place : places) {
    CARILLON_ASSIGN_OR_RETURN((*replies)[place], ClaimOne(requests[place], rules.numbers[place],
                                                          state, writer, rules.now));
  }
  return {};
}

// Fills in the replies and the notices of accepted plain claims. Everything needed is in the
// requests, so no row is read.
void FinishPlain(const std::vector<ClaimRequest>& requests, const std::vector<size_t>& places,
                 WallTime now, RunWriter& writer, Replies* replies) {
  for (const size_t place : places) {
    const ClaimRequest& request = requests[place];
    (*replies)[place] = {.verdict = ClaimVerdict::kAccepted,
                         .job_no = request.job_no,
                         .def_version = request.def_version};
    if (request.late_after == Duration::zero()) continue;
    const RunRow row{.key = request.key,
                     .job_no = request.job_no,
                     .segment = request.segment,
                     .state = RunState::kRunning,
                     .attempt = request.attempt};
    if (StartsLate(row, request, now)) writer.NoteLate(row, now);
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
    FinishPlain(requests, split.plain, rules.now, writer, &replies);
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
