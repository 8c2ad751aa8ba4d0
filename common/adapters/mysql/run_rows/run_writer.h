// Collects the changes of a batch to its runs and writes them in a few statements.
//
// Place    Inside one transaction, after the rows were locked.
// Errors   kInvalid: an item that the store refuses (an output above kOutputBytesMax). kConflict: a
//          row was not in the state that was read under its lock (a bug).
// Always   Every statement stays below a quarter of the server's packet size.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/run/run_state.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

// The place of a run in a queue.
struct QueueWrite {
  WallTime expires = kNever;  // kNever = no queue_timeout
  // The group for which it waits; 0: it waits for a slot of its job, and gives its own back.
  GroupNo group = {};
  std::optional<int64_t> slot = {};  // as for Claim; only with `group`
};

inline constexpr size_t kOutputBytesMax = 1u << 20;  // limit of one attempt, both streams

class RunWriter {
 public:
  explicit RunWriter(Session& session, Reopener by = Reopener::kOthers);

  // Changes a run from PENDING to RUNNING. The caller has put the claim into `run.row`.
  // `slot`: the number of the job's slot that the run also takes.
  Status Claim(StoredRun& run, std::optional<int64_t> slot, WallTime now);
  // Puts a PENDING run into the queue of its job or of a group. A slot of a group becomes free.
  Status Queue(StoredRun& run, const QueueWrite& place, WallTime now);
  // Takes a queued run out of the queue and makes it due now. `slot` as for Claim.
  Status Admit(StoredRun& run, std::optional<int64_t> slot, WallTime now);
  // Ends the wait of a run for runs of other jobs; `due`: DueAfterWait. Wakes the workflow of a
  // node up that is blocked from then on.
  Status Release(StoredRun& run, WallTime due, WallTime now);
  // Takes a run out of the queue of a group, reserves the group's slot for it and makes it due.
  Status Grant(StoredRun& run, GroupNo group, uint32_t slot, WallTime due);
  // Before Claim: the attempt holds this slot of the group, which is free or reserved for the run.
  void TakeGroupSlot(StoredRun& run, GroupNo group, uint32_t slot, WallTime now);
  // Frees the slot that the run holds of a group, if it holds one. `started`: StartInSlot.
  void FreeGroupSlot(StoredRun& run, WallTime started = {});
  // Applies a decision of run_state.h; `run` becomes the row as written.
  Status Change(StoredRun& run, const RunChange& change, const AttemptResult& result, WallTime now);
  // Ends a run as SKIPPED or CANCELLED without the result of an attempt. A run that is skipped
  // after an attempt leaves a dead letter.
  Status End(StoredRun& run, RunState state, std::string_view reason, WallTime now,
             const std::string& error = {});
  // Adds a notice that a run started late; `row` contains its claim.
  void NoteLate(const RunRow& row, WallTime now);
  // Adds a notice that a node waits for a decision, to be judged by the rules of its workflow.
  void NoteApproval(const RunRow& node, JobNo workflow, WallTime now);
  // Records a late result of an attempt that is no longer the run's current one.
  Status RecordAttempt(const RunKey& key, const RunAttempt& attempt);
  // Does nothing if the same or a stronger mode was already requested.
  Status RequestCancel(StoredRun& run, CancelMode mode);
  // Tells the owner that a person has given up the attempt of a run with a cancel request.
  void GiveUp(const RunRow& run);
  // `sentence` becomes the run's error, unless it is empty.
  void Explain(const RunKey& key, std::string_view sentence);
  // For a run whose row the caller erases or makes due at another time: deletes its place in the
  // queue, if it is queued.
  void Unqueue(const StoredRun& run);
  // For a run whose row the caller erases or stamps (SlotColumn): frees its slot.
  void Free(StoredRun& run);
  // The runs that End brought to a final state.
  const EndedRuns& ended() const { return ended_; }

  // Writes the collected changes. The object can be used further.
  Status Flush();

 private:
  // Each flush writes a run only once, so the first change of a run is flushed before a second one.
  // An edit or a cancel may change more runs than one flush writes.
  Status BeginRun(const RunKey& key);
  // Values of the row before the change. AddFinal needs them after the row was overwritten.
  struct Before {
    explicit Before(const RunRow& row)
        : state(row.state), cancel_requested(row.cancel_requested.has_value()) {}
    RunState state;
    bool cancel_requested;
  };
  Status AddFinal(const StoredRun& run, const Before& before, const AttemptResult& result,
                  std::string_view reason);
  // Adds a notice to the same transaction as the change that causes it.
  void AddNotice(NoticeKind kind, const RunRow& row, std::string_view reason, WallTime now);
  void TakeSlot(StoredRun& run, int64_t slot);
  Status Update(const std::string& statement, JsonRows& rows);
  // `rows` holds `expected` runs. kConflict unless the statement matches all of them.
  Status UpdateAll(const std::string& statement, const std::string& rows, int64_t expected);
  Status Insert(const std::string& statement, JsonRows& rows);
  Status FlushIfLarge(const std::string& statement, JsonRows& rows, bool counted);

  Session& session_;
  const Reopener by_;
  const size_t bytes_max_;
  std::set<RunKey> written_;
  JsonRows claims_;
  JsonRows queued_;
  JsonRows admitted_;
  JsonRows granted_;
  JsonRows finals_;             // final states of runs whose `error` is NULL
  JsonRows finals_with_error_;  // final states of runs that may have an `error`
  JsonRows finals_with_output_;
  JsonRows pendings_;
  JsonRows helds_;
  JsonRows attempts_;
  JsonRows attempts_back_;  // deletes records of the attempt that is current again, and later ones
  JsonRows slots_taken_;
  JsonRows slots_freed_;
  JsonRows group_slots_taken_;
  JsonRows group_slots_freed_;
  JsonRows waits_over_;
  JsonRows cancels_;
  JsonRows cancels_done_;
  JsonRows given_up_;
  JsonRows explained_;
  JsonRows completions_;
  JsonRows dead_letters_gone_;
  JsonRows dead_letters_;
  JsonRows notices_;
  EndedRuns ended_;
};

}  // namespace carillon::mysql
