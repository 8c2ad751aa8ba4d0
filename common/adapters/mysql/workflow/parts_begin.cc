#include "common/adapters/mysql/workflow/parts_begin.h"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/part_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/domain/parts/fan_out_places.h"
#include "common/domain/parts/fire_end.h"

namespace carillon::mysql {
namespace {

FanOutHost ReadHost(const Rows& rows) {
  FanOutHost host{.id = ExecutorId(rows.Text(1)),
                  .enabled = rows.Int(2) != 0,
                  .draining = rows.Int(3) != 0,
                  .features = Features::FromBits(rows.Unsigned(5)),
                  .heard = rows.Time(7)};
  const nlohmann::json labels = nlohmann::json::parse(rows.Text(4), nullptr, false);
  for (const auto& [name, value] : labels.items()) {
    if (value.is_string()) host.labels[name] = value.get<std::string>();
  }
  std::istringstream names(rows.IsNull(6) ? std::string() : std::string(rows.Text(6)));
  for (std::string name; names >> name;) host.handlers.insert(name);
  return host;
}

// Without locks: a host that comes or goes meanwhile is no reason to wait.
Result<std::vector<FanOutHost>> ReadHosts(Session& session, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT x.executor_id, x.enabled, x.draining, x.labels, x.features, "
                    "x.handlers, TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', "
                    "x.last_heartbeat_time) FROM executors x WHERE x.enabled = 1 AND "
                    "x.last_heartbeat_time >= TIMESTAMPADD(MICROSECOND, ?, '1970-01-01 00:00:00')",
                    {ToUnixMicros(now - kBroadcastHeard)}));
  std::vector<FanOutHost> hosts;
  while (rows.Next()) hosts.push_back(ReadHost(rows));
  return hosts;
}

Result<Places> PlacesAtBegin(Session& session, const PartsRequest& request,
                             const JobDefinition& job, WallTime now) {
  if (request.rendered) return *request.rendered;
  std::vector<FanOutHost> hosts;
  if (AsksHosts(job)) {
    CARILLON_ASSIGN_OR_RETURN(hosts, ReadHosts(session, now));
  }
  return PlacesOf(job, hosts, now);
}

Status InsertParts(Session& session, const RunRow& own, const Places& places, WallTime now) {
  // 1 is PENDING.
  static const std::string statement =
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
      "state, priority, due_us, def_version, flags, planned_us, shard_total, pinned_executor) "
      "SELECT ?, ?, k.h, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, k.x FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (h INT UNSIGNED PATH '$[0]', x VARCHAR(255) CHARACTER SET ascii "
      "COLLATE ascii_bin PATH '$[1]')) k";
  JsonRows rows;
  for (size_t i = 0; i < places.total; ++i) {
    rows.Begin().Add(uint64_t{i + 1}).Add(places.hosts.empty() ? "" : places.hosts[i].value());
  }
  const uint64_t segment = own.segment.value();
  CARILLON_TRY(session.Execute(
      statement, {ToUnixMicros(own.key.fire), own.key.schedule_id.value(), own.job_no.value(),
                  segment, segment, int64_t{NumberOf(RunKind::kShard)}, int64_t{own.priority},
                  ToUnixMicros(now), own.def_version, uint64_t{FlagsOfPart(own)}, ToUnixMicros(now),
                  uint64_t{places.total}, rows.Take()}));
  return {};
}

// The row of the own run is locked.
Status MarkBegun(Session& session, const RunKey& own, size_t total) {
  static const std::string statement = UpdateRuns(
      "n INT UNSIGNED PATH '$[3]'",
      fmt::format("r.flags = r.flags | {}, r.shard_total = k.n", run_flag::kParts), "TRUE");
  JsonRows rows;
  rows.Begin().Add(own).Add(uint64_t{total});
  CARILLON_TRY(session.Execute(statement, {rows.Take()}));
  return {};
}

Result<std::vector<RunKey>> KeysOfParts(Session& session, const RunKey& own) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT r.shard FROM job_runs r FORCE INDEX (PRIMARY) WHERE "
                               "r.fire_us = ? AND r.schedule_id = ? AND r.shard > 0",
                               {ToUnixMicros(own.fire), own.schedule_id.value()}));
  std::vector<RunKey> keys;
  while (rows.Next()) {
    keys.push_back({own.fire, own.schedule_id, static_cast<uint32_t>(rows.Unsigned(1))});
  }
  return keys;
}

// The parts of an earlier begin wait for their next attempts.
Status BeginAgain(Session& session, const RunRow& own, const std::vector<RunKey>& keys,
                  const ClaimRules& rules) {
  CARILLON_ASSIGN_OR_RETURN(LockedRuns parts, LockRuns(session, keys, rules.incarnations));
  std::vector<std::pair<StoredRun*, RunChange>> again;
  std::vector<RunKey> ended;
  for (const RunKey& key : keys) {
    const auto found = parts.find(key);
    if (found == parts.end()) continue;
    StoredRun& part = found->second;
    if (!part.readable || !IsFinal(part.row.state)) continue;
    part.row.flags |= FlagsOfPart(own);  // a backfill has given the fire parameters since
    again.emplace_back(&part, BeginPartAgain(part.row, own, rules.now));
    if (std::exchange(again.back().second.record_attempt, false)) ended.push_back(key);
  }
  CARILLON_TRY(RecordEndedAttempts(session, ended));
  RunWriter writer(session);
  for (const auto& [part, change] : again) {
    CARILLON_TRY(writer.Change(*part, change, {}, rules.now));
  }
  return writer.Flush();
}

Result<ClaimReply> ClaimOwn(Session& session, const ClaimRequest& request,
                            const ClaimRules& rules) {
  CARILLON_ASSIGN_OR_RETURN(const auto replies,
                            ClaimBatch(session, {request}, rules, Look::kEachRow));
  CARILLON_CHECK(replies.has_value(), "a claim that is read has a reply");
  return replies->front();
}

Status EndWithoutParts(Session& session, StoredRun& own, const Places& places, WallTime now,
                       PartsReply* reply) {
  const NoParts end = EndOfNoParts(own.row, places, now);
  RunWriter writer(session);
  CARILLON_TRY(writer.Change(own, end.change, end.result, now));
  reply->ended = own.row.state;
  reply->completed = IsAwaited(own.row);
  return writer.Flush();
}

}  // namespace

Result<PartsReply> BeginPartsOf(Session& session, const PartsRequest& parts,
                                const ClaimRules& rules) {
  const ClaimRequest& request = parts.claim;
  CARILLON_TRY(LockFence(session, rules.fence));
  // A pause, an edit or a delete of the job comes before, or meets the parts.
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, {request.job_no}, &jobs));
  CARILLON_ASSIGN_OR_RETURN(const std::vector<JobVersionRecord> records,
                            ReadDefinitions(session, {{request.job_no, request.def_version}}));
  CARILLON_ASSIGN_OR_RETURN(const ClaimReply claimed, ClaimOwn(session, request, rules));
  PartsReply reply{.verdict = claimed.verdict, .reason = claimed.reason};
  if (reply.verdict != ClaimVerdict::kAccepted) return reply;
  if (records.empty() || !records.front().readable) {
    return {ErrorCode::kCorrupt, "begin: the definition of the run cannot be read"};
  }
  const JobDefinition& job = records.front().definition;
  if (!FansOut(job)) return {ErrorCode::kConflict, "begin: the job has no shards"};
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, {request.key}, rules.incarnations));
  StoredRun& own = runs.at(request.key);
  CARILLON_ASSIGN_OR_RETURN(const std::vector<RunKey> before, KeysOfParts(session, request.key));
  size_t total = before.size();
  if (before.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const Places places, PlacesAtBegin(session, parts, job, rules.now));
    if (!places.refusal.empty()) {
      CARILLON_TRY(EndWithoutParts(session, own, places, rules.now, &reply));
      return reply;
    }
    CARILLON_TRY(InsertParts(session, own.row, places, rules.now));
    total = places.total;
  } else {
    CARILLON_TRY(BeginAgain(session, own.row, before, rules));
  }
  CARILLON_TRY(MarkBegun(session, request.key, total));
  reply.due = RunKey{request.key.fire, request.key.schedule_id, 1};
  return reply;
}

}  // namespace carillon::mysql
