#include "tests/sim/parts_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/domain/parts/run_part.h"
#include "common/domain/run/returns.h"
#include "tests/sim/checker.h"

namespace carillon::sim {
namespace {

constexpr Duration kHeardAlive = 90s;
constexpr Duration kHeardAtAll = 1h;

// Between its begin and its end. With an executor it runs there, since its job has lost its shards.
bool RunsInParts(const RunRow& own) {
  return own.state == RunState::kRunning && own.executor.empty() &&
         (own.flags & run_flag::kParts) != 0;
}

bool IsLostInParts(const RunRow& own) {
  return own.state == RunState::kLost && own.executor.empty() &&
         (own.flags & run_flag::kParts) != 0;
}

struct FireOutcome {
  RunState state = RunState::kCompleted;
  std::string_view why = {};
};

// The end that follows from ended parts. Written out here, so that a mistake in the rule
// itself is noticed.
FireOutcome OutcomeOf(const std::vector<const memory::RunEntry*>& parts, bool cancelled) {
  size_t failed = 0, timed_out = 0, lost = 0, stopped = 0, deleted = 0, passed_over = 0, away = 0;
  size_t too_old = 0;    // of those passed over, without an attempt
  size_t left = 0;       // their hosts do not match any more
  bool unknown = false;  // a process may still run
  for (const memory::RunEntry* part : parts) {
    const std::string& why = part->result.reason;
    const bool first = part->row.attempt - ReturnsOf(part->row) == 1;
    unknown = unknown || (part->row.state == RunState::kFailed && why == "executor_lost") ||
              (part->row.state == RunState::kCancelled && why == "outcome_unknown");
    switch (part->row.state) {
      case RunState::kFailed: ++failed; break;
      case RunState::kTimedOut: ++timed_out; break;
      case RunState::kLost: ++lost; break;
      case RunState::kCancelled: ++(why == "deleted" ? deleted : stopped); break;
      case RunState::kSkipped:
        if (why == "deleted") {
          ++deleted;
        } else if (why == "no_executor") {
          ++left;
        } else if (why != "host_down") {
          ++passed_over;
          if (first && why == "queue_timeout") ++too_old;
        } else {
          ++(first ? away : failed);
        }
        break;
      default: break;
    }
  }
  if (cancelled) return {RunState::kCancelled, unknown ? "outcome_unknown" : "cancelled"};
  if (too_old > 0 && too_old == parts.size()) return {RunState::kSkipped, "queue_timeout"};
  if (failed + timed_out + lost > 0) {
    if (unknown) return {RunState::kFailed, "executor_lost"};
    if (failed > 0) return {RunState::kFailed, "shard_failed"};
    return {timed_out > 0 ? RunState::kTimedOut : RunState::kLost, "shard_failed"};
  }
  if (stopped > 0) {
    return {RunState::kCancelled, unknown ? "outcome_unknown" : "cancelled"};
  }
  if (deleted > 0) return {RunState::kCancelled, "deleted"};
  if (passed_over > 0) return {RunState::kFailed, "shard_failed"};
  if (away + left == parts.size()) {
    return {RunState::kSkipped, away > 0 ? "host_down" : "no_executor"};
  }
  return {};
}

}  // namespace

std::vector<RunKey> PartsCheck::PartsOf(const RunKey& own) const {
  std::vector<RunKey> parts;
  for (auto run = tables_.runs().upper_bound(own);
       run != tables_.runs().end() && OwnRunOf(run->first) == own; ++run) {
    parts.push_back(run->first);
  }
  return parts;
}

bool PartsCheck::HasRemoved(const RunKey& part, int attempt) const {
  const auto found = removed_.find(part);
  return found != removed_.end() && attempt <= found->second;
}

std::vector<const memory::RunEntry*> PartsCheck::EntriesOf(const RunKey& own) const {
  std::vector<const memory::RunEntry*> entries;
  for (const RunKey& key : PartsOf(own)) entries.push_back(tables_.FindRun(key));
  return entries;
}

const JobDefinition* PartsCheck::DefinitionOf(const RunRow& row) const {
  const memory::JobEntry* job = tables_.FindJob(row.job_no);
  if (job == nullptr) return nullptr;
  const auto version = job->versions.find(row.def_version);
  return version == job->versions.end() ? nullptr : &version->second;
}

// The hosts that the number of parts follows from. In these worlds no job has a selector.
std::set<ExecutorId> PartsCheck::HostsFor(const JobDefinition& job, WallTime now) const {
  std::set<ExecutorId> hosts;
  for (const auto& [id, record] : tables_.executors) {
    const Duration silent = now - record.last_heartbeat;
    const bool takes_parts = !record.draining && silent <= kHeardAlive &&
                             record.abilities.features.Has(Feature::kShards);
    const bool counts = job.broadcast ? silent <= kHeardAtAll : takes_parts;
    if (record.enabled && counts) hosts.insert(id);
  }
  return hosts;
}

std::optional<std::string> PartsCheck::RunWritten(const RunRow* before, const RunRow* after,
                                                  Writer writer) {
  const RunRow& row = after != nullptr ? *after : *before;
  const RunKey own = OwnRunOf(row.key);
  if (begins_ && *begins_ != own) {
    return "began and has no parts: run " + EncodeRunId(*begins_);
  }
  if (IsPart(row.key)) return PartWritten(before, after);
  if (after == nullptr) {
    if (PartsOf(own).empty()) return std::nullopt;
    return "removed before its parts: " + Describe(row);
  }
  if (begins_) return Begun(*after);
  if (before == nullptr) return std::nullopt;
  const bool claimed = before->state == RunState::kPending && after->state == RunState::kRunning;
  const JobDefinition* job = DefinitionOf(*after);
  const bool in_parts = job != nullptr && (job->shards || job->broadcast);
  if (claimed && after->executor.empty() && in_parts && writer == Writer::kMember) {
    begins_ = own;
    return std::nullopt;
  }
  const bool ends = IsFinal(after->state) && after->state != before->state;
  if (ends && (RunsInParts(*before) || IsLostInParts(*before))) return Ended(*before, *after);
  return std::nullopt;
}

std::optional<std::string> PartsCheck::PartWritten(const RunRow* before, const RunRow* after) {
  if (after == nullptr) {
    const bool may_go = Begins(OwnRunOf(before->key)) && IsFinal(before->state);
    if (!may_go) return "removed: " + Describe(*before);
    removed_[before->key] = before->attempt;
    return std::nullopt;
  }
  const RunKey key = OwnRunOf(after->key);
  const memory::RunEntry* own = tables_.FindRun(key);
  if (own == nullptr || after->kind != RunKind::kShard) return "of no fire: " + Describe(*after);
  if (before == nullptr && !Begins(key)) return "made after the begin: " + Describe(*after);
  if (IsFinal(after->state)) {
    const auto parts = EntriesOf(key);
    const bool open = std::ranges::any_of(
        parts, [](const memory::RunEntry* part) { return !IsFinal(part->row.state); });
    if (!open && RunsInParts(own->row)) closed_.try_emplace(key, now_());
    return std::nullopt;
  }
  closed_.erase(key);
  if (!Begins(key) && !RunsInParts(own->row)) {
    return fmt::format("open, and its own run is {}: {}", Name(own->row.state), Describe(*after));
  }
  const bool queued = after->state == RunState::kPending && after->due == kQueued;
  if (queued && tables_.WaitsForGroup(after->key) == nullptr) {
    return "waits for a slot of its job: " + Describe(*after);
  }
  const bool claimed = before != nullptr && before->state == RunState::kPending &&
                       after->state == RunState::kRunning;
  return claimed ? Claimed(*after, own->row) : std::nullopt;
}

std::optional<std::string> PartsCheck::Claimed(const RunRow& part, const RunRow& own) const {
  if (own.cancel_requested) return "claimed after the cancel of its fire: " + Describe(part);
  if (part.shard_total != own.shard_total) {
    return fmt::format("one of {} and not of {}: {}", part.shard_total, own.shard_total,
                       Describe(part));
  }
  if (part.pinned_executor.empty() || part.pinned_executor == part.executor) return std::nullopt;
  return fmt::format("of {}, and claimed by {}: {}", part.pinned_executor.value(),
                     part.executor.value(), Describe(part));
}

std::optional<std::string> PartsCheck::Begun(const RunRow& own) {
  begins_.reset();
  closed_.erase(own.key);
  const JobDefinition& job = *DefinitionOf(own);
  const auto parts = EntriesOf(own.key);
  const std::set<ExecutorId> hosts = HostsFor(job, own.claimed);
  if (own.state != RunState::kRunning) {
    const bool nowhere = job.broadcast && hosts.empty() && parts.empty();
    if (nowhere && own.state == RunState::kSkipped) return std::nullopt;
    return "began without parts: " + Describe(own);
  }
  size_t total = hosts.size();
  if (job.shards) {
    const auto most = static_cast<size_t>(job.shards->alive ? job.shards->max : job.shards->total);
    total = job.shards->alive ? std::clamp(total, size_t{1}, most) : most;
  }
  if (parts.size() != total || own.shard_total != total || !RunsInParts(own)) {
    return fmt::format("began with {} parts of {}, and not {}: {}", parts.size(), own.shard_total,
                       total, Describe(own));
  }
  std::set<ExecutorId> bound;
  for (size_t i = 0; i < parts.size(); ++i) {
    const RunRow& part = parts[i]->row;
    const bool whole = part.key.shard == i + 1 && part.shard_total == total &&
                       part.job_no == own.job_no && part.def_version == own.def_version &&
                       part.state == RunState::kPending && IsTime(part.due);
    if (!whole) return "not a part of its begin: " + Describe(part);
    if (!part.pinned_executor.empty()) bound.insert(part.pinned_executor);
  }
  const bool placed = bound == (job.broadcast ? hosts : std::set<ExecutorId>());
  if (!placed) {
    return fmt::format("began on {} hosts of {}: {}", bound.size(), hosts.size(), Describe(own));
  }
  ++begun_;
  if (job.broadcast && total > 1) ++broadcasts_;
  return std::nullopt;
}

std::optional<std::string> PartsCheck::Ended(const RunRow& before, const RunRow& after) {
  closed_.erase(after.key);
  const auto parts = EntriesOf(after.key);
  for (const memory::RunEntry* part : parts) {
    if (IsFinal(part->row.state)) continue;
    return fmt::format("ended before its part {}: {}", part->row.key.shard, Describe(after));
  }
  const FireOutcome wanted = OutcomeOf(parts, before.cancel_requested.has_value());
  const std::string& why = tables_.FindRun(after.key)->result.reason;
  if (after.state == wanted.state && why == wanted.why) return std::nullopt;
  return fmt::format("ended '{}' and not {} '{}': {}", why, Name(wanted.state), wanted.why,
                     Describe(after));
}

std::optional<std::string> PartsCheck::EndedBefore(WallTime limit) const {
  for (const auto& [own, closed] : closed_) {
    if (closed >= limit) continue;
    return fmt::format("run {} runs, and its last part has ended at {}", EncodeRunId(own),
                       FormatRfc3339(closed));
  }
  return std::nullopt;
}

std::optional<std::string> PartsCheck::AtRest() const {
  if (const auto open = EndedBefore(kNever)) return open;
  MutexLock lock(tables_.mu);
  if (begins_) return "began and has no parts: run " + EncodeRunId(*begins_);
  for (const auto& [key, entry] : tables_.runs()) {
    if (IsPart(key) || !IsLostInParts(entry.row)) continue;
    if (OutcomeOf(EntriesOf(key), false).state == RunState::kLost) continue;
    return "LOST, and its parts are not: " + Describe(entry.row);
  }
  for (const auto& [id, entry] : tables_.notices) {
    if (IsPart(entry.notice.key)) return "a notice of part " + EncodeRunId(entry.notice.key);
  }
  for (const auto& [id, letter] : tables_.dead_letters) {
    if (IsPart(letter.key)) return "a dead letter of part " + EncodeRunId(letter.key);
  }
  return std::nullopt;
}

}  // namespace carillon::sim
