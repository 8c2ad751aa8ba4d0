// Collects what a batch writes about its runs and writes it in a handful of statements.
//
// Place    Inside one transaction, after the rows were locked.
// Errors   kInvalid: an item that the store refuses (an output above kOutputBytesMax). kConflict: a
//          row was not in the state that was read under its lock (a bug of ours).
// Always   Every statement stays below a quarter of the server's packet size.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/rows/run_rows.h"
#include "common/domain/run_state.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

inline constexpr size_t kOutputBytesMax = 1u << 20;  // of one attempt, both streams

// An UPDATE of job_runs r from one JSON parameter k: the key, then `columns`.
std::string UpdateRuns(std::string_view columns, std::string_view set, std::string_view where);

class RunWriter {
 public:
  explicit RunWriter(Session& session);

  // PENDING -> RUNNING for the claim in `run.row`, which the caller has filled in; `take_slot`: the
  // job's overlap slot goes with it.
  Status Claim(StoredRun& run, bool take_slot, WallTime now);
  // What a decision of run_state.h says; `run` becomes the row as written.
  Status Change(StoredRun& run, const RunChange& change, const AttemptResult& result, WallTime now);
  // SKIPPED or CANCELLED without an attempt's result. A run that is skipped after it has been tried
  // leaves a dead letter.
  Status End(StoredRun& run, RunState state, std::string_view reason, WallTime now);
  // Leaves a notice that the run, as claimed, started late.
  void NoteLate(const RunRow& row, WallTime now);
  // A late word about an attempt that the row is no longer about.
  Status RecordAttempt(const RunKey& key, const RunAttempt& attempt);
  // Nothing where that much is asked for already.
  Status RequestCancel(StoredRun& run, CancelMode mode);
  // `sentence` becomes the run's error, unless it is empty.
  void Explain(const RunKey& key, std::string_view sentence);
  // What End brought to a final state.
  const EndedRuns& ended() const { return ended_; }

  // Writes what is collected. The object can go on afterwards.
  Status Flush();

 private:
  // A run is written once a flush: a second change of it in one batch writes the first one down.
  Status BeginRun(const RunKey& key);
  // What the end of a run depends on and its change overwrites.
  struct Before {
    explicit Before(const RunRow& row)
        : state(row.state), cancel_requested(row.cancel_requested.has_value()) {}
    RunState state;
    bool cancel_requested;
  };
  Status AddFinal(const StoredRun& run, const Before& before, const AttemptResult& result,
                  std::string_view reason);
  Status Free(StoredRun& run);
  // A notice is left with the write that makes it true.
  void AddNotice(NoticeKind kind, const RunRow& row, std::string_view reason, WallTime now);
  Status Update(const std::string& statement, JsonRows& rows);
  Status Insert(const std::string& statement, JsonRows& rows);
  Status FlushIfLarge(const std::string& statement, JsonRows& rows, bool counted);

  Session& session_;
  const size_t bytes_max_;
  std::set<RunKey> written_;
  JsonRows claims_;
  JsonRows finals_;             // of runs whose `error` is NULL
  JsonRows finals_with_error_;  // of runs that may have one
  JsonRows finals_with_output_;
  JsonRows pendings_;
  JsonRows helds_;
  JsonRows attempts_;
  JsonRows attempts_back_;  // a late success takes its attempt back from the earlier ones
  JsonRows slots_taken_;
  JsonRows slots_freed_;
  JsonRows cancels_;
  JsonRows cancels_done_;
  JsonRows explained_;
  JsonRows dead_letters_gone_;
  JsonRows dead_letters_;
  JsonRows notices_;
  EndedRuns ended_;
};

}  // namespace carillon::mysql
