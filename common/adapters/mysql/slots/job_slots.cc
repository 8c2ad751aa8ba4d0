#include "common/adapters/mysql/slots/job_slots.h"

#include <algorithm>
#include <string>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/base/failpoint.h"

namespace carillon::mysql {

bool JobSlots::Holds(const RunKey& key) const {
  return std::any_of(taken.begin(), taken.end(),
                     [&](const auto& slot) { return slot.second == key; });
}

void JobSlots::Release(const RunKey& key) {
  std::erase_if(taken, [&](const auto& slot) { return slot.second == key; });
}

std::optional<int64_t> JobSlots::Lowest(int64_t max_running) const {
  // A test that breaks the limit needs a number for the run that is above it.
  if (failpoint::Broken("claim.limit")) max_running = static_cast<int64_t>(taken.size()) + 1;
  if (static_cast<int64_t>(taken.size()) >= max_running) return std::nullopt;
  int64_t lowest = 0;
  for (const auto& [number, unused] : taken) {
    if (number > lowest) break;
    lowest = number + 1;
  }
  return lowest;
}

Status LockSlots(Session& session, SlotsOfJobs* slots) {
  static const std::string statement =
      "SELECT t.job_no, t.slot_no, t.fire_us, t.schedule_id, t.shard FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (j BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN run_slots t FORCE INDEX "
      "(PRIMARY) "
      "ON t.job_no = k.j" +
      ForUpdateOf("t");
  if (slots->empty()) return {};
  JsonRows wanted;
  for (const auto& [job_no, unused] : *slots) wanted.Begin().Add(job_no.value());
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  while (rows.Next()) {
    (*slots)[JobNo(rows.Unsigned(1))].taken[rows.Int(2)] = {
        .fire = rows.Time(3),
        .schedule_id = ScheduleId(rows.Unsigned(4)),
        .shard = static_cast<uint32_t>(rows.Unsigned(5))};
  }
  return {};
}

Status ReadStarted(Session& session, const std::vector<JobNo>& jobs, SlotsOfJobs* slots) {
  static const std::string statement =
      "SELECT t.job_no, t.fire_us, t.schedule_id, t.shard FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (j BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN run_slots t FORCE INDEX "
      "(PRIMARY) "
      "ON t.job_no = k.j STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = t.fire_us "
      "AND "
      "r.schedule_id = t.schedule_id AND r.shard = t.shard WHERE r.state <> 'PENDING'";
  if (jobs.empty()) return {};
  JsonRows wanted;
  for (const JobNo job_no : jobs) wanted.Begin().Add(job_no.value());
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  while (rows.Next()) {
    slots->at(JobNo(rows.Unsigned(1)))
        .started.insert({.fire = rows.Time(2),
                         .schedule_id = ScheduleId(rows.Unsigned(3)),
                         .shard = static_cast<uint32_t>(rows.Unsigned(4))});
  }
  return {};
}

void JobQueueFacts::Add(const RunKey& key) {
  ++length;
  if (!first || key < *first) first = key;
}

namespace {

// Returns the expression that reads a column of the first queued run of the job k.j. The order
// names all columns of the index: otherwise MySQL reads and sorts the whole queue.
std::string OfFirst(std::string_view column) {
  return "(SELECT w." + std::string(column) +
         " FROM run_waits w FORCE INDEX (by_place) WHERE w.segment = k.g AND w.group_no = 0 AND "
         "w.job_no = k.j ORDER BY w.segment, w.group_no, w.job_no, w.fire_us, w.schedule_id, "
         "w.shard "
         "LIMIT 1)";
}

Status CountQueues(Session& session, const std::vector<JobNo>& counted, QueuesOfJobs* queues) {
  static const std::string statement =
      "SELECT k.j, (SELECT COUNT(*) FROM run_waits w FORCE INDEX (by_place) WHERE w.segment = k.g "
      "AND w.group_no = 0 AND w.job_no = k.j) FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (g INT UNSIGNED PATH '$[0]', "
      "j BIGINT UNSIGNED PATH '$[1]')) k";
  JsonRows wanted;
  for (const JobNo job_no : counted) {
    const JobQueueFacts& queue = queues->at(job_no);
    if (queue.first) wanted.Begin().Add(queue.segment.value()).Add(job_no.value());
  }
  if (wanted.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  while (rows.Next()) queues->at(JobNo(rows.Unsigned(1))).length = rows.Int(2);
  return {};
}

}  // namespace

Status ReadQueues(Session& session, const std::vector<JobNo>& counted, QueuesOfJobs* queues) {
  static const std::string statement = "SELECT k.j, " + OfFirst("fire_us") + ", " +
                                       OfFirst("schedule_id") + ", " + OfFirst("shard") +
                                       " FROM JSON_TABLE(" CARILLON_JSON
                                       ", '$[*]' COLUMNS (g INT UNSIGNED PATH '$[0]', "
                                       "j BIGINT UNSIGNED PATH '$[1]')) k";
  if (queues->empty()) return {};
  JsonRows wanted;
  for (const auto& [job_no, queue] : *queues) {
    wanted.Begin().Add(queue.segment.value()).Add(job_no.value());
  }
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
    while (rows.Next()) {
      if (rows.IsNull(2)) continue;
      JobQueueFacts& queue = queues->at(JobNo(rows.Unsigned(1)));
      queue.length = 1;
      queue.first = {.fire = rows.Time(2),
                     .schedule_id = ScheduleId(rows.Unsigned(3)),
                     .shard = static_cast<uint32_t>(rows.Unsigned(4))};
    }
  }
  return CountQueues(session, counted, queues);
}

SlotFacts SlotFactsOf(const JobSlots& slots, const JobQueueFacts& queue, const RunKey& key) {
  const bool has_slot = slots.Holds(key);
  return {
      .has_slot = has_slot,
      .taken = static_cast<int64_t>(slots.taken.size()) - (has_slot ? 1 : 0),
      .ahead = std::count_if(slots.taken.begin(), slots.taken.end(),
                             [&](const auto& slot) {
                               return slot.second < key ||
                                      (slot.second != key && slots.started.contains(slot.second));
                             }),
      .queued = queue.length,
      .queued_before = queue.first && *queue.first < key};
}

}  // namespace carillon::mysql
