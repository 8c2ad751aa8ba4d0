// Statements that write the rows of runs in batches, for RunWriter.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/adapters/mysql/run_rows/keyed_runs.h"

namespace carillon::mysql {

inline const std::string kClaim = UpdateRuns(
    "a INT PATH '$[3]', n INT UNSIGNED PATH '$[4]', x BIGINT UNSIGNED PATH '$[5]', "
    "y BIGINT UNSIGNED PATH '$[6]', c BIGINT PATH '$[7]', t INT PATH '$[8]', "
    "g INT UNSIGNED PATH '$[9]', z INT UNSIGNED PATH '$[10]'",
    "r.state = 2, r.incarnation_no = k.n, r.token_high = k.x, r.token_low = k.y, "
    "r.claimed_us = k.c, r.slot_taken = k.t, r.group_no = k.g, r.group_slot = k.z",
    "r.state = 'PENDING' AND r.attempt = k.a");

inline constexpr std::string_view kFinalColumns =
    "o INT PATH '$[3]', t INT PATH '$[4]', a INT PATH '$[5]', b BIGINT PATH '$[6]', "
    "e BIGINT PATH '$[7]', x INT PATH '$[8]', r VARCHAR(255) PATH '$[9]', c INT PATH '$[10]', "
    "q VARCHAR(400) PATH '$[11]'";
// 4 is COMPLETED, 7 is CANCELLED.
inline constexpr std::string_view kFinalSet =
    "r.state = k.t, r.attempt = k.a, r.started_us = k.b, r.ended_us = k.e, r.exit_code = k.x, "
    "r.reason = k.r, r.output_truncated = k.c, r.detail = k.q, r.open_segment = NULL, "
    "r.cancel_requested = 0, "
    "r.slot_taken = 0, r.group_no = 0, r.group_slot = 0, r.ended_as = NULLIF(k.t, 4)";

// `error` is NULL while a run is RUNNING and no cancel was requested: a retry clears it, a claim
// leaves it unchanged, and a cancel sets `error` together with the flag. So this statement need not
// set it. If it named `error`, a BLOB, the server would keep the rows in a temporary table on disk.
inline const std::string kFinal =
    UpdateRuns(kFinalColumns, kFinalSet, "r.state + 0 = k.o AND r.cancel_requested = 0");
// A CANCELLED run keeps the text from Explain: who cancelled it, and why.
inline const std::string kFinalWithError =
    UpdateRuns(kFinalColumns, fmt::format("{}, r.error = IF(k.t = 7, r.error, NULL)", kFinalSet),
               "r.state + 0 = k.o");
inline const std::string kFinalWithOutput = UpdateRuns(
    std::string(kFinalColumns) +
        ", m LONGTEXT PATH '$[12]', w LONGTEXT PATH '$[13]', v LONGTEXT PATH '$[14]'",
    fmt::format("{}, r.error = IF(k.t = 7, COALESCE(r.error, FROM_BASE64(k.m)), "
                "FROM_BASE64(k.m)), r.output = FROM_BASE64(k.w), r.outputs = FROM_BASE64(k.v)",
                kFinalSet),
    "r.state + 0 = k.o");

inline const std::string kPending = UpdateRuns(
    "o INT PATH '$[3]', a INT PATH '$[4]', u BIGINT PATH '$[5]', v BIGINT PATH '$[6]', "
    "r VARCHAR(255) PATH '$[7]', p INT PATH '$[8]', l INT UNSIGNED PATH '$[9]', x INT PATH '$[10]'",
    "r.token_high = IF(k.x, 0, r.token_high), r.token_low = IF(k.x, 0, r.token_low), r.slot_taken "
    "= "
    "IF(k.x, 0, r.slot_taken), r.state = 1, r.flags = r.flags & ~" +
        std::to_string(run_flag::kReturns | run_flag::kPresume) +
        " | k.l, r.attempt = k.a, r.due_us = k.u, r.def_version = k.v, "
        "r.reason = k.r, "
        "r.priority = k.p, "
        "r.open_segment = r.segment, r.ended_as = NULL, r.cancel_requested = 0, r.started_us = 0, "
        "r.ended_us = 0, "
        "r.exit_code = NULL, r.output_truncated = 0, r.error = NULL, r.output = NULL, "
        "r.outputs = NULL, r.detail = NULL, r.group_no = 0, r.group_slot = 0",
    "r.state + 0 = k.o");

inline const std::string kHeld = UpdateRuns(
    "o INT PATH '$[3]', r VARCHAR(255) PATH '$[4]', u BIGINT PATH '$[5]', "
    "l INT UNSIGNED PATH '$[6]'",
    fmt::format("r.state = 3, r.reason = k.r, r.due_us = k.u, r.flags = r.flags & ~{} | "
                "(k.l & {})",
                run_flag::kPresume, run_flag::kPresume),
    "r.state + 0 = k.o");

inline const std::string kCancelFlag = UpdateRuns(
    "x INT PATH '$[4]'", "r.cancel_requested = 1, r.kill_attempt = IF(k.x, r.attempt, 0)",
    "r.state IN ('RUNNING', 'HELD')");

// The first result of an attempt stays, except that a real end, as its own executor reports it,
// replaces LOST. `state` is assigned last, because the assignments before it read it.
inline const std::string kReplaceable =
    "run_attempts.state = 'LOST' AND run_attempts.executor_id = VALUES(executor_id)";
inline const std::string kAttempt =
    "INSERT INTO run_attempts (fire_us, schedule_id, shard, attempt, state, executor_id, "
    "claimed_us, started_us, ended_us, exit_code, reason, output_truncated, detail, error, output) "
    "SELECT k.f, k.s, k.h, k.a, k.t, k.i, k.c, k.b, k.e, k.x, k.r, k.d, k.q, FROM_BASE64(k.m), "
    "FROM_BASE64(k.w) FROM " +
    KeyedRuns(
        "a INT PATH '$[3]', t INT PATH '$[4]', i VARCHAR(255) PATH '$[5]', "
        "c BIGINT PATH '$[6]', b BIGINT PATH '$[7]', e BIGINT PATH '$[8]', x INT PATH '$[9]', "
        "r VARCHAR(255) PATH '$[10]', d INT PATH '$[11]', q VARCHAR(400) PATH '$[12]', "
        "m LONGTEXT PATH '$[13]', w LONGTEXT PATH '$[14]'") +
    " ON DUPLICATE KEY UPDATE "
    "run_attempts.started_us = IF(" +
    kReplaceable +
    ", VALUES(started_us), "
    "run_attempts.started_us), "
    "run_attempts.ended_us = IF(" +
    kReplaceable +
    ", VALUES(ended_us), "
    "run_attempts.ended_us), "
    "run_attempts.exit_code = IF(" +
    kReplaceable +
    ", VALUES(exit_code), "
    "run_attempts.exit_code), "
    "run_attempts.reason = IF(" +
    kReplaceable +
    ", VALUES(reason), run_attempts.reason), "
    "run_attempts.output_truncated = IF(" +
    kReplaceable +
    ", VALUES(output_truncated), "
    "run_attempts.output_truncated), "
    "run_attempts.detail = IF(" +
    kReplaceable +
    ", VALUES(detail), "
    "run_attempts.detail), "
    "run_attempts.error = IF(" +
    kReplaceable +
    ", VALUES(error), run_attempts.error), "
    "run_attempts.output = IF(" +
    kReplaceable +
    ", VALUES(output), run_attempts.output), "
    "run_attempts.state = IF(" +
    kReplaceable + ", VALUES(state), run_attempts.state)";

inline const std::string kAttemptsBack =
    "DELETE a FROM " + KeyedRuns("n INT PATH '$[3]'") +
    " STRAIGHT_JOIN run_attempts a FORCE INDEX (PRIMARY) ON a.fire_us = k.f AND "
    "a.schedule_id = k.s AND a.shard = k.h AND a.attempt >= k.n";

inline const std::string kCancels =
    "INSERT INTO run_cancels (segment, fire_us, schedule_id, shard) "
    "SELECT k.g, k.f, k.s, k.h FROM " +
    KeyedRuns("g INT UNSIGNED PATH '$[3]'") +
    // The row already exists if an earlier cancel is made stronger.
    " ON DUPLICATE KEY UPDATE run_cancels.segment = run_cancels.segment";

inline const std::string kGivenUp =
    "UPDATE " + KeyedRuns("g INT UNSIGNED PATH '$[3]', a INT UNSIGNED PATH '$[4]'") +
    " STRAIGHT_JOIN run_cancels c FORCE INDEX (PRIMARY) ON c.segment = k.g AND c.fire_us = k.f "
    "AND c.schedule_id = k.s AND c.shard = k.h SET c.give_up_attempt = k.a";

inline const std::string kCancelsDone =
    "DELETE c FROM " + KeyedRuns("g INT UNSIGNED PATH '$[3]'") +
    " STRAIGHT_JOIN run_cancels c FORCE INDEX (PRIMARY) ON c.segment = k.g AND c.fire_us = k.f "
    "AND c.schedule_id = k.s AND c.shard = k.h";

inline const std::string kExplained =
    UpdateRuns("m LONGTEXT PATH '$[3]'", "r.error = FROM_BASE64(k.m)", "TRUE");

// The range of created_us bounds the search: a run is planned at most ten minutes before its fire
// (scheduler.horizon_s), and may be run and fail from then on.
inline const std::string kDeadLettersGone =
    "DELETE d FROM " + KeyedRuns("") +
    " STRAIGHT_JOIN dead_letters d ON d.created_us >= k.f - 600000000 AND d.fire_us = k.f AND "
    "d.schedule_id = k.s AND d.shard = k.h";

inline const std::string kDeadLetters =
    "INSERT INTO dead_letters (fire_us, schedule_id, shard, job_no, state, attempts, reason, "
    "created_us) SELECT k.f, k.s, k.h, k.j, k.t, k.a, k.r, k.c FROM " +
    KeyedRuns(
        "j BIGINT UNSIGNED PATH '$[3]', t VARCHAR(255) PATH '$[4]', a INT PATH '$[5]', "
        "r VARCHAR(255) PATH '$[6]', c BIGINT PATH '$[7]'");

}  // namespace carillon::mysql
