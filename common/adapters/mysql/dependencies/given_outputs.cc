#include "common/adapters/mysql/dependencies/given_outputs.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/job_rows/schedule_of.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/template/trigger_outputs.h"
#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/outputs_json.h"

namespace carillon::mysql {
namespace {

using AskingRecords = std::map<JobNo, JobVersionRecord>;

// The definitions in which the text of such a placeholder stands: most jobs have none, and theirs
// are not sent.
Result<AskingRecords> AskingDefinitions(Session& session, const std::vector<DependentRun>& runs) {
  static const std::string statement =
      "SELECT v.job_no, v.version FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]', v BIGINT PATH '$[1]')) k STRAIGHT_JOIN "
      "job_versions v FORCE INDEX (PRIMARY) ON v.job_no = k.n AND v.version = k.v WHERE "
      "LOCATE('trigger.outputs.', v.definition) > 0";
  std::map<JobNo, int64_t> versions;
  for (const DependentRun& run : runs) versions[run.row.job_no] = run.row.def_version;
  JsonRows wanted;
  for (const auto& [job_no, version] : versions) wanted.Begin().Add(job_no.value()).Add(version);
  std::vector<JobVersionKey> keys;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
    while (rows.Next()) keys.push_back({JobNo(rows.Unsigned(1)), rows.Int(2)});
  }
  AskingRecords records;
  if (keys.empty()) return records;
  CARILLON_ASSIGN_OR_RETURN(std::vector<JobVersionRecord> found, ReadDefinitions(session, keys));
  for (JobVersionRecord& one : found) {
    if (one.readable) records.emplace(one.job_no, std::move(one));
  }
  return records;
}

// Of runs that ended. Those that are gone, or whose outputs cannot be read, have none.
Result<std::map<RunKey, Outputs>> ReadOutputsBefore(Session& session,
                                                    const std::set<RunKey>& runs) {
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id, r.shard, r.outputs FROM " + kKeysJoinRuns;
  JsonRows wanted;
  for (const RunKey& key : runs) wanted.Begin().Add(key);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  std::map<RunKey, Outputs> found;
  while (rows.Next()) {
    if (rows.IsNull(4)) continue;
    const RunKey key{rows.Time(1), ScheduleId(rows.Unsigned(2)),
                     static_cast<uint32_t>(rows.Unsigned(3))};
    auto outputs = OutputsFromJson(rows.Text(4));
    if (outputs.ok()) {
      found.emplace(key, *std::move(outputs));
    } else {
      session.NoteUnreadable("job_runs", EncodeRunId(key), "unreadable outputs");
    }
  }
  return found;
}

GivenOutputs RenderGiven(const JobVersionRecord& record, const ScheduleSpec& spec,
                         const DependentRun& run, const Outputs& outputs) {
  const auto rendered =
      RenderTriggerOutputs(record.definition, spec, run.trigger, outputs, run.row.key.fire);
  if (rendered.ok()) return {.parameters = GivenToText(*rendered)};
  return {.refusal = fmt::format("{}: {}", rendered.error().pointer, rendered.error().message)};
}

}  // namespace

Result<std::map<RunKey, GivenOutputs>> OutputsFor(Session& session,
                                                  const std::vector<DependentRun>& runs) {
  std::map<RunKey, GivenOutputs> given;
  if (runs.empty()) return given;
  CARILLON_ASSIGN_OR_RETURN(const AskingRecords records, AskingDefinitions(session, runs));
  std::vector<std::pair<const DependentRun*, const ScheduleSpec*>> asking;
  std::set<RunKey> before;
  for (const DependentRun& run : runs) {
    const auto record = records.find(run.row.job_no);
    if (record == records.end()) continue;
    const ScheduleSpec* spec = ScheduleOf(record->second, run.row.key.schedule_id);
    if (spec == nullptr || !AsksForOutputs(*spec)) continue;
    asking.emplace_back(&run, spec);
    before.insert(run.trigger.run);
  }
  if (asking.empty()) return given;
  CARILLON_ASSIGN_OR_RETURN(auto outputs, ReadOutputsBefore(session, before));
  for (const auto& [run, spec] : asking) {
    given.emplace(run->row.key,
                  RenderGiven(records.at(run->row.job_no), *spec, *run, outputs[run->trigger.run]));
  }
  return given;
}

}  // namespace carillon::mysql
