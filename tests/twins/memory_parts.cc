#include "tests/twins/memory_parts.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "common/base/check.h"
#include "common/base/failpoint.h"
#include "common/domain/nodes/mapped_items.h"
#include "common/domain/parts/fan_out_places.h"
#include "common/domain/parts/fire_end.h"
#include "common/domain/parts/new_part.h"
#include "common/domain/run/dependents.h"
#include "common/domain/run/returns.h"
#include "common/domain/workflow/node_key.h"
#include "tests/twins/memory_claims.h"
#include "tests/twins/memory_node_jobs.h"
#include "tests/twins/memory_run_writes.h"
#include "tests/twins/memory_workflow_runs.h"

namespace carillon::memory {
namespace {

std::vector<FanOutHost> HostsOf(const MemoryTables& tables) REQUIRES(tables.mu) {
  std::vector<FanOutHost> hosts;
  // Broken: those that a member remembers to have heard of.
  const bool heard_only = failpoint::Broken("parts.memory_membership");
  for (const auto& [id, record] : tables.executors) {
    if (heard_only && record.state != ExecutorState::kOnline) continue;
    FanOutHost host{.id = id,
                    .enabled = record.enabled,
                    .draining = record.draining,
                    .labels = record.labels,
                    .features = record.abilities.features,
                    .handlers = record.abilities.handlers,
                    .heard = record.last_heartbeat};
    hosts.push_back(std::move(host));
  }
  return hosts;
}

// The last attempt of a part that the fire has lost (ReplaceParts); 0 = none.
int KnownAttempt(const MemoryTables& tables, const RunKey& part) REQUIRES(tables.mu) {
  const auto next = tables.logs.upper_bound({part, std::numeric_limits<int>::max()});
  if (next == tables.logs.begin()) return 0;
  const auto& [run, attempt] = std::prev(next)->first;
  return run == part ? attempt : 0;
}

// The executor that a part is bound to; empty: any may run it.
ExecutorId HostOfPart(const Places& places, uint32_t shard) {
  return places.hosts.empty() ? ExecutorId() : places.hosts[shard - 1];
}

void InsertPart(MemoryTables& tables, const RunRow& own, const Places& places, uint32_t shard,
                WallTime now) REQUIRES(tables.mu) {
  RunKey key = own.key;
  key.shard = shard;
  RunRow row = NewPart(own, shard, places.total, KnownAttempt(tables, key), now);
  row.pinned_executor = HostOfPart(places, shard);
  CopyRules(own, &row);
  tables.PutRun({.row = std::move(row), .planned = now});
}

// Gives the parts of an earlier begin the places of this one, of which there may be none. Returns
// the keys of those that stay. Of the others the numbers of the attempts stay with the logs.
std::vector<RunKey> ReplaceParts(MemoryTables& tables, const RunRow& own,
                                 const std::vector<RunKey>& before, const Places& places)
    REQUIRES(tables.mu) {
  // A list of items may have changed, and still be as long.
  const bool same = places.total == before.size() && !RulesOf(own).items &&
                    std::ranges::all_of(before, [&](const RunKey& key) {
                      const ExecutorId& host = tables.FindRun(key)->row.pinned_executor;
                      return host == HostOfPart(places, key.shard);
                    });
  if (same) return before;
  std::vector<RunKey> stay;
  for (const RunKey& key : before) {
    tables.saved.erase(key);
    RunEntry part = *tables.FindRun(key);
    if (key.shard <= places.total) {
      part.row.shard_total = static_cast<uint32_t>(places.total);
      part.row.pinned_executor = HostOfPart(places, key.shard);
      tables.PutRun(std::move(part));
      stay.push_back(key);
    } else if (IsFinal(part.row.state)) {
      tables.logs.try_emplace({key, part.row.attempt});
      tables.EraseRun(key);
    }
  }
  return stay;
}

void BeginAgain(MemoryTables& tables, const RunRow& own, const std::vector<RunKey>& parts,
                WallTime now) REQUIRES(tables.mu) {
  for (const RunKey& key : parts) {
    RunEntry part = *tables.FindRun(key);
    if (!IsFinal(part.row.state)) continue;
    part.row.flags |= FlagsOfPart(own);
    CopyRules(own, &part.row);
    const RunChange change = BeginPartAgain(part.row, own, now);
    const AttemptResult ended = LastAttempt(part).result;
    CARILLON_CHECK(WriteChange(tables, std::move(part), change, ended, now).ok(),
                   "a part may be opened again");
  }
}

// The output that a mapped node collects from its parts; "" = none.
std::string CollectedName(MemoryTables& tables, const RunKey& own) REQUIRES(tables.mu) {
  const WorkflowEntry* workflow = tables.WorkflowOfNode(own);
  if (workflow == nullptr) return {};
  const auto graph = GraphOf(tables, *workflow);
  return graph.ok() ? graph->node(NodePlaceOf(own)->position).collect : std::string();
}

// Adds the output to the end of the fire, or changes it to a failure.
void Collect(MemoryTables& tables, const RunKey& own, RunChange* change, AttemptResult* result)
    REQUIRES(tables.mu) {
  const std::string name = CollectedName(tables, own);
  if (name.empty()) return;
  std::vector<std::optional<std::string>> outputs;
  for (const RunKey& key : PartsOf(tables, own)) {
    const Outputs& of_part = tables.FindRun(key)->result.outputs;
    const auto found = of_part.find(name);
    outputs.push_back(found == of_part.end() ? std::nullopt : std::optional(found->second));
  }
  AddCollected(name, outputs, *change, *result);
}

void EndWithoutParts(MemoryTables& tables, RunEntry own, const Places& places, WallTime now,
                     PartsReply* reply) REQUIRES(tables.mu) {
  own.row.flags &= ~run_flag::kParts;
  own.row.shard_total = 1;
  NoParts end = EndOfNoParts(own.row, places, now);
  Collect(tables, own.row.key, &end.change, &end.result);
  reply->ended = end.change.state;
  reply->completed = IsAwaited(own.row);
  CARILLON_CHECK(WriteChange(tables, std::move(own), end.change, end.result, now).ok(),
                 "an own run that has begun may end");
}

// Deletes the completions. Returns the parts of which they tell, if the rule is broken that parts
// are counted after that: to a count of before, these are open.
std::set<uint32_t> TakeTold(MemoryTables& tables, const FireLook& fire) REQUIRES(tables.mu) {
  std::set<uint32_t> counted_before;
  for (const uint64_t id : fire.told) {
    const auto told = tables.completions.find(id);
    if (told == tables.completions.end()) continue;
    if (failpoint::Broken("parts.count_before_lock")) {
      counted_before.insert(told->second.key.shard);
    }
    tables.completions.erase(told);
  }
  return counted_before;
}

std::vector<PartEnd> EndsOf(const MemoryTables& tables, const RunKey& own) REQUIRES(tables.mu) {
  std::vector<PartEnd> ends;
  for (const RunKey& key : PartsOf(tables, own)) {
    const RunEntry& part = *tables.FindRun(key);
    ends.push_back({.shard = key.shard,
                    .state = part.row.state,
                    .first_try = IsFirstTry(part.row),
                    .may_still_run = part.row.may_still_run,
                    .reason = part.result.reason,
                    .claimed = part.row.claimed,
                    .started = part.result.started,
                    .ended = part.result.ended});
  }
  return ends;
}

bool IsTold(const MemoryTables& tables, const RunKey& own) REQUIRES(tables.mu) {
  return std::ranges::any_of(tables.completions, [&](const auto& entry) {
    const RunKey& key = entry.second.key;
    return entry.second.target == CompletionTarget::kParts && key.fire == own.fire &&
           key.schedule_id == own.schedule_id;
  });
}

}  // namespace

std::vector<RunKey> PartsOf(const MemoryTables& tables, const RunKey& own) {
  std::vector<RunKey> parts;
  const auto& runs = tables.runs();
  for (auto it = runs.upper_bound({own.fire, own.schedule_id, 0}); it != runs.end(); ++it) {
    if (it->first.fire != own.fire || it->first.schedule_id != own.schedule_id) break;
    parts.push_back(it->first);
  }
  return parts;
}

Result<PartsReply> BeginPartsOf(MemoryTables& tables, const PartsRequest& parts, WallTime now) {
  const ClaimRequest& request = parts.claim;
  const RunEntry* found = tables.FindRun(request.key);
  const bool may_begin = found != nullptr && found->row.state == RunState::kPending &&
                         found->row.job_no == request.job_no &&
                         found->row.def_version == request.def_version;
  JobDefinition definition;
  if (may_begin) {
    CARILLON_ASSIGN_OR_RETURN(definition, DefinitionOf(tables, found->row));
    if (!FansOut(definition)) return {ErrorCode::kConflict, "begin: the job has no shards"};
  }
  const ClaimReply claimed = ClaimOne(tables, request, now);
  PartsReply reply{.verdict = claimed.verdict, .reason = claimed.reason};
  if (reply.verdict != ClaimVerdict::kAccepted) return reply;
  RunEntry own = *tables.FindRun(request.key);
  const std::vector<RunKey> before = PartsOf(tables, request.key);
  const Places places =
      parts.rendered ? *parts.rendered : PlacesOf(definition, HostsOf(tables), now);
  const std::vector<RunKey> stay = ReplaceParts(tables, own.row, before, places);
  if (places.total == 0) {
    EndWithoutParts(tables, std::move(own), places, now, &reply);
    return reply;
  }
  BeginAgain(tables, own.row, stay, now);
  for (uint32_t shard = 1; shard <= places.total; ++shard) {
    if (tables.FindRun({request.key.fire, request.key.schedule_id, shard}) != nullptr) continue;
    InsertPart(tables, own.row, places, shard, now);
  }
  own.row.flags |= run_flag::kParts;
  own.row.shard_total = static_cast<uint32_t>(places.total);
  tables.PutRun(std::move(own));
  reply.due = RunKey{request.key.fire, request.key.schedule_id, 1};
  return reply;
}

FireEffect EndFireOf(MemoryTables& tables, const FireLook& fire, WallTime now) {
  const std::set<uint32_t> counted_before = TakeTold(tables, fire);
  const RunEntry* found = tables.FindRun(fire.own);
  if (found == nullptr || found->row.segment != fire.segment) return {};
  std::vector<PartEnd> ends = EndsOf(tables, fire.own);
  for (PartEnd& part : ends) {
    if (counted_before.contains(part.shard)) part.state = RunState::kRunning;
  }
  const auto end = EndOf(ends, found->row);
  if (!end) {
    if (HasBegunParts(found->row) && found->row.cancel_requested) {
      const EndedRuns before = tables.ended;  // no user's request
      CancelParts(tables, fire.own, {.now = now, .cancel_mode = *found->row.cancel_requested});
      tables.ended = before;
    }
    return {};
  }
  const JobEntry& job = *tables.FindJob(found->row.job_no);
  auto change = DecideFireEnd(found->row, job.deleted, *end);
  if (!change) return {};
  AttemptResult result = ResultOf(*end, now);
  Collect(tables, fire.own, &*change, &result);
  RunEntry own = *found;
  own.row.flags |= EndFlags(own.row.kind, own.row.flags, job.has_dependents);
  FireEffect effect{.ended = change->state,
                    .freed_slot = job.slots.contains(fire.own),
                    .completed = IsAwaited(own.row)};
  CARILLON_CHECK(WriteChange(tables, std::move(own), *change, result, now).ok(),
                 "an own run that has begun may end");
  return effect;
}

std::vector<FireLook> UnendedOf(const MemoryTables& tables, SegmentId segment, WallTime due) {
  std::vector<FireLook> unended;
  for (const RunKey& key : tables.running(segment)) {
    const RunRow& row = tables.FindRun(key)->row;
    if (!HasBegunParts(row) || row.due > due || IsTold(tables, key)) continue;
    const std::vector<PartEnd> ends = EndsOf(tables, key);
    const bool open =
        std::ranges::any_of(ends, [](const PartEnd& part) { return !IsFinal(part.state); });
    if (!open) unended.push_back({.own = key, .segment = segment, .job_no = row.job_no});
  }
  return unended;
}

}  // namespace carillon::memory
