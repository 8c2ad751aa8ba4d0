// Rows of backfills: read, locked, written.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/backfill_store.h"

namespace carillon::mysql {

// Reads at most `limit` backfills that match `where` (on the tables `backfills b` and `jobs j`),
// newest first. Unreadable ones are left out.
Result<std::vector<Backfill>> ReadBackfills(Session& session, const std::string& where,
                                            const Params& params, size_t limit);
// kNotFound: there is no such backfill.
Result<Backfill> ReadBackfill(Session& session, uint64_t number);
// Locks the row for update.
Result<Backfill> LockBackfill(Session& session, uint64_t number);

// Sets `number`.
Status InsertBackfill(Session& session, Backfill* backfill);
// Writes the state, the counts, the cursor, the open runs and the end.
Status UpdateBackfill(Session& session, const Backfill& backfill);

// True if the job has a backfill that is RUNNING or PAUSED. The caller holds the lock of the job's
// row, so that nobody else creates one.
Result<bool> HasOpenBackfill(Session& session, JobNo job_no);

// The keys as JSON, which JSON_TABLE can join to job_runs (kKeysJoinRuns).
std::string KeysText(const std::vector<RunKey>& keys);

}  // namespace carillon::mysql
