// Rows of notices, inserted by the transactions that cause them.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

// Inserts notices that do not exist yet, from one JSON parameter: key, segment, kind, job, attempt,
// state, reason, time.
inline const std::string kInsertNotices =
    "INSERT INTO notices (fire_us, schedule_id, shard, segment, open_segment, kind, job_no, "
    "attempt, state, reason, created_us) SELECT k.f, k.s, k.h, k.g, k.g, k.n, k.j, k.a, k.t, k.r, "
    "k.c FROM JSON_TABLE(" CARILLON_JSON
    ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', "
    "h INT UNSIGNED PATH '$[2]', g INT UNSIGNED PATH '$[3]', n VARCHAR(255) PATH '$[4]', "
    "j BIGINT UNSIGNED PATH '$[5]', a INT PATH '$[6]', t VARCHAR(255) PATH '$[7]', "
    "r VARCHAR(255) PATH '$[8]', c BIGINT PATH '$[9]')) k "
    "ON DUPLICATE KEY UPDATE notices.id = notices.id";

// Returns the JSON parameter with the numbers of `segments`.
std::string SegmentList(const std::vector<SegmentId>& segments);

// Inserts notices of missed fires, for the fires in `gaps`.
Status NoteMissed(Session& session, const std::vector<PlannedGap>& gaps, WallTime now);

}  // namespace carillon::mysql
