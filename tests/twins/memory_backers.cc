#include "tests/twins/memory_backers.h"

#include <set>
#include <string>

#include "common/domain/parts/run_part.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::memory {
namespace {

Backer BackerOf(const MemoryTables& tables, const std::string& user_id, Backer::Part part)
    REQUIRES(tables.mu) {
  Backer backer{.user_id = user_id, .part = part};
  const auto user = tables.users.find(user_id);
  if (user == tables.users.end()) return backer;
  backer.account = AccountRights{.name = user->second.name,
                                 .role = user->second.role,
                                 .disabled = user->second.disabled,
                                 .shared = SharedJobs(user->second.shares)};
  return backer;
}

}  // namespace

std::vector<Backer> BackersOf(MemoryTables& tables, const WorkflowEntry& workflow) {
  const std::string owner = tables.FindJob(workflow.job_no)->definition.user_id;
  std::vector<Backer> backers;
  if (!owner.empty()) backers.push_back(BackerOf(tables, owner, Backer::Part::kOwnsWorkflow));
  for (const std::string& giver : workflow.parameters.given_by) {
    if (giver != owner) backers.push_back(BackerOf(tables, giver, Backer::Part::kGaveWorkflow));
  }
  return backers;
}

std::vector<Backer> BackersOfRun(MemoryTables& tables, const RunEntry& asked) {
  // Those behind a part are those behind its fire.
  const RunEntry* const own = tables.FindRun(OwnRunOf(asked.row.key));
  const RunEntry& run = own == nullptr ? asked : *own;
  if (const WorkflowEntry* workflow = tables.WorkflowOfNode(run.row.key)) {
    return BackersOf(tables, *workflow);
  }
  std::vector<Backer> backers;
  const auto given = GivenFromText(run.parameters_json);
  if (!given.ok()) return backers;  // such a run does not start
  for (const std::string& giver : given->given_by) {
    backers.push_back(BackerOf(tables, giver, Backer::Part::kGaveRun));
  }
  return backers;
}

}  // namespace carillon::memory
