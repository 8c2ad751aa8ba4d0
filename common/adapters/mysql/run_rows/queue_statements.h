// The statements with which RunWriter writes queues and slots, of jobs and of concurrency groups.
// Only run_writer.cc includes this file. Each statement has one JSON parameter k.
#pragma once

#include <string>
#include <string_view>

#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/run_writer.h"

namespace carillon::mysql {

inline const std::string kQueuedRuns =
    UpdateRuns("a INT PATH '$[3]', u BIGINT PATH '$[4]', t INT PATH '$[5]'",
               "r.due_us = k.u, r.slot_taken = k.t, r.group_no = 0, r.group_slot = 0",
               "r.state = 'PENDING' AND r.attempt = k.a AND r.due_us <> k.u");

inline const std::string kAdmitted =
    UpdateRuns("o BIGINT PATH '$[3]', u BIGINT PATH '$[4]', t INT PATH '$[5]'",
               "r.due_us = k.u, r.slot_taken = IF(k.t = 1, 1, r.slot_taken)",
               "r.state = 'PENDING' AND r.due_us = k.o");

inline const std::string kGranted = UpdateRuns(
    "o BIGINT PATH '$[3]', u BIGINT PATH '$[4]', g INT UNSIGNED PATH '$[5]', "
    "z INT UNSIGNED PATH '$[6]'",
    "r.due_us = k.u, r.group_no = k.g, r.group_slot = k.z",
    "r.state = 'PENDING' AND r.due_us = k.o");

inline const std::string kSlotsTaken =
    "INSERT INTO run_slots (job_no, slot_no, fire_us, schedule_id, shard) "
    "SELECT k.j, k.n, k.f, k.s, k.h FROM " +
    KeyedRuns("j BIGINT UNSIGNED PATH '$[3]', n INT UNSIGNED PATH '$[4]'");

inline const std::string kSlotsFreed =
    "DELETE t FROM " + KeyedRuns("j BIGINT UNSIGNED PATH '$[3]'") +
    " STRAIGHT_JOIN run_slots t FORCE INDEX (PRIMARY) ON t.job_no = k.j "
    "WHERE t.fire_us = k.f AND t.schedule_id = k.s AND t.shard = k.h";

// granted_us is 0 for a slot that a claim has taken; given_us becomes the time of the claim.
inline const std::string kGroupSlotsTaken =
    "UPDATE " +
    KeyedRuns(
        "g INT UNSIGNED PATH '$[3]', n INT UNSIGNED PATH '$[4]', q BIGINT PATH '$[5]', "
        "w BIGINT PATH '$[6]'") +
    " STRAIGHT_JOIN group_slots t FORCE INDEX (PRIMARY) ON t.group_no = k.g AND t.slot_no = k.n "
    "SET t.fire_us = k.f, t.schedule_id = k.s, t.shard = k.h, t.granted_us = k.q, "
    "t.given_us = IF(k.w = 0, t.given_us, k.w) "
    "WHERE t.fire_us = 0 OR (t.fire_us = k.f AND t.schedule_id = k.s AND t.shard = k.h)";

// A slot of another run is left alone: a look may have freed it, and another run may have taken it.
// w: StartInSlot.
inline const std::string kGroupSlotsFreed =
    "UPDATE " +
    KeyedRuns("g INT UNSIGNED PATH '$[3]', n INT UNSIGNED PATH '$[4]', w BIGINT PATH '$[5]'") +
    " STRAIGHT_JOIN group_slots t FORCE INDEX (PRIMARY) ON t.group_no = k.g AND t.slot_no = k.n "
    "SET t.fire_us = 0, t.schedule_id = 0, t.shard = 0, t.granted_us = 0, "
    "t.given_us = GREATEST(t.given_us, k.w) "
    "WHERE t.fire_us = k.f AND t.schedule_id = k.s AND t.shard = k.h";

// A member of a version without queues ends a queued run without deleting its row, which the run
// may still have when it is queued again.
inline const std::string kWaits =
    "INSERT INTO run_waits (fire_us, schedule_id, shard, job_no, segment, queued_us, expires_us, "
    "group_no, rank_no) SELECT k.f, k.s, k.h, k.j, k.g, k.q, k.e, k.n, k.r FROM " +
    KeyedRuns(
        "j BIGINT UNSIGNED PATH '$[6]', g INT UNSIGNED PATH '$[7]', q BIGINT PATH '$[8]', "
        "e BIGINT PATH '$[9]', n INT UNSIGNED PATH '$[10]', r INT PATH '$[11]'") +
    " ON DUPLICATE KEY UPDATE run_waits.queued_us = VALUES(queued_us), "
    "run_waits.expires_us = VALUES(expires_us), run_waits.group_no = VALUES(group_no), "
    "run_waits.rank_no = VALUES(rank_no)";

inline const std::string kWaitsOver =
    "DELETE w FROM " + KeyedRuns("") +
    " STRAIGHT_JOIN run_waits w FORCE INDEX (PRIMARY) ON w.fire_us = k.f AND "
    "w.schedule_id = k.s AND w.shard = k.h";

}  // namespace carillon::mysql
