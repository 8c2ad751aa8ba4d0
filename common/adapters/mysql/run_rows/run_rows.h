// Rows of job_runs: read, locked, and turned into the domain's RunRow.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/run/run_state.h"
#include "common/ports/fence.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

// Return the ENUM numbers of the columns `state` and `kind`, from 1 in the order of the migration.
int NumberOf(RunState state);
int NumberOf(RunKind kind);
// Return nullopt for a value that this version does not know.
std::optional<RunState> StateOf(int64_t number);
std::optional<RunKind> KindOf(int64_t number);

// Returns the SQL condition that the kind of the run of `table` is one of these.
std::string KindsIn(const std::vector<RunKind>& kinds, std::string_view table = "r");
// Returns the SQL condition that the run of `table` is of a known kind with this answer
// (run_kind.h).
std::string KindsWith(Answer RunKindRules::*answer, std::string_view table = "r");
// Returns the SQL condition that this version knows the kind: exactly those that KindOf reads.
std::string KnownKinds(std::string_view table = "r");
// Returns the SQL condition of a run for which IsBackground is false.
std::string NotBackground(std::string_view table = "r");

// Values of the column `slot_taken`; 0 means that neither applies.
inline constexpr int kSlotTaken = 1;     // the run holds a row of run_slots
inline constexpr int kActiveNoSlot = 2;  // the run was claimed while overlap was allowed

// A run as stored: the row that decisions use, and data that only this room needs.
struct StoredRun {
  RunRow row = {};
  uint32_t incarnation_no = 0;
  // Claimed or admitted before and not final since: it counts for max_running.
  bool active = false;
  bool slot_taken = false;     // it holds a row of run_slots
  bool ended_by_loss = false;  // its last result came from a lost lease, not from its executor
  WallTime started = WallTime{};
  uint32_t group_slot = 0;  // number of the slot of row.group that its attempt holds; 0 = none
  // False: this version does not know the run's state or kind. `row.state` is then a final state,
  // so that no decision changes the run. Code that reads many runs skips such a run.
  bool readable = true;
};
using LockedRuns = std::unordered_map<RunKey, StoredRun>;

// The value of the column `slot_taken` for a PENDING run.
inline int SlotColumn(const StoredRun& run) {
  return run.slot_taken ? kSlotTaken : run.active ? kActiveNoSlot : 0;
}

// The columns that ReadRun reads. The query must give their table the alias r. Inline, because
// constants of other files are built from it, and the initialisation order of different files
// is undefined.
inline const std::string kRunColumns =
    "r.fire_us, r.schedule_id, r.shard, r.job_no, r.segment, r.kind + 0, r.state + 0, r.attempt, "
    "r.due_us, r.priority, r.def_version, r.token_high, r.token_low, r.incarnation_no, "
    "IF(r.cancel_requested = 0, 0, IF(r.kill_attempt = r.attempt, 2, 1)), r.pinned_executor, "
    "r.claimed_us, r.slot_taken, "
    "FIELD(r.reason, 'executor_lost', 'warden_died', 'lease_ended', 'outcome_unknown'), "
    "r.started_us, r.flags, r.group_no, r.group_slot, r.shard_total, "
    "IF(r.flags & 32768, r.rules, NULL)";  // run_flag::kRules
inline constexpr uint32_t kRunColumnCount = 25;

// Joins k, a JSON_TABLE of run keys, to job_runs r by its primary key.
extern const std::string kKeysJoinRuns;

// Reads the current row; `first` is the position of the first of kRunColumns.
StoredRun ReadRun(const Rows& rows, uint32_t first = 1);
// Returns false for an unreadable run, and reports it to the session.
bool NoteIfUnreadable(const Session& session, const StoredRun& run);
// Fills in the executors and incarnations of runs that ReadRun has read.
Status FillExecutors(Session& session, std::vector<StoredRun>& runs, Incarnations& incarnations);
// Reads all rows, with executors and incarnations filled in.
Result<std::vector<StoredRun>> ReadRuns(Session& session, Rows rows, Incarnations& incarnations);

// Counts of open runs stop at this number.
inline constexpr int64_t kCountedMax = 100'000;

// Reads the keys of the runs of a job that are PENDING, RUNNING or HELD, in no order and without
// locks. If the job has few runs, searches these runs. Otherwise searches the open runs of the
// job's segment. No index covers both.
inline constexpr int64_t kRunsOfJobReadMax = 2'000;
Result<std::vector<RunKey>> ReadOpenKeys(Session& session, JobNo job_no, SegmentId segment);

// Locks the rows of `keys` for update, in the order of the keys. Runs that do not exist are absent.
Result<LockedRuns> LockRuns(Session& session, std::vector<RunKey> keys, Incarnations& incarnations);

// The first statement of an owner's transaction (guarantee P5 of docs/semantics.md): locks the
// segments' rows in share mode and compares the epochs. kFenced: an epoch differs.
Status LockFence(Session& session, const Fence& fence);

// By executor: true if it may take runs. An executor that is not in the store may take runs, too.
using EnabledExecutors = std::map<ExecutorId, bool>;
// Locks the fence as LockFence does. In the same round trip, reads whether `executors` are enabled,
// and locks their rows in share mode (guarantee P8). If an executor was disabled before this call,
// the result says so. A later attempt to disable an executor waits for our commit.
Result<EnabledExecutors> LockFenceAndExecutors(Session& session, const Fence& fence,
                                               EnabledExecutors executors);

// kExhausted above kBatchRowsMax items; kInvalid when an item's segment is not in the fence.
template <typename Item>
Status CheckBatch(const std::vector<Item>& items, const Fence& fence, std::string_view what) {
  if (items.size() > kBatchRowsMax) {
    return {ErrorCode::kExhausted, std::string(what) + ": more than kBatchRowsMax items"};
  }
  for (const Item& item : items) {
    const auto place = std::lower_bound(
        fence.begin(), fence.end(), item.segment,
        [](const FencedSegment& held, SegmentId segment) { return held.segment < segment; });
    if (place == fence.end() || place->segment != item.segment) {
      return {ErrorCode::kInvalid, std::string(what) + ": segment " +
                                       std::to_string(item.segment.value()) +
                                       " is outside the fence"};
    }
  }
  return {};
}

}  // namespace carillon::mysql
