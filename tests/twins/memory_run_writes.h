// Writes of runs that several stores share, including the notices, gaps and dead letters they add.
//
// Threads  The caller holds the lock of the tables.
#pragma once

#include <string>
#include <string_view>

#include "common/domain/run/run_kind.h"
#include "common/ports/store/job_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

// Returns the part of a job's row that the decisions of run_state.h use.
JobRow ToJobRow(const JobEntry& job);
RunDetail ToDetail(MemoryTables& tables, const RunEntry& entry, bool with_attempts)
    REQUIRES(tables.mu);

// Adds the notice, unless there is one of the same attempt and kind.
void AddNotice(MemoryTables& tables, Notice notice) REQUIRES(tables.mu);
void AddGap(MemoryTables& tables, ScheduleId schedule_id, JobNo job_no, const GapRange& range)
    REQUIRES(tables.mu);

// Applies a RunChange (run_state.h) to a run; `result` is the result of the attempt that ended.
// kConflict: see CheckReopening.
Status WriteChange(MemoryTables& tables, RunEntry entry, const RunChange& change,
                   const AttemptResult& result, WallTime now, Reopener by = Reopener::kOthers)
    REQUIRES(tables.mu);
void WriteSkip(MemoryTables& tables, RunEntry entry, std::string_view why, WallTime now,
               const std::string& error = {}) REQUIRES(tables.mu);
// Records the report of a superseded attempt. The first report is kept, except that a real end
// replaces LOST.
void RecordAttempt(RunEntry& entry, RunAttempt attempt);
// The end of the attempt that is given up for another one.
RunAttempt LastAttempt(const RunEntry& entry);

// Applies DecideCancel to this run, and to the open parts of a fire. True if it was cancelled or
// received a request.
bool CancelOne(MemoryTables& tables, const RunEntry& entry, const WriteContext& context)
    REQUIRES(tables.mu);
// Tells the owner that a person has given up the attempt of this run, and those of the parts of a
// fire. kConflict: CheckGiveUp.
Status GiveUpOne(MemoryTables& tables, const RunEntry& entry, const WriteContext& context)
    REQUIRES(tables.mu);
// Applies DecideCancel to the open parts of a fire. `sentence`: why, if no user has said it.
void CancelParts(MemoryTables& tables, const RunKey& own, const WriteContext& context,
                 const std::string& sentence = {}) REQUIRES(tables.mu);
// Writes a run that was ended by a user's request.
void PutEnded(MemoryTables& tables, RunEntry entry) REQUIRES(tables.mu);
// Reports to the caller of the request which runs it ended.
void ReportEnds(MemoryTables& tables, const WriteContext& context) REQUIRES(tables.mu);

// kInvalid: the definition names a concurrency group that does not exist.
Status CheckGroup(const MemoryTables& tables, const JobDefinition& definition) REQUIRES(tables.mu);
// The runs of a schedule that an edit removes keep its parameters, if they may make another
// attempt.
void KeepParameters(MemoryTables& tables, const JobEntry& job, ScheduleId id) REQUIRES(tables.mu);
// Fires in parts that have begun keep the parameters that the edit changes. Arguments as below.
void KeepFireParameters(MemoryTables& tables, const JobEntry& job, const JobDefinition& old,
                        const std::vector<ScheduleId>& next) REQUIRES(tables.mu);
// Keeps the time zones of the runs' fires. `job` has the new definition and the old schedules;
// `next` are the new ones.
void KeepZones(MemoryTables& tables, const JobEntry& job, const JobDefinition& old,
               const std::vector<ScheduleId>& next) REQUIRES(tables.mu);
// The job has a new owner. The former one gave runs parameters, or released nodes, as their
// own job's.
void AskFormerOwner(MemoryTables& tables, const JobEntry& job) REQUIRES(tables.mu);
enum class LeavingRuns { kAll, kOfJobsGroup };
// The job leaves its group, or takes slots from now on: runs that wait for the group are due again,
// and reserved slots become free. Nodes may name a group of their own for its runs.
void LeaveGroup(MemoryTables& tables, const JobEntry& job, LeavingRuns which, WallTime now)
    REQUIRES(tables.mu);

}  // namespace carillon::memory
