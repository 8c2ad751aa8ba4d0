#include "common/adapters/mysql/workflow/parts_begin.h"

#include <map>
#include <set>
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
#include "common/adapters/mysql/workflow/collected_outputs.h"
#include "common/domain/nodes/run_definition.h"
#include "common/domain/nodes/run_rules.h"
#include "common/domain/parts/fan_out_places.h"
#include "common/domain/parts/fire_end.h"
#include "common/domain/parts/new_part.h"

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

// The last attempts of parts that the fire had at an earlier begin, by shard.
Result<std::map<uint32_t, int>> KnownAttempts(Session& session, const RunRow& own) {
  std::map<uint32_t, int> known;
  if (own.attempt == 1) return known;
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT a.shard, MAX(a.attempt) FROM run_attempts a FORCE INDEX "
                               "(PRIMARY) WHERE a.fire_us = ? AND a.schedule_id = ? AND a.shard > "
                               "0 GROUP BY a.shard",
                               {ToUnixMicros(own.key.fire), own.key.schedule_id.value()}));
  while (rows.Next()) {
    known[static_cast<uint32_t>(rows.Unsigned(1))] = static_cast<int>(rows.Int(2));
  }
  return known;
}

// The executor that a part is bound to; empty: any may run it.
ExecutorId HostOfPart(const Places& places, uint32_t shard) {
  return places.hosts.empty() ? ExecutorId() : places.hosts[shard - 1];
}

Param RulesColumn(const RunRow& own) {
  if (own.rules.empty()) return nullptr;
  return std::string_view(own.rules);
}

// Inserts the parts that the fire does not have yet.
Status InsertParts(Session& session, const RunRow& own, const Places& places,
                   const std::set<uint32_t>& present, WallTime now) {
  // 1 is PENDING.
  static const std::string statement =
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
      "state, priority, due_us, def_version, planned_us, shard_total, pinned_executor, attempt, "
      "flags, rules) SELECT ?, ?, k.h, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, k.x, k.a, k.l, ? FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (h INT UNSIGNED PATH '$[0]', x VARCHAR(255) CHARACTER SET ascii "
      "COLLATE ascii_bin PATH '$[1]', a INT PATH '$[2]', l INT UNSIGNED PATH '$[3]')) k";
  CARILLON_ASSIGN_OR_RETURN(auto known, KnownAttempts(session, own));
  JsonRows rows;
  for (size_t i = 0; i < places.total; ++i) {
    const auto shard = static_cast<uint32_t>(i + 1);
    if (present.contains(shard)) continue;
    const RunRow part = NewPart(own, shard, places.total, known[shard], now);
    rows.Begin()
        .Add(shard)
        .Add(HostOfPart(places, shard).value())
        .Add(part.attempt)
        .Add(part.flags);
  }
  if (rows.empty()) return {};
  const uint64_t segment = own.segment.value();
  CARILLON_TRY(session.Execute(
      statement,
      {ToUnixMicros(own.key.fire), own.key.schedule_id.value(), own.job_no.value(), segment,
       segment, int64_t{NumberOf(RunKind::kShard)}, int64_t{own.priority}, ToUnixMicros(now),
       own.def_version, ToUnixMicros(now), uint64_t{places.total}, RulesColumn(own), rows.Take()}));
  return {};
}

// The row of the own run is locked. A total of 0: it has no parts.
Status MarkBegun(Session& session, const RunKey& own, size_t total) {
  static const std::string statement =
      UpdateRuns("n INT UNSIGNED PATH '$[3]'",
                 fmt::format("r.flags = IF(k.n, r.flags | {0}, r.flags & ~{0}), r.shard_total = "
                             "GREATEST(k.n, 1)",
                             run_flag::kParts),
                 "TRUE");
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

// The parts of an earlier begin have the rules that their node has now.
Status GiveRules(Session& session, const RunRow& own) {
  if ((own.flags & run_flag::kNode) == 0) return {};
  CARILLON_TRY(session.Execute(
      fmt::format("UPDATE job_runs SET rules = ?, flags = flags & ~{0} | ? WHERE fire_us = ? AND "
                  "schedule_id = ? AND shard > 0",
                  run_flag::kRules),
      {RulesColumn(own), uint64_t{own.flags & run_flag::kRules}, ToUnixMicros(own.key.fire),
       own.key.schedule_id.value()}));
  return {};
}

// The parts of an earlier begin wait for their next attempts.
Status BeginAgain(Session& session, const RunRow& own, const std::vector<RunKey>& keys,
                  const ClaimRules& rules) {
  CARILLON_TRY(GiveRules(session, own));
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

Status PlaceParts(Session& session, const std::vector<RunKey>& parts, const Places& places) {
  static const std::string statement = UpdateRuns(
      "n INT UNSIGNED PATH '$[3]', x VARCHAR(255) CHARACTER SET ascii COLLATE "
      "ascii_bin PATH '$[4]'",
      "r.shard_total = k.n, r.pinned_executor = k.x", "TRUE");
  if (parts.empty()) return {};
  JsonRows rows;
  for (const RunKey& key : parts) {
    rows.Begin().Add(key).Add(uint64_t{places.total}).Add(HostOfPart(places, key.shard).value());
  }
  CARILLON_TRY(session.Execute(statement, {rows.Take()}));
  return {};
}

// True if the parts have other items than at an earlier begin, as far as is known: the list of
// items may have changed, and still be as long.
bool MayHaveOtherItems(const RunRow& own) {
  const Result<RunRules> rules = RunRulesFromText(own.rules);
  return rules.ok() && rules->items.has_value();
}

// Gives the parts of an earlier begin the places of this one, of which there may be none. Returns
// the keys of those that stay. The attempts of the others stay, too, with their logs: a part that
// comes back goes on from their numbers (NewPart).
Result<std::vector<RunKey>> ReplaceParts(Session& session, const RunRow& row,
                                         const std::vector<RunKey>& before, const Places& places,
                                         Incarnations& incarnations) {
  const RunKey& own = row.key;
  // No late end comes between the record and the delete.
  CARILLON_ASSIGN_OR_RETURN(const LockedRuns locked, LockRuns(session, before, incarnations));
  const size_t total = places.total;
  std::vector<RunKey> stay;
  std::vector<RunKey> go;
  bool same = total == before.size() && !MayHaveOtherItems(row);
  for (const RunKey& key : before) {
    (key.shard <= total ? stay : go).push_back(key);
    if (!same) continue;
    const auto part = locked.find(key);
    same =
        part != locked.end() && part->second.row.pinned_executor == HostOfPart(places, key.shard);
  }
  if (same) return stay;
  const int64_t fire = ToUnixMicros(own.fire);
  const uint64_t schedule = own.schedule_id.value();
  if (!go.empty()) {
    CARILLON_TRY(RecordEndedAttempts(session, go));
    CARILLON_TRY(
        session.Execute("DELETE FROM job_runs WHERE fire_us = ? AND schedule_id = ? AND "
                        "shard > 0 AND shard > ? AND open_segment IS NULL",
                        {fire, schedule, uint64_t{total}}));
  }
  // A checkpoint is of the share that a part had.
  CARILLON_TRY(session.Execute(
      "DELETE FROM run_checkpoints WHERE fire_us = ? AND schedule_id = ? AND shard > 0",
      {fire, schedule}));
  CARILLON_TRY(PlaceParts(session, stay, places));
  return stay;
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
  NoParts end = EndOfNoParts(own.row, places, now);
  CARILLON_TRY(CollectOutputs(session, own.row, end.change, end.result));
  RunWriter writer(session);
  CARILLON_TRY(writer.Change(own, end.change, end.result, now));
  reply->ended = own.row.state;
  reply->completed = IsAwaited(own.row);
  return writer.Flush();
}

// Gives the fire the parts of its places, or ends it if these are refused.
Status PlaceFire(Session& session, StoredRun& own, const Places& places, const ClaimRules& rules,
                 PartsReply* reply) {
  const RunKey key = own.row.key;
  CARILLON_ASSIGN_OR_RETURN(const std::vector<RunKey> before, KeysOfParts(session, key));
  std::set<uint32_t> present;
  if (!before.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const std::vector<RunKey> stay,
                              ReplaceParts(session, own.row, before, places, rules.incarnations));
    for (const RunKey& part : stay) present.insert(part.shard);
    CARILLON_TRY(BeginAgain(session, own.row, stay, rules));
  }
  CARILLON_TRY(MarkBegun(session, key, places.total));
  if (places.total == 0) return EndWithoutParts(session, own, places, rules.now, reply);
  return InsertParts(session, own.row, places, present, rules.now);
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
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, {request.key}, rules.incarnations));
  StoredRun& own = runs.at(request.key);
  const RunRow& row = own.row;
  CARILLON_ASSIGN_OR_RETURN(
      const JobDefinition job,
      DefinitionForRun(records.front().definition, row.job_no, NodePositionOf(row.key), row.rules));
  if (!FansOut(job)) return {ErrorCode::kConflict, "begin: the job has no shards"};
  CARILLON_ASSIGN_OR_RETURN(const Places places, PlacesAtBegin(session, parts, job, rules.now));
  CARILLON_TRY(PlaceFire(session, own, places, rules, &reply));
  if (reply.ended) return reply;
  reply.due = RunKey{request.key.fire, request.key.schedule_id, 1};
  return reply;
}

}  // namespace carillon::mysql
