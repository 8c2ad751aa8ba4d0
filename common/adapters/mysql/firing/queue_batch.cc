#include "common/adapters/mysql/firing/queue_batch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/cancel_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/slots/job_slots.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {
namespace {

// A row of run_waits, read without a lock.
struct Wait {
  RunKey key;
  WallTime since;
};

Result<std::vector<Wait>> ReadWaits(Session& session, const QueuedJob& job, bool newest_first,
                                    size_t limit) {
  static const std::string select =
      "SELECT w.fire_us, w.schedule_id, w.shard, w.queued_us FROM run_waits w FORCE INDEX "
      "(by_place) WHERE w.segment = ? AND w.group_no = 0 AND w.job_no = ? ORDER BY ";
  static const std::string oldest = select + "w.fire_us, w.schedule_id, w.shard LIMIT ?";
  static const std::string newest =
      select + "w.fire_us DESC, w.schedule_id DESC, w.shard DESC LIMIT ?";
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(newest_first ? newest : oldest,
                               {static_cast<uint64_t>(job.segment.value()), job.job_no.value(),
                                static_cast<uint64_t>(limit)}));
  std::vector<Wait> waits;
  while (rows.Next()) {
    waits.push_back({.key = {.fire = rows.Time(1),
                             .schedule_id = ScheduleId(rows.Unsigned(2)),
                             .shard = static_cast<uint32_t>(rows.Unsigned(3))},
                     .since = rows.Time(4)});
  }
  return waits;
}

Result<std::vector<RunKey>> ReadHolders(Session& session, JobNo job_no) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT t.fire_us, t.schedule_id, t.shard FROM run_slots t FORCE "
                               "INDEX (PRIMARY) WHERE t.job_no = ?",
                               {job_no.value()}));
  std::vector<RunKey> holders;
  while (rows.Next()) {
    holders.push_back({.fire = rows.Time(1),
                       .schedule_id = ScheduleId(rows.Unsigned(2)),
                       .shard = static_cast<uint32_t>(rows.Unsigned(3))});
  }
  return holders;
}

// The rows that an admission may write, chosen without locks. Whether they are still in the state
// that was read is checked after they were locked.
struct Chosen {
  std::vector<Wait> waits = {};      // by key
  std::vector<RunKey> holders = {};  // if they may have to make room
};

// If runs wait for slots, only as many are looked at as there are free slots, and a few more in
// place of runs that have left the queue meanwhile: a long queue must not be locked for each run.
constexpr int64_t kSpareWaits = 8;

Result<Chosen> Choose(Session& session, const QueuedJob& job, const OverlapRules& rules) {
  Chosen chosen;
  int64_t wanted = kBatchRowsMax;
  if (TakesSlots(rules.policy)) {
    CARILLON_ASSIGN_OR_RETURN(chosen.holders, ReadHolders(session, job.job_no));
  }
  if (TakesSlots(rules.policy) && !EndsPrevious(rules.policy)) {
    const int64_t free = rules.max_running - static_cast<int64_t>(chosen.holders.size());
    chosen.holders.clear();
    if (free <= 0) return chosen;
    wanted = std::min(wanted, free + kSpareWaits);
  }
  CARILLON_ASSIGN_OR_RETURN(chosen.waits,
                            ReadWaits(session, job, false, static_cast<size_t>(wanted)));
  // Of a longer queue, the newest run must be among those that are looked at: it alone is kept.
  if (EndsPrevious(rules.policy) && static_cast<int64_t>(chosen.waits.size()) == wanted) {
    CARILLON_ASSIGN_OR_RETURN(std::vector<Wait> newest, ReadWaits(session, job, true, 1));
    if (!newest.empty()) chosen.waits.back() = newest.front();
  }
  return chosen;
}

// Deletes rows of run_waits whose runs, which are locked, are not queued. A member of a version
// without queues leaves such rows when it ends or changes a queued run. A row that was written
// again since it was read is kept.
Status DeleteStale(Session& session, const std::vector<Wait>& stale) {
  static const std::string statement =
      "DELETE w FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH "
      "'$[1]', h INT UNSIGNED PATH '$[2]', q BIGINT PATH '$[3]')) k STRAIGHT_JOIN run_waits w "
      "FORCE INDEX (PRIMARY) ON w.fire_us = k.f AND w.schedule_id = k.s AND w.shard = k.h WHERE "
      "w.queued_us = k.q AND w.group_no = 0";
  if (stale.empty()) return {};
  JsonRows rows;
  for (const Wait& wait : stale) rows.Begin().Add(wait.key).Add(wait.since);
  CARILLON_TRY(session.Execute(statement, {rows.Take()}));
  return {};
}

// Ends a run that holds a slot, or asks it to stop, for the queued run `newest`.
Status MakeRoomBy(StoredRun& holder, const RunKey& newest, const CancelTools& tools,
                  const CancelTerms& terms, AdmissionEffect* effect) {
  const RunRow& row = holder.row;
  const MakeRoom fate = DecideMakeRoom(row, newest);
  if (fate == MakeRoom::kKeep) return {};
  if (fate == MakeRoom::kSkip) {
    CARILLON_TRY(tools.writer.End(holder, RunState::kSkipped, reason::kReplaced, terms.now));
    ++effect->replaced;
    return {};
  }
  const bool asked = row.cancel_requested >= terms.mode;  // by a user, or for an earlier run
  if (asked && DecideCancel(row, terms.mode, terms.overlap) == CancelEffect::kRequested) return {};
  CARILLON_ASSIGN_OR_RETURN(const CancelEffect done, CancelLocked(holder, tools, terms));
  if (done == CancelEffect::kCancelledNow) ++effect->cancelled;
  if (done == CancelEffect::kRequested) ++effect->cancels_requested;
  return {};
}

// The locked rows of an admission.
struct AdmissionState {
  LockedRuns runs;
  JobSlots slots;
  std::map<RunKey, WallTime> queued;  // since when
};

Status WriteAdmission(const OverlapRules& rules, const Admission& admission, AdmissionState& state,
                      WallTime now, const CancelTools& tools, AdmissionEffect* effect) {
  for (const RunKey& key : admission.replaced) {
    CARILLON_TRY(tools.writer.End(state.runs.at(key), RunState::kSkipped, reason::kReplaced, now));
    ++effect->replaced;
  }
  for (const RunKey& key : admission.admitted) {
    std::optional<int64_t> slot;
    if (TakesSlots(rules.policy)) {
      slot = state.slots.Lowest(rules.max_running);
      CARILLON_CHECK(slot.has_value(), "an admitted run has a free slot");
      state.slots.taken[*slot] = key;
    }
    StoredRun& run = state.runs.at(key);
    CARILLON_TRY(tools.writer.Admit(run, slot, now));
    effect->admitted.push_back(run.row);
    effect->waited.push_back(now - state.queued.at(key));
  }
  if (!admission.holders) return {};
  const RunKey newest = state.queued.rbegin()->first;
  const std::string sentence = ReplacedSentence(rules, newest);
  for (const auto& [number, key] : state.slots.taken) {
    // A run that took its slot after the holders were read is not locked. The next admission ends
    // it, if it is still in the way.
    const auto holder = state.runs.find(key);
    if (holder == state.runs.end()) continue;
    CARILLON_TRY(MakeRoomBy(holder->second, newest, tools,
                            {.now = now, .mode = *admission.holders, .sentence = sentence},
                            effect));
  }
  return {};
}

}  // namespace

Result<AdmissionEffect> AdmitBatch(Session& session, const QueuedJob& job,
                                   const AdmitRules& rules) {
  CARILLON_TRY(LockFence(session, rules.fence));
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, {job.job_no}, &jobs));
  const JobRow* const row = RowOf(jobs, job.job_no);
  // A paused job is no exception: its pause emptied the queue, and whoever executes it by hand
  // since then wants the run.
  if (row == nullptr || row->deleted) return AdmissionEffect{};
  const OverlapRules& overlap = row->overlap;
  CARILLON_ASSIGN_OR_RETURN(Chosen chosen, Choose(session, job, overlap));
  if (chosen.waits.empty()) return AdmissionEffect{};
  std::vector<RunKey> keys = std::move(chosen.holders);
  for (const Wait& wait : chosen.waits) keys.push_back(wait.key);
  AdmissionState state;
  CARILLON_ASSIGN_OR_RETURN(state.runs, LockRuns(session, std::move(keys), rules.incarnations));
  if (TakesSlots(overlap.policy)) {
    SlotsOfJobs slots{{job.job_no, {}}};
    CARILLON_TRY(LockSlots(session, &slots));
    state.slots = std::move(slots.at(job.job_no));
  }
  std::vector<Wait> stale;
  std::vector<RunKey> queue;
  for (const Wait& wait : chosen.waits) {
    const auto run = state.runs.find(wait.key);
    if (run != state.runs.end() && !run->second.readable) continue;
    // A run with a slot waits for its group by now.
    const bool queued = run != state.runs.end() && run->second.row.state == RunState::kPending &&
                        run->second.row.due == kQueued && run->second.row.job_no == job.job_no &&
                        !(run->second.slot_taken && TakesSlots(overlap.policy));
    if (!queued) {
      stale.push_back(wait);
      continue;
    }
    state.queued[wait.key] = wait.since;
    queue.push_back(wait.key);
  }
  const Admission admission =
      DecideAdmission(overlap, queue, static_cast<int64_t>(state.slots.taken.size()));
  AdmissionEffect effect;
  RunWriter writer(session);
  CARILLON_TRY(WriteAdmission(overlap, admission, state, rules.now,
                              {session, rules.incarnations, writer}, &effect));
  CARILLON_TRY(writer.Flush());
  CARILLON_TRY(DeleteStale(session, stale));
  return effect;
}

}  // namespace carillon::mysql
