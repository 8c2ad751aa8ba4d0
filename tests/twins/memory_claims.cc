#include "tests/twins/memory_claims.h"

#include <algorithm>
#include <utility>

#include "common/base/failpoint.h"
#include "common/domain/run/run_kind.h"
#include "tests/twins/memory_backers.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

SlotFacts SlotsOf(const MemoryTables& tables, const JobEntry& job, const RunKey& key)
    REQUIRES(tables.mu) {
  const bool has_slot = job.active.contains(key);
  const auto ahead = [&](const RunKey& other) {
    return other < key || (other != key && tables.FindRun(other)->row.state != RunState::kPending);
  };
  return {.has_slot = has_slot,
          .taken = static_cast<int64_t>(job.active.size()) - (has_slot ? 1 : 0),
          .ahead = std::ranges::count_if(job.active, ahead),
          .queued = static_cast<int64_t>(job.queue.size()),
          .queued_before = !job.queue.empty() && job.queue.begin()->first < key};
}

// Null: the request names no group, or one that was deleted.
GroupEntry* GroupOf(MemoryTables& tables, const ClaimRequest& request) REQUIRES(tables.mu) {
  const auto found = tables.groups.find(request.group);
  return found == tables.groups.end() ? nullptr : &found->second;
}

GroupFacts GroupFactsOf(const ClaimRequest& request, const GroupEntry* group, const RunRow& row,
                        WallTime now) {
  if (request.group.empty()) return {};
  if (group == nullptr) return {.named = true};
  const bool stale = failpoint::Broken("group.limit_lock");
  const int64_t limit = stale ? std::max(group->limit, group->limit_before) : group->limit;
  const int64_t used = group->Used(now, Duration{});
  return {
      .named = true,
      .has_slot = row.group == group->group_no,
      .warm = group->Warm(row.key, now),
      .too_many = used > limit,
      .free = FreeInGroup(limit, used) > 0,
      .queued_before = !group->queue.empty() && group->queue.begin()->first < PlaceInGroup(row)};
}

// `group`: null if the run waits for a slot of its job.
void WriteQueued(MemoryTables& tables, RunEntry entry, GroupEntry* group, const OverlapRules& rules,
                 WallTime now) REQUIRES(tables.mu) {
  const RunKey key = entry.row.key;
  const QueueEntry place{now, QueueExpiry(entry.row, rules.queue_timeout, now)};
  JobEntry& job = *tables.FindJob(entry.row.job_no);
  entry.row.due = kQueued;
  entry.row.group = {};
  if (group != nullptr) {
    if (TakesSlots(rules.policy)) {
      job.active.insert(key);
      job.slots.insert(key);
    }
    tables.QueueForGroup(*group, entry.row, place);
    tables.PutRun(std::move(entry));
    return;
  }
  tables.PutRun(std::move(entry));
  job.FreeSlot(key);
  job.queue[key] = place;
}

}  // namespace

bool TakesRuns(const MemoryTables& tables, const ExecutorId& executor) {
  const auto found = tables.executors.find(executor);
  return found == tables.executors.end() || (found->second.enabled && !found->second.draining);
}

void WriteClaim(MemoryTables& tables, RunEntry entry, const ClaimRequest& request, WallTime now) {
  entry.row.state = RunState::kRunning;
  entry.row.claim_token = request.token;
  entry.row.executor = request.executor;
  entry.row.incarnation = request.incarnation;
  entry.row.claimed = now;
  GroupEntry* const group = GroupOf(tables, request);
  if (group != nullptr) group->Give(entry.row.key, now);
  entry.row.group = group == nullptr ? GroupNo{} : group->group_no;
  entry.result = {};
  const RunRow row = entry.row;
  tables.PutRun(std::move(entry));
  if (TakesSlots(request.overlap.policy)) tables.FindJob(row.job_no)->slots.insert(row.key);
  if (!StartsLate(row, request, now)) return;
  AddNotice(tables, {.kind = NoticeKind::kLate,
                     .segment = row.segment,
                     .job_no = row.job_no,
                     .key = row.key,
                     .attempt = row.attempt,
                     .state = row.state,
                     .created = now});
}

ClaimReply ClaimOne(MemoryTables& tables, const ClaimRequest& request, WallTime now) {
  const RunEntry* found = tables.FindRun(request.key);
  // A request that names another segment was checked against the wrong fence.
  if (found != nullptr && found->row.segment != request.segment) found = nullptr;
  ClaimFacts facts{.now = now, .executor_enabled = TakesRuns(tables, request.executor)};
  if (found != nullptr)
    facts.slots = SlotsOf(tables, *tables.FindJob(found->row.job_no), request.key);
  GroupEntry* const group = GroupOf(tables, request);
  if (found != nullptr) facts.group = GroupFactsOf(request, group, found->row, now);
  const bool on_behalf = found != nullptr && (found->row.flags & run_flag::kOnBehalf) != 0;
  if (on_behalf && !failpoint::Broken("claim.rights")) {
    facts.refusal =
        RefusalOf(BackersOfRun(tables, *found), tables.OwnerOf(found->row.job_no).definition);
  }
  ClaimDecision decision = DecideClaim(found == nullptr ? nullptr : &found->row, request, facts);
  if (decision.for_group && group == nullptr) {
    decision = {ClaimVerdict::kRefused, ClaimReason::kVersionMoved};
  }
  if (decision.verdict == ClaimVerdict::kAccepted) {
    WriteClaim(tables, *found, request, now);
  } else if (decision.verdict == ClaimVerdict::kSkipped) {
    WriteSkip(tables, *found, SkipReasonOf(decision), now, facts.refusal);
  } else if (decision.verdict == ClaimVerdict::kEnqueued) {
    WriteQueued(tables, *found, decision.for_group ? group : nullptr, request.overlap, now);
  }
  ClaimReply reply{.verdict = decision.verdict, .reason = decision.reason};
  reply.in_timed_group = decision.for_group && group->per > Duration{};
  reply.not_before = decision.not_before;
  if (found != nullptr) {
    reply.job_no = found->row.job_no;
    reply.def_version = found->row.def_version;
  }
  return reply;
}

}  // namespace carillon::memory
