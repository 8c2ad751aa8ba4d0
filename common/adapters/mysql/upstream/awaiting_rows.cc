#include "common/adapters/mysql/upstream/awaiting_rows.h"

#include <string>
#include <utility>

#include <fmt/core.h>

#include "common/adapters/mysql/client/segment_merge.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/upstream/node_workflows.h"

namespace carillon::mysql {
namespace {

struct StoredAwaiting {
  StoredRun run;
  WallTime planned = WallTime{};
  std::string kept_zone = {};
};

// The member of a JSON text that given_parameters.h names kKeptZone; NULL if there is none.
std::string ZoneIn(std::string_view column) {
  return fmt::format(
      "JSON_UNQUOTE(IF(JSON_VALID({0}), JSON_EXTRACT({0}, '$.\"$time_zone\"'), NULL))", column);
}

// Bounds the first column on its own, since a row comparison (a, b) > (?, ?) uses no index.
constexpr std::string_view kAfterKey =
    " AND r.fire_us >= ? AND (r.fire_us > ? OR r.schedule_id > ? OR (r.schedule_id = ? AND r.shard "
    "> ?))";

Result<std::vector<StoredAwaiting>> FetchAwaiting(Session& session,
                                                  const std::vector<SegmentId>& segments,
                                                  WallTime until,
                                                  const std::optional<RunKey>& after,
                                                  size_t share) {
  static const std::string select = fmt::format(
      "SELECT {}, r.planned_us, COALESCE({}, {}, '') FROM job_runs r FORCE INDEX (open_runs) {} "
      "WHERE r.open_segment = ? AND r.due_us = {} AND r.fire_us <= ? AND r.state = 'PENDING'",
      kRunColumns, ZoneIn("r.parameters"), ZoneIn("w.parameters"), kJoinWorkflow,
      ToUnixMicros(kAwaiting));
  const std::string branch = select + (after ? std::string(kAfterKey) : std::string()) +
                             " ORDER BY r.fire_us, r.schedule_id, r.shard LIMIT ?";
  Params params;
  for (const SegmentId segment : segments) {
    params.emplace_back(static_cast<uint64_t>(segment.value()));
    params.emplace_back(ToUnixMicros(until));
    if (after) {
      const int64_t fire = ToUnixMicros(after->fire);
      const uint64_t schedule = after->schedule_id.value();
      params.insert(params.end(),
                    {fire, fire, schedule, schedule, static_cast<uint64_t>(after->shard)});
    }
    params.emplace_back(static_cast<uint64_t>(share));
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionOf(branch, segments.size()), params));
  std::vector<StoredAwaiting> found;
  while (rows.Next()) {
    // It has no executor to be looked up: nobody has claimed it.
    found.push_back({.run = ReadRun(rows),
                     .planned = rows.Time(kRunColumnCount + 1),
                     .kept_zone = rows.Text(kRunColumnCount + 2)});
    NoteIfUnreadable(session, found.back().run);
  }
  return found;
}

}  // namespace

Result<AwaitingPage> ReadAwaiting(Session& session, const std::vector<SegmentId>& segments,
                                  WallTime until, const std::optional<RunKey>& after,
                                  size_t limit) {
  // Reads one run more than asked for, to know whether there is a next page.
  CARILLON_ASSIGN_OR_RETURN(
      std::vector<StoredAwaiting> found,
      MergeSegments<StoredAwaiting>(
          segments.size(), limit + 1,
          [&](size_t share) { return FetchAwaiting(session, segments, until, after, share); },
          [](const StoredAwaiting& one) { return one.run.row.segment; },
          [](const StoredAwaiting& one) { return one.run.row.key; }));
  AwaitingPage page;
  if (found.size() > limit) {
    found.resize(limit);
    page.next = found.back().run.row.key;
  }
  for (StoredAwaiting& one : found) {
    if (!one.run.readable) continue;
    page.runs.push_back({.row = std::move(one.run.row),
                         .planned = one.planned,
                         .kept_zone = std::move(one.kept_zone)});
  }
  return page;
}

}  // namespace carillon::mysql
