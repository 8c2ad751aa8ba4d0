#include "common/adapters/mysql/access/run_backers.h"

#include <fmt/core.h>

#include <utility>

#include "common/adapters/mysql/access/auth_rows.h"
#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/run_rows/job_owner.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/json_text.h"

namespace carillon::mysql {
namespace {

// `first` is the position of the first of kUserColumns, which are NULL if there is no such account.
Backer ReadBackerRow(const Session& session, const Rows& rows, uint32_t first, std::string user_id,
                     Backer::Part part) {
  Backer backer{.user_id = std::move(user_id), .part = part};
  if (rows.IsNull(first)) return backer;
  UserRecord user = ReadUserRow(session, rows, first);
  backer.account = AccountRights{.name = std::move(user.name),
                                 .role = std::move(user.role),
                                 .disabled = user.disabled,
                                 .shared = SharedJobs(std::move(user.shares))};
  return backer;
}

Result<Backer> ReadBacker(Session& session, const std::string& user_id, Backer::Part part) {
  static const std::string statement =
      fmt::format("SELECT {} FROM users u WHERE u.user_id = ?", kUserColumns);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {user_id}));
  if (!rows.Next()) return Backer{.user_id = user_id, .part = part};
  return ReadBackerRow(session, rows, 1, user_id, part);
}

Labels LabelsOf(const std::string& text) {
  auto document = ParseJsonText(text);
  JobDefinition job;
  if (!document.ok() || !ReadJobField("labels", *document, job).ok()) return {};
  return std::move(job.labels);
}

}  // namespace

Result<std::map<JobNo, Backer>> ReadOwners(Session& session, const std::set<JobNo>& workflows) {
  static const std::string statement =
      fmt::format("SELECT k.n, j.user_id, {} FROM ", kUserColumns) +
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN jobs j FORCE INDEX "
      "(PRIMARY) ON j.job_no = k.n LEFT JOIN users u FORCE INDEX (PRIMARY) ON u.user_id = "
      "CONVERT(j.user_id USING ascii) COLLATE ascii_bin";
  std::map<JobNo, Backer> owners;
  if (workflows.empty()) return owners;
  JsonRows wanted;
  for (const JobNo workflow : workflows) wanted.Begin().Add(workflow.value());
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  size_t found = 0;
  while (rows.Next()) {
    ++found;
    std::string user_id = rows.Text(2);
    if (user_id.empty()) continue;
    owners[JobNo(rows.Unsigned(1))] =
        ReadBackerRow(session, rows, 3, std::move(user_id), Backer::Part::kOwnsWorkflow);
  }
  if (found == workflows.size()) return owners;
  return {ErrorCode::kCorrupt, "workflow: its job is gone"};
}

Result<std::vector<Backer>> ReadBackers(Session& session, const std::optional<Backer>& owner,
                                        const std::set<std::string>& givers) {
  std::vector<Backer> backers;
  if (owner) backers.push_back(*owner);
  for (const std::string& giver : givers) {
    if (owner && giver == owner->user_id) continue;
    CARILLON_ASSIGN_OR_RETURN(Backer backer,
                              ReadBacker(session, giver, Backer::Part::kGaveWorkflow));
    backers.push_back(std::move(backer));
  }
  return backers;
}

Result<std::map<RunKey, std::string>> ReadRefusals(Session& session,
                                                   const std::vector<RunKey>& runs) {
  // k.w: the number of the workflow run of which the run is a node. p: its owner ('' for other
  // runs) and givers.
  static const std::string statement =
      fmt::format(
          "SELECT r.fire_us, r.schedule_id, r.shard, j.user_id, j.namespace, "
          "CAST(IF(JSON_VALID(v.definition), JSON_EXTRACT(v.definition, '$.labels'), NULL) AS "
          "CHAR), "
          "COALESCE(o.user_id, ''), k.w IS NULL, p.u, {} FROM ",
          kUserColumns) +
      KeyedRuns("w BIGINT UNSIGNED PATH '$[3]'") +
      " STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = k.f AND r.schedule_id = k.s "
      "AND r.shard = k.h STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = " +
      OwnerNumber("r.job_no") +
      " LEFT JOIN job_versions v FORCE INDEX (PRIMARY) ON v.job_no = j.job_no AND v.version = "
      "j.version "
      "LEFT JOIN workflow_runs w FORCE INDEX (PRIMARY) ON w.no = k.w "
      "LEFT JOIN jobs o FORCE INDEX (PRIMARY) ON o.job_no = w.job_no "
      "STRAIGHT_JOIN JSON_TABLE(JSON_MERGE_PRESERVE(JSON_ARRAY(COALESCE(o.user_id, '')), "
      "COALESCE(JSON_EXTRACT(IF(JSON_VALID(IF(k.w IS NULL, r.parameters, w.parameters)), "
      "IF(k.w IS NULL, r.parameters, w.parameters), '{}'), '$.\"$given_by\"'), JSON_ARRAY())), "
      "'$[*]' COLUMNS (u VARCHAR(64) PATH '$')) p ON TRUE "
      "LEFT JOIN users u FORCE INDEX (PRIMARY) ON u.user_id = CONVERT(p.u USING ascii) COLLATE "
      "ascii_bin";
  std::map<RunKey, std::string> refusals;
  if (runs.empty()) return refusals;
  // Those behind a part are those behind its fire.
  std::set<RunKey> fires;
  for (const RunKey& key : runs) fires.insert(OwnRunOf(key));
  JsonRows wanted;
  for (const RunKey& key : fires) {
    wanted.Begin().Add(key);
    if (const auto place = NodePlaceOf(key)) {
      wanted.Add(place->workflow_run_no);
    } else {
      wanted.AddNull();
    }
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  while (rows.Next()) {
    const RunKey key{rows.Time(1), ScheduleId(rows.Unsigned(2)),
                     static_cast<uint32_t>(rows.Unsigned(3))};
    std::string user_id = rows.Text(9);
    if (user_id.empty() || refusals.contains(key)) continue;
    JobDefinition job;
    job.user_id = rows.Text(4);
    job.name_space = rows.Text(5);
    job.labels = LabelsOf(rows.Text(6));
    const bool owns = user_id == rows.Text(7);
    const Backer::Part part = rows.Int(8) != 0 ? Backer::Part::kGaveRun
                              : owns           ? Backer::Part::kOwnsWorkflow
                                               : Backer::Part::kGaveWorkflow;
    std::string refusal =
        RefusalOf({ReadBackerRow(session, rows, 10, std::move(user_id), part)}, job);
    if (!refusal.empty()) refusals[key] = std::move(refusal);
  }
  for (const RunKey& key : runs) {
    const auto of_fire = refusals.find(OwnRunOf(key));
    if (of_fire != refusals.end()) refusals.try_emplace(key, of_fire->second);
  }
  return refusals;
}

}  // namespace carillon::mysql
