#include "common/adapters/mysql/dependencies/workflow_groups.h"

#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/domain/nodes/node_groups.h"

namespace carillon::mysql {
namespace {

void AddGroups(JsonRows& rows, JobNo job_no, const JobDefinition& definition,
               const GroupNumbers& numbers) {
  for (const auto& [name, pointer] : GroupsOfNodes(definition)) {
    rows.Begin().Add(uint64_t{numbers.at(name).value()}).Add(job_no.value());
  }
}

Status InsertGroups(Session& session, JsonRows rows) {
  static const std::string statement =
      "INSERT INTO workflow_groups (group_no, job_no) SELECT k.g, k.j FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (g INT UNSIGNED PATH '$[0]', j BIGINT UNSIGNED PATH '$[1]')) k";
  if (rows.empty()) return {};
  CARILLON_TRY(session.Execute(statement, {rows.Take()}));
  return {};
}

}  // namespace

Status FillGroups(Session& session, const std::vector<StoredJobRow*>& jobs) {
  NamedGroups named;
  for (const StoredJobRow* job : jobs) named.merge(GroupsOf(job->definition));
  CARILLON_ASSIGN_OR_RETURN(const GroupNumbers numbers, LockGroupNumbers(session, named));
  JsonRows rows;
  for (StoredJobRow* job : jobs) {
    const auto found = numbers.find(job->definition.concurrency_group);
    job->group = found == numbers.end() ? GroupNo{} : found->second;
    AddGroups(rows, job->job_no, job->definition, numbers);
  }
  return InsertGroups(session, std::move(rows));
}

Status WriteWorkflowGroups(Session& session, JobNo job_no, const JobDefinition& definition,
                           const GroupNumbers& numbers) {
  CARILLON_TRY(DeleteWorkflowGroups(session, job_no));
  JsonRows rows;
  AddGroups(rows, job_no, definition, numbers);
  return InsertGroups(session, std::move(rows));
}

Status DeleteWorkflowGroups(Session& session, JobNo job_no) {
  CARILLON_TRY(session.Execute("DELETE FROM workflow_groups WHERE job_no = ?", {job_no.value()}));
  return {};
}

}  // namespace carillon::mysql
