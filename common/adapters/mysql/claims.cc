// Step 7: claims, and runs that are skipped.
#include <algorithm>

#include <fmt/core.h>

#include "common/adapters/mysql/json_rows.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/run_rows.h"
#include "common/adapters/mysql/run_writer.h"
#include "common/adapters/mysql/transaction.h"

namespace carillon::mysql {
namespace {

// Which runs hold overlap slots of a job.
using Slots = std::map<JobNo, std::vector<RunKey>>;

Result<Slots> LockSlots(Session& session, const std::vector<ClaimRequest>& requests,
                        const LockedRuns& runs) {
  static const std::string statement =
      "SELECT t.job_no, t.fire_us, t.schedule_id, t.shard FROM JSON_TABLE(?, '$[*]' COLUMNS ("
      "j BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN run_slots t FORCE INDEX (PRIMARY) "
      "ON t.job_no = k.j FOR UPDATE";
  Slots slots;
  for (const ClaimRequest& request : requests) {
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
  std::vector<uint32_t> incarnations;  // of each request
};

Result<ClaimReply> ClaimOne(const ClaimRequest& request, uint32_t incarnation,
                            ClaimBatchState& state, RunWriter& writer, WallTime now) {
  const auto found = state.runs.find(request.key);
  // A request under another segment would pass a fence that is not the run's.
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
    if (take_slot) slots->push_back(request.key);
    CARILLON_TRY(writer.Claim(*run, take_slot, now));
    if (StartsLate(run->row, request, now)) writer.NoteLate(*run, now);
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

Result<std::vector<ClaimReply>> ClaimLocked(Session& session, Incarnations& incarnations,
                                            const std::vector<ClaimRequest>& requests,
                                            const std::vector<uint32_t>& numbers,
                                            const Fence& fence, WallTime now) {
  EnabledExecutors executors;
  for (const ClaimRequest& request : requests) executors.emplace(request.executor, true);
  ClaimBatchState state;
  CARILLON_ASSIGN_OR_RETURN(state.enabled,
                            LockFenceAndExecutors(session, fence, std::move(executors)));
  std::vector<RunKey> keys;
  keys.reserve(requests.size());
  for (const ClaimRequest& request : requests) keys.push_back(request.key);
  CARILLON_ASSIGN_OR_RETURN(state.runs, LockRuns(session, std::move(keys), incarnations));
  CARILLON_ASSIGN_OR_RETURN(state.slots, LockSlots(session, requests, state.runs));
  RunWriter writer(session);
  std::vector<ClaimReply> replies;
  replies.reserve(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    CARILLON_ASSIGN_OR_RETURN(const ClaimReply reply,
                              ClaimOne(requests[i], numbers[i], state, writer, now));
    replies.push_back(reply);
  }
  CARILLON_TRY(writer.Flush());
  return replies;
}

}  // namespace

Result<std::vector<ClaimReply>> MysqlStore::Claim(const std::vector<ClaimRequest>& requests,
                                                  const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(requests, fence, "claim"));
  if (requests.empty()) return std::vector<ClaimReply>{};
  std::vector<uint32_t> numbers;
  numbers.reserve(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const ClaimRequest& request = requests[i];
    if (i > 0 && requests[i - 1].executor == request.executor &&
        requests[i - 1].incarnation == request.incarnation) {
      numbers.push_back(numbers.back());
      continue;
    }
    CARILLON_ASSIGN_OR_RETURN(
        const uint32_t number,
        kept_->incarnations.NumberOf(*pool_, {request.executor, request.incarnation}));
    numbers.push_back(number);
  }
  // A duplicate key is the overlap slot, taken between our look and our insert: look again.
  return InTransaction(
      *pool_, {.operation = "claim", .retry_duplicates = true}, [&](Session& session) {
        return ClaimLocked(session, kept_->incarnations, requests, numbers, fence, now);
      });
}

Result<size_t> MysqlStore::Skip(const std::vector<SkipItem>& items, const Fence& fence,
                                WallTime now) {
  CARILLON_TRY(CheckBatch(items, fence, "skip"));
  if (items.empty()) return size_t{0};
  return InTransaction(*pool_, {.operation = "skip"}, [&](Session& session) -> Result<size_t> {
    CARILLON_TRY(LockFence(session, fence));
    std::vector<RunKey> keys;
    keys.reserve(items.size());
    for (const SkipItem& item : items) keys.push_back(item.key);
    CARILLON_ASSIGN_OR_RETURN(LockedRuns runs,
                              LockRuns(session, std::move(keys), kept_->incarnations));
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
  });
}

}  // namespace carillon::mysql
