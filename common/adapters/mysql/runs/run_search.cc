#include "common/adapters/mysql/runs/run_search.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "common/adapters/mysql/client/conditions.h"
#include "common/adapters/mysql/job_rows/job_filter.h"
#include "common/adapters/mysql/run_rows/count_rows.h"
#include "common/adapters/mysql/run_rows/job_owner.h"
#include "common/adapters/mysql/run_rows/part_rows.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/run/run_listing.h"

namespace carillon::mysql {
namespace {

// Cost of reading a row through an index, relative to a row in a scan of the table: rows found
// through an index are scattered over the disk. Measured with a million runs, most of them not in
// the buffer pool: 80 us per row against 1 us.
constexpr size_t kScatteredCost = 25;

// The largest number of open runs that are sorted for a page. Open runs need sorting because their
// index is in the order of due times, not of fires.
constexpr size_t kSortedMax = 20'000;

// A walk along an index, in the order of the list.
struct Walk {
  std::string table = "job_runs";
  std::string index;
  Conditions within;  // a range of the index
  Conditions wanted;  // checked in each row
  // Most runs that are read. nullopt = every run of the range is wanted, so the size of the page
  // bounds the walk.
  std::optional<size_t> bound = {};
};

size_t Scattered(size_t search_max) { return std::max<size_t>(1, search_max / kScatteredCost); }

bool IsOpen(RunState state) { return !IsFinal(state); }

std::string QuotedStates(const std::vector<RunState>& states) {
  std::vector<std::string> names;
  for (const RunState state : states) names.push_back(fmt::format("'{}'", Name(state)));
  return fmt::format("{}", fmt::join(names, ", "));
}

// Adds the condition "beyond a run" or "from a run on", in one direction. The first part of the
// condition is a range of the index.
enum class Beyond { kEarlier, kLater, kLaterOrEqual, kEarlierOrEqual };
void AddBeyond(Conditions& conditions, const RunKey& run, Beyond beyond) {
  const bool later = beyond == Beyond::kLater || beyond == Beyond::kLaterOrEqual;
  const bool strictly = beyond == Beyond::kLater || beyond == Beyond::kEarlier;
  const int64_t fire = ToUnixMicros(run.fire);
  const uint64_t schedule = run.schedule_id.value();
  conditions.Add(fmt::format("r.fire_us {0}= ? AND (r.fire_us {0} ? OR r.schedule_id {0} ? OR "
                             "(r.schedule_id = ? AND r.shard {0}{1} ?))",
                             later ? ">" : "<", strictly ? "" : "="),
                 {fire, fire, schedule, schedule, uint64_t{run.shard}});
}

Conditions RangeOf(const RunFilter& filter) {
  Conditions range;
  // Each index has the key of the run, so no row is read of a part that is passed over.
  if (!filter.parts) range.Add(std::string(kIsOwnRun));
  if (filter.since) range.Add("r.fire_us >= ?", {ToUnixMicros(*filter.since)});
  if (filter.until) range.Add("r.fire_us < ?", {ToUnixMicros(*filter.until)});
  if (filter.before) {
    AddBeyond(range, *filter.before, filter.oldest_first ? Beyond::kLater : Beyond::kEarlier);
  }
  return range;
}

// Adds the condition on the job, whose own runs these are, not those of its tasks. The subquery
// makes the job's number a constant for the optimizer.
void AddJob(Conditions& conditions, const JobId& id) {
  conditions.Add("r.job_no = (SELECT x.job_no FROM jobs x WHERE x.job_id = ?)", {id.value()});
}

// The same for the runs of a workflow's nodes that run no job. 2251799813685248 is kFirstTaskJob.
void AddTaskJob(Conditions& conditions, const JobId& workflow) {
  conditions.Add("r.job_no = (SELECT x.job_no + 2251799813685248 FROM jobs x WHERE x.job_id = ?)",
                 {workflow.value()});
}

// Adds a condition on the current name of the job. The subquery depends only on the run's job_no,
// and the server caches the results of subqueries. So it is evaluated once for each job, not for
// each run.
void AddJobName(Conditions& conditions, const std::string& text) {
  Conditions named;
  AddNameContains(named, text);
  conditions.Add(fmt::format("(SELECT COUNT(*) FROM jobs j WHERE j.job_no = {} AND {}) = 1",
                             OwnerNumber("r.job_no"), named.text()),
                 {text, text});
}

void AddLabel(Conditions& conditions, const std::string& name,
              const std::vector<std::string>& values) {
  static const std::string has_label = fmt::format(
      "(SELECT JSON_CONTAINS(d.definition, JSON_OBJECT(?, ?), '$.labels') FROM jobs x JOIN "
      "job_versions d ON d.job_no = x.job_no AND d.version = x.version WHERE x.job_no = {}) = 1",
      OwnerNumber("r.job_no"));
  Conditions any;
  for (const std::string& value : values) any.Or(has_label, {name, value});
  conditions.Add(any);
}

Result<Conditions> WantedOf(Session& session, const RunFilter& filter) {
  // Names every field, so that this does not compile until a new field has its condition.
  // States, job, time, parts, awaiting and opened are conditions of the walks.
  const auto& [job_id, executor, states, kinds, namespaces, user_id, name_contains, labels, since,
               until, parts, awaiting, opened, oldest_first, before, limit, search_max] = filter;
  Conditions wanted;
  if (!namespaces.empty()) wanted.AddAnyOf("j.namespace", namespaces);
  if (user_id) wanted.Add("j.user_id = ?", {*user_id});
  if (!name_contains.empty()) AddJobName(wanted, name_contains);
  for (const auto& [name, values] : labels) AddLabel(wanted, name, values);
  if (!kinds.empty()) wanted.Add(KindsIn(kinds));
  if (!executor) return wanted;
  // Reads the numbers first, so that they are constants for the optimizer, too. With a subquery,
  // the optimizer would sort the whole history.
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT i.incarnation_no FROM executor_incarnations i WHERE i.executor_id = ?",
                    {executor->value()}));
  std::vector<uint64_t> numbers;
  while (rows.Next()) numbers.push_back(rows.Unsigned(1));
  wanted.Add(numbers.empty() ? "FALSE"
                             : fmt::format("r.incarnation_no IN ({})", fmt::join(numbers, ", ")));
  return wanted;
}

// Lists all segments, which together are the range of open runs in the index.
std::string SegmentList(const SearchScope& scope) {
  std::vector<uint32_t> segments(scope.segment_count);
  for (uint32_t i = 0; i < scope.segment_count; ++i) segments[i] = i;
  return fmt::format("{}", fmt::join(segments, ", "));
}

Walk OpenRuns(const RunFilter& filter, const Conditions& wanted, const SearchScope& scope,
              const std::vector<RunState>& states) {
  Walk walk{.index = "open_runs", .within = RangeOf(filter), .wanted = wanted};
  walk.within.Add(fmt::format("r.open_segment IN ({})", SegmentList(scope)));
  // A run that has started was due. So unless pending runs are wanted, the many runs that are only
  // planned need not be read.
  const bool started = std::find(states.begin(), states.end(), RunState::kPending) == states.end();
  if (started) walk.within.Add("r.due_us <= ?", {ToUnixMicros(scope.now)});
  walk.wanted.Add(fmt::format("r.state IN ({})", QuotedStates(states)));
  if (filter.job_id) AddJob(walk.wanted, *filter.job_id);
  return walk;
}

// The index has exactly the runs with such a `due` in a row. Nodes are not planned ahead.
Walk WaitingRuns(const RunFilter& filter, const Conditions& wanted, const SearchScope& scope) {
  Walk walk{.index = "open_runs", .within = RangeOf(filter), .wanted = wanted};
  walk.within.Add(fmt::format("r.open_segment IN ({}) AND r.due_us = {}", SegmentList(scope),
                              ToUnixMicros(filter.opened.value_or(kAwaiting))));
  if (!filter.opened) walk.within.Add("r.fire_us <= ?", {ToUnixMicros(scope.now)});
  walk.wanted.Add("r.state = 'PENDING'");
  if (!filter.states.empty()) {
    walk.wanted.Add(fmt::format("r.state IN ({})", QuotedStates(filter.states)));
  }
  if (filter.job_id && filter.opened) AddTaskJob(walk.wanted, *filter.job_id);
  if (filter.job_id && !filter.opened) AddJob(walk.wanted, *filter.job_id);
  return walk;
}

Walk EndedAs(const RunFilter& filter, const Conditions& wanted, RunState state) {
  Walk walk{.index = "by_end", .within = RangeOf(filter), .wanted = wanted};
  if (filter.job_id) walk.bound = filter.search_max;  // the index contains the job
  if (filter.looks_at_runs()) walk.bound = Scattered(filter.search_max);
  walk.within.Add("r.ended_as = ?", {NumberOf(state)});
  // Checks the state as well, because a member of the previous version does not maintain ended_as.
  walk.wanted.Add(fmt::format("r.state = '{}'", Name(state)));
  if (filter.job_id) AddJob(walk.wanted, *filter.job_id);
  return walk;
}

// Returns the walk along all runs, or all runs of the filter's job, in the order of their fires.
Walk AnyState(const RunFilter& filter, const Conditions& wanted) {
  Walk walk{.index = "PRIMARY", .within = RangeOf(filter), .wanted = wanted};
  const bool looks = filter.looks_at_runs() || !filter.states.empty();
  if (looks) walk.bound = filter.search_max;
  if (filter.job_id) {
    walk.index = "by_job";
    AddJob(walk.within, *filter.job_id);
    if (looks) walk.bound = Scattered(filter.search_max);
  }
  return walk;
}

Walk InStates(const RunFilter& filter, const Conditions& wanted,
              const std::vector<RunState>& states) {
  Walk walk = AnyState(filter, wanted);
  walk.wanted.Add(fmt::format("r.state IN ({})", QuotedStates(states)));
  return walk;
}

// Returns the walks that together find all `states`, each state in one walk.
std::vector<Walk> WalksOfStates(const RunFilter& filter, const std::set<RunState>& states,
                                const Conditions& wanted, const SearchScope& scope,
                                bool many_open) {
  if (states.contains(RunState::kCompleted)) {
    return {InStates(filter, wanted, {states.begin(), states.end()})};
  }
  std::vector<Walk> walks;
  std::vector<RunState> open;
  for (const RunState state : states) {
    if (state == RunState::kPending && many_open) {
      walks.push_back(InStates(filter, wanted, {state}));
    } else if (IsOpen(state)) {
      open.push_back(state);
    }
  }
  // Open runs come first. So if a run ends between two walks, it is found twice and not missed.
  if (!open.empty()) walks.push_back(OpenRuns(filter, wanted, scope, open));
  for (const RunState state : states) {
    if (!IsOpen(state)) walks.push_back(EndedAs(filter, wanted, state));
  }
  return walks;
}

// Returns the walk along the kept runs of the filter's job, which are few.
Walk KeptOf(const RunFilter& filter, const Conditions& wanted) {
  Walk walk{.table = std::string(kKeptRuns),
            .index = "by_job",
            .within = RangeOf(filter),
            .wanted = wanted};
  AddJob(walk.within, *filter.job_id);
  if (!filter.states.empty()) {
    walk.wanted.Add(fmt::format("r.state IN ({})", QuotedStates(filter.states)));
  }
  walk.wanted.Add(std::string(kIsOnlyKept));
  return walk;
}

// True if there are more open runs than are sorted for a page.
Result<bool> HasManyOpen(Session& session, const SearchScope& scope) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(fmt::format("SELECT 1 FROM job_runs r FORCE INDEX (open_runs) WHERE "
                                           "r.open_segment IN ({}) LIMIT 1 OFFSET {}",
                                           SegmentList(scope), kSortedMax)));
  return rows.Next();
}

std::vector<Walk> WalksOfAll(const RunFilter& filter, const Conditions& wanted,
                             const SearchScope& scope) {
  const int64_t now_us = ToUnixMicros(scope.now);
  Walk due = AnyState(filter, wanted);
  static const std::string attention = "NOT (r.state = 'PENDING' AND r.attempt = 1 AND " +
                                       KindsWith(&RunKindRules::planned_ahead) +
                                       " AND r.fire_us > ?)";
  due.wanted.Add(attention, {now_us});
  if (filter.job_id) return {std::move(due)};
  // Of the runs with later fires, the many that are only planned are not read.
  const int64_t ahead_us = ToUnixMicros(scope.now + kListAhead);
  due.within.Add("r.fire_us <= ?", {ahead_us});
  Walk ended_early{.index = "open_runs", .within = RangeOf(filter), .wanted = wanted};
  // A run that ended in a queue or held back is not due at a time (run.h), but its fire is past.
  ended_early.within.Add(
      "r.open_segment IS NULL AND r.due_us > ? AND r.due_us < ? AND r.fire_us > ?",
      {now_us, ToUnixMicros(kTimesEnd), ahead_us});
  // A walk of its own, because within one `due` the index is in the order of fires: none is read of
  // the many that waited for runs of other jobs in vain.
  Walk ended_waiting{.index = "open_runs", .within = RangeOf(filter), .wanted = wanted};
  ended_waiting.within.Add("r.open_segment IS NULL AND r.due_us = ? AND r.fire_us > ?",
                           {ToUnixMicros(kAwaiting), ahead_us});
  return {std::move(due), std::move(ended_early), std::move(ended_waiting)};
}

Result<std::vector<Walk>> WalksOfRuns(Session& session, const RunFilter& filter,
                                      const Conditions& wanted, const SearchScope& scope) {
  if (filter.awaiting || filter.opened) return std::vector{WaitingRuns(filter, wanted, scope)};
  const std::set<RunState> states(filter.states.begin(), filter.states.end());
  if (states.empty()) return WalksOfAll(filter, wanted, scope);
  bool many_open = false;
  if (states.contains(RunState::kPending)) {
    CARILLON_ASSIGN_OR_RETURN(many_open, HasManyOpen(session, scope));
  }
  return WalksOfStates(filter, states, wanted, scope, many_open);
}

Result<std::vector<Walk>> WalksOf(Session& session, const RunFilter& filter,
                                  const SearchScope& scope) {
  CARILLON_ASSIGN_OR_RETURN(const Conditions wanted, WantedOf(session, filter));
  CARILLON_ASSIGN_OR_RETURN(std::vector<Walk> walks, WalksOfRuns(session, filter, wanted, scope));
  // Last: a run whose day is dropped between two walks is then found by one of them.
  if (filter.job_id && !filter.awaiting && !filter.opened) walks.push_back(KeptOf(filter, wanted));
  return walks;
}

// Counts the runs that one walk finds. Without a bound, the order and the cursor do not matter.
Result<BoundedCount> CountWalk(Session& session, Walk walk, const RunFilter& filter) {
  CountedRows rows{.from = walk.table + " r FORCE INDEX (" + walk.index + ")",
                   .order = std::string(RunOrder(filter.oldest_first)),
                   .within = std::move(walk.within)};
  if (filter.looks_at_jobs()) {
    rows.from +=
        " STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = " + OwnerNumber("r.job_no");
  }
  if (walk.bound) {
    rows.wanted = std::move(walk.wanted);
    rows.looked_at_max = *walk.bound;
  } else {
    rows.within.Add(walk.wanted);
  }
  return CountRows(session, rows);
}

// Returns the last run that the walk may read within its bound; nullopt if the walk ends before it
// reaches the bound.
Result<std::optional<RunKey>> EndOf(Session& session, const Walk& walk, bool oldest_first) {
  Params params = walk.within.params();
  params.push_back(static_cast<uint64_t>(*walk.bound - 1));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(fmt::format("SELECT r.fire_us, r.schedule_id, r.shard FROM job_runs "
                                "r FORCE INDEX ({}) WHERE {} ORDER BY {} LIMIT 1 OFFSET ?",
                                walk.index, walk.within.text(), RunOrder(oldest_first)),
                    params));
  if (!rows.Next()) return std::optional<RunKey>();
  return std::optional<RunKey>(
      {rows.Time(1), ScheduleId(rows.Unsigned(2)), static_cast<uint32_t>(rows.Unsigned(3))});
}

constexpr size_t kMarkedOpenRuns = 1'000;

// Returns a checksum of some runs that does not depend on their order.
Result<uint64_t> MarkOf(Session& session, const std::string& runs, const Params& params) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      // Uses SHA2. If the window moves by one run, weaker checksums may add up to the same sum.
      session.Query(
          "SELECT CAST(COALESCE(SUM(CONV(LEFT(SHA2(CONCAT_WS(' ', x.fire_us, x.schedule_id, "
          "x.shard, x.state, x.attempt), 256), 8), 16, 10)), 0) AS UNSIGNED), COUNT(*) FROM "
          "(SELECT "
          "r.fire_us, "
          "r.schedule_id, r.shard, r.state + 0 AS state, r.attempt FROM job_runs r " +
              runs + ") x",
          params));
  rows.Next();
  return (rows.Unsigned(1) << 20) + rows.Unsigned(2);
}

}  // namespace

Result<uint64_t> ReadMark(Session& session, const SearchScope& scope) {
  const int64_t now_us = ToUnixMicros(scope.now);
  CARILLON_ASSIGN_OR_RETURN(
      const uint64_t open,
      MarkOf(session,
             fmt::format("FORCE INDEX (open_runs) WHERE r.open_segment IN ({}) AND r.due_us <= ? "
                         "LIMIT {}",
                         SegmentList(scope), kMarkedOpenRuns),
             {now_us}));
  CARILLON_ASSIGN_OR_RETURN(
      const uint64_t newest,
      MarkOf(session,
             fmt::format("FORCE INDEX (PRIMARY) WHERE r.fire_us <= ? AND {} ORDER BY {} LIMIT {}",
                         kIsOwnRun, RunOrder(false), kMarkedRuns),
             {now_us}));
  return open * 31 + newest;
}

Result<RunPage> SearchRuns(Session& session, const RunFilter& filter, const SearchScope& scope,
                           Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(std::vector<Walk> walks, WalksOf(session, filter, scope));
  const auto comes_before = [&](const RunKey& a, const RunKey& b) {
    return filter.oldest_first ? a < b : b < a;
  };
  RunPage page;
  for (Walk& walk : walks) {
    if (walk.bound) {
      CARILLON_ASSIGN_OR_RETURN(const std::optional<RunKey> end,
                                EndOf(session, walk, filter.oldest_first));
      if (end) {
        AddBeyond(walk.within, *end,
                  filter.oldest_first ? Beyond::kEarlierOrEqual : Beyond::kLaterOrEqual);
        if (!page.searched_to || comes_before(*end, *page.searched_to)) page.searched_to = *end;
      }
    }
    walk.within.Add(walk.wanted);
    CARILLON_ASSIGN_OR_RETURN(std::vector<RunDetail> found,
                              ReadDetails(session,
                                          {.table = walk.table,
                                           .index = walk.index,
                                           .where = walk.within.text(),
                                           .params = walk.within.params(),
                                           .limit = filter.limit,
                                           .oldest_first = filter.oldest_first},
                                          incarnations));
    std::move(found.begin(), found.end(), std::back_inserter(page.runs));
  }
  std::sort(page.runs.begin(), page.runs.end(), [&](const RunDetail& a, const RunDetail& b) {
    return comes_before(a.row.key, b.row.key);
  });
  const auto again =
      std::unique(page.runs.begin(), page.runs.end(),
                  [](const RunDetail& a, const RunDetail& b) { return a.row.key == b.row.key; });
  page.runs.erase(again, page.runs.end());
  // Drops runs beyond the point where one of the walks stopped. Other walks may have found runs
  // there, but the stopped walk has not, so the list would have holes.
  if (page.searched_to) {
    std::erase_if(page.runs, [&](const RunDetail& run) {
      return comes_before(*page.searched_to, run.row.key);
    });
  }
  if (page.runs.size() >= filter.limit) {
    page.runs.resize(filter.limit);
    page.searched_to.reset();
  }
  return page;
}

Result<BoundedCount> CountFound(Session& session, const RunFilter& filter,
                                const SearchScope& scope) {
  RunFilter first = filter;
  first.before.reset();
  first.search_max = std::min(filter.search_max, kRunCountLookedAtMax);
  CARILLON_ASSIGN_OR_RETURN(std::vector<Walk> walks, WalksOf(session, first, scope));
  BoundedCount found{.seen = 0, .all = true};
  for (Walk& walk : walks) {
    if (found.seen == kListedCountMax) return BoundedCount{.seen = found.seen, .all = false};
    CARILLON_ASSIGN_OR_RETURN(const BoundedCount some, CountWalk(session, std::move(walk), first));
    found.all = found.all && some.all && found.seen + some.seen <= kListedCountMax;
    found.seen = std::min(found.seen + some.seen, kListedCountMax);
  }
  return found;
}

}  // namespace carillon::mysql
