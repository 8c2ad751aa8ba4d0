#include "common/adapters/mysql/run_rows/notice_rows.h"

#include "common/adapters/mysql/client/json_rows.h"

namespace carillon::mysql {

std::string SegmentList(const std::vector<SegmentId>& segments) {
  JsonRows rows;
  for (const SegmentId segment : segments) rows.Begin().Add(segment.value());
  return rows.Take();
}

Status NoteMissed(Session& session, const std::vector<PlannedGap>& gaps, WallTime now) {
  static const std::string statement =
      "INSERT INTO notices (segment, open_segment, kind, job_no, fire_us, schedule_id, state, "
      "reason, fires, until_us, created_us) SELECT j.segment, j.segment, 'missed', k.j, k.f, k.s, "
      "'SKIPPED', k.r, k.n, k.t, ? FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS ("
      "s BIGINT UNSIGNED PATH '$[0]', j BIGINT UNSIGNED PATH '$[1]', f BIGINT PATH '$[2]', "
      "t BIGINT PATH '$[3]', n BIGINT PATH '$[4]', r VARCHAR(255) PATH '$[5]')) k STRAIGHT_JOIN "
      "jobs j FORCE INDEX (PRIMARY) ON j.job_no = k.j ON DUPLICATE KEY UPDATE "
      "notices.id = notices.id";
  if (gaps.empty()) return {};
  JsonRows rows;
  for (const PlannedGap& gap : gaps) {
    rows.Begin()
        .Add(gap.schedule_id.value())
        .Add(gap.job_no.value())
        .Add(gap.range.from)
        .Add(gap.range.to)
        .Add(gap.range.count)
        .Add(Name(gap.range.reason));
  }
  CARILLON_TRY(session.Execute(statement, {ToUnixMicros(now), rows.Take()}));
  return {};
}

}  // namespace carillon::mysql
