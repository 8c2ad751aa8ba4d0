#include "common/adapters/mysql/run_rows/run_rows.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/base/failpoint.h"

namespace carillon::mysql {
namespace {

constexpr size_t kLockedRowsPerStatement = 5'000;  // an edit may lock more than a batch

constexpr std::array kStates = {RunState::kPending,   RunState::kRunning, RunState::kHeld,
                                RunState::kCompleted, RunState::kFailed,  RunState::kTimedOut,
                                RunState::kCancelled, RunState::kLost,    RunState::kSkipped};
template <typename Enum, size_t kCount>
int Find(const std::array<Enum, kCount>& all, Enum value) {
  return static_cast<int>(std::find(all.begin(), all.end(), value) - all.begin()) + 1;
}

template <typename Enum, size_t kCount>
std::optional<Enum> At(const std::array<Enum, kCount>& all, int64_t number) {
  if (number < 1 || number > static_cast<int64_t>(kCount)) return std::nullopt;
  return all[static_cast<size_t>(number - 1)];
}

}  // namespace

int NumberOf(RunState state) { return Find(kStates, state); }
int NumberOf(RunKind kind) {
  switch (kind) {
    case RunKind::kCron: return 1;
    case RunKind::kRate: return 2;
    case RunKind::kOnce: return 3;
    case RunKind::kManual: return 4;
    case RunKind::kDelay: return 5;
    case RunKind::kBackfill: return 6;
    case RunKind::kAfter: return 7;
    case RunKind::kEvent: return 8;
    case RunKind::kWorkflow: return 9;
    case RunKind::kShard: return 10;
  }
  return 0;
}
std::optional<RunState> StateOf(int64_t number) { return At(kStates, number); }
std::optional<RunKind> KindOf(int64_t number) {
  const auto kind =
      std::ranges::find_if(kRunKinds, [number](RunKind one) { return NumberOf(one) == number; });
  if (kind == kRunKinds.end()) return std::nullopt;
  return *kind;
}

std::string KindsIn(const std::vector<RunKind>& kinds, std::string_view table) {
  if (kinds.empty()) return "FALSE";
  std::vector<int> numbers;
  for (const RunKind kind : kinds) numbers.push_back(NumberOf(kind));
  return fmt::format("{}.kind IN ({})", table, fmt::join(numbers, ", "));
}
std::string KindsWith(Answer RunKindRules::*answer, std::string_view table) {
  std::vector<RunKind> kinds;
  for (const RunKind kind : kRunKinds) {
    if (RulesOf(kind).*answer) kinds.push_back(kind);
  }
  return KindsIn(kinds, table);
}
std::string KnownKinds(std::string_view table) {
  return KindsIn({kRunKinds.begin(), kRunKinds.end()}, table);
}
std::string NotBackground(std::string_view table) {
  return fmt::format("({}.flags & {}) = 0", table, run_flag::kBackground);
}

const std::string kKeysJoinRuns =
    "JSON_TABLE(" CARILLON_JSON
    ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', "
    "h INT UNSIGNED PATH '$[2]')) k STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) "
    "ON r.fire_us = k.f AND r.schedule_id = k.s AND r.shard = k.h";

StoredRun ReadRun(const Rows& rows, uint32_t first) {
  StoredRun run;
  uint32_t column = first;
  RunRow& row = run.row;
  row.key.fire = rows.Time(column++);
  row.key.schedule_id = ScheduleId(rows.Unsigned(column++));
  row.key.shard = static_cast<uint32_t>(rows.Unsigned(column++));
  row.job_no = JobNo(rows.Unsigned(column++));
  row.segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(column++)));
  const std::optional<RunKind> kind = KindOf(rows.Int(column++));
  const std::optional<RunState> state = StateOf(rows.Int(column++));
  run.readable = kind && state;
  row.kind = kind.value_or(RunKind::kManual);
  row.state = run.readable ? *state : RunState::kCompleted;
  row.attempt = static_cast<int>(rows.Int(column++));
  row.due = rows.Time(column++);
  row.priority = static_cast<int>(rows.Int(column++));
  row.def_version = rows.Int(column++);
  row.claim_token.high = rows.Unsigned(column++);
  row.claim_token.low = rows.Unsigned(column++);
  run.incarnation_no = static_cast<uint32_t>(rows.Unsigned(column++));
  // The values of IF(...) in kRunColumns.
  const int64_t cancel = rows.Int(column++);
  if (cancel != 0) row.cancel_requested = cancel == 2 ? CancelMode::kKill : CancelMode::kGraceful;
  row.pinned_executor = ExecutorId(rows.Text(column++));
  row.claimed = rows.Time(column++);
  const int64_t slot = rows.Int(column++);
  run.slot_taken = slot == kSlotTaken;
  run.active = slot != 0 || row.state == RunState::kRunning || row.state == RunState::kHeld;
  // The position in FIELD(...) in kRunColumns.
  const int64_t loss = rows.Int(column++);
  run.ended_by_loss = loss != 0;
  row.may_still_run = MayStillRun(row.state, loss == 1   ? reason::kExecutorLost
                                             : loss == 4 ? reason::kOutcomeUnknown
                                                         : std::string_view());
  run.started = rows.Time(column++);
  row.flags = static_cast<uint32_t>(rows.Unsigned(column++));
  row.group = GroupNo(rows.Unsigned(column++));
  run.group_slot = static_cast<uint32_t>(rows.Unsigned(column++));
  row.shard_total = static_cast<uint32_t>(rows.Unsigned(column++));
  row.rules = rows.Text(column++);
  return run;
}

bool NoteIfUnreadable(const Session& session, const StoredRun& run) {
  if (run.readable) return true;
  session.NoteUnreadable("job_runs", EncodeRunId(run.row.key), "unknown state or kind");
  return false;
}

namespace {

template <typename Runs, typename Get>
Status FillFrom(Session& session, Runs& runs, Incarnations& incarnations, Get get) {
  std::vector<uint32_t> numbers;
  for (auto& entry : runs) {
    const uint32_t number = get(entry).incarnation_no;
    if (number != 0 && (numbers.empty() || numbers.back() != number)) numbers.push_back(number);
  }
  CARILLON_ASSIGN_OR_RETURN(const Incarnations::Keys keys, incarnations.Load(session, numbers));
  for (auto& entry : runs) {
    StoredRun& run = get(entry);
    const auto key = keys.find(run.incarnation_no);
    if (key == keys.end()) continue;
    run.row.executor = key->second.first;
    run.row.incarnation = key->second.second;
  }
  return {};
}

}  // namespace

Status FillExecutors(Session& session, std::vector<StoredRun>& runs, Incarnations& incarnations) {
  return FillFrom(session, runs, incarnations, [](StoredRun& run) -> StoredRun& { return run; });
}

Result<std::vector<StoredRun>> ReadRuns(Session& session, Rows rows, Incarnations& incarnations) {
  std::vector<StoredRun> runs;
  while (rows.Next()) {
    runs.push_back(ReadRun(rows));
    NoteIfUnreadable(session, runs.back());
  }
  CARILLON_TRY(FillExecutors(session, runs, incarnations));
  return runs;
}

Result<std::vector<RunKey>> ReadOpenKeys(Session& session, JobNo job_no, SegmentId segment) {
  static const std::string select = "SELECT r.fire_us, r.schedule_id, r.shard FROM job_runs r ";
  const auto count = [&]() -> Result<int64_t> {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT COUNT(*) FROM (SELECT 1 FROM job_runs r FORCE INDEX "
                                 "(by_job) WHERE r.job_no = ? LIMIT ?) x",
                                 {job_no.value(), kRunsOfJobReadMax + 1}));
    rows.Next();
    return rows.Int(1);
  };
  CARILLON_ASSIGN_OR_RETURN(const int64_t runs, count());
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      runs <= kRunsOfJobReadMax
          ? session.Query(select + "FORCE INDEX (by_job) WHERE r.job_no = ? AND r.open_segment = ?",
                          {job_no.value(), uint64_t{segment.value()}})
          : session.Query(select + "FORCE INDEX (open_runs) WHERE r.open_segment = ? AND "
                                   "r.job_no = ?",
                          {uint64_t{segment.value()}, job_no.value()}));
  std::vector<RunKey> keys;
  while (rows.Next()) {
    keys.push_back(
        {rows.Time(1), ScheduleId(rows.Unsigned(2)), static_cast<uint32_t>(rows.Unsigned(3))});
  }
  return keys;
}

Result<LockedRuns> LockRuns(Session& session, std::vector<RunKey> keys,
                            Incarnations& incarnations) {
  static const std::string statement =
      "SELECT " + kRunColumns + " FROM " + kKeysJoinRuns + ForUpdateOf("r");
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  LockedRuns locked;
  locked.reserve(keys.size());
  for (size_t begin = 0; begin < keys.size(); begin += kLockedRowsPerStatement) {
    JsonRows wanted;
    const size_t end = std::min(keys.size(), begin + kLockedRowsPerStatement);
    for (size_t i = begin; i < end; ++i) wanted.Begin().Add(keys[i]);
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
    while (rows.Next()) {
      StoredRun run = ReadRun(rows);
      NoteIfUnreadable(session, run);
      locked.emplace(run.row.key, std::move(run));
    }
  }
  CARILLON_TRY(FillFrom(session, locked, incarnations,
                        [](auto& entry) -> StoredRun& { return entry.second; }));
  return locked;
}

namespace {

const std::string kFencedSegments =
    "FROM JSON_TABLE(" CARILLON_JSON
    ", '$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN segments s "
    "FORCE INDEX (PRIMARY) ON s.segment = k.n" +
    ForShareOf("s");

std::string SegmentsOf(const Fence& fence) {
  JsonRows wanted;
  for (const FencedSegment& held : fence) wanted.Begin().Add(held.segment.value());
  return wanted.Take();
}

// Reads the next rows, which have the segment and epoch of each fenced segment. Compares
// the epochs.
Status CompareEpochs(Rows& rows, const Fence& fence) {
  for (const FencedSegment& held : fence) {
    if (!rows.Next() || rows.Unsigned(1) != held.segment.value()) {
      return {ErrorCode::kBrokenStore,
              fmt::format("fence: no segment {}, or not sorted", held.segment.value())};
    }
    if (rows.Unsigned(2) != held.epoch.value() && !failpoint::Broken("fence")) {
      return {ErrorCode::kFenced,
              fmt::format("segment {}: held by epoch {}, ours was {}", held.segment.value(),
                          rows.Unsigned(2), held.epoch.value())};
    }
  }
  return {};
}

Status PassFailpoint() {
  if (!failpoint::Hit("mysql.after_fence")) return {};
  return {ErrorCode::kUnavailable, "stopped after the fence"};
}

}  // namespace

Status LockFence(Session& session, const Fence& fence) {
  static const std::string statement = "SELECT s.segment, s.epoch " + kFencedSegments;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {SegmentsOf(fence)}));
    CARILLON_TRY(CompareEpochs(rows, fence));
  }
  return PassFailpoint();
}

Result<EnabledExecutors> LockFenceAndExecutors(Session& session, const Fence& fence,
                                               EnabledExecutors executors) {
  // The first part of the UNION is executed first, so its rows are locked first. Rows of the second
  // part have an impossible segment number, which distinguishes them from rows of the first part.
  static const std::string statement =
      "(SELECT s.segment, s.epoch, '' " + kFencedSegments +
      ") UNION ALL (SELECT 4294967295, CAST(x.enabled AND NOT x.draining AS UNSIGNED), "
      "x.executor_id FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (e VARCHAR(255) CHARACTER SET ascii "
      "COLLATE ascii_bin PATH '$[0]')) k STRAIGHT_JOIN executors x FORCE INDEX (PRIMARY) ON "
      "x.executor_id = k.e" +
      ForShareOf("x") + ")";
  JsonRows wanted;
  for (const auto& [executor, unused] : executors) wanted.Begin().Add(executor.value());
  const std::string segments = SegmentsOf(fence);
  const std::string names = wanted.Take();
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {segments, names}));
    CARILLON_TRY(CompareEpochs(rows, fence));
    while (rows.Next()) executors[ExecutorId(rows.Text(3))] = rows.Unsigned(2) != 0;
  }
  CARILLON_TRY(PassFailpoint());
  return executors;
}

}  // namespace carillon::mysql
