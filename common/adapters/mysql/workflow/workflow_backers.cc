#include "common/adapters/mysql/workflow/workflow_backers.h"

#include <utility>

#include <fmt/core.h>

#include "common/adapters/mysql/access/auth_rows.h"

namespace carillon::mysql {
namespace {

Result<Backer> ReadBacker(Session& session, const std::string& user_id, bool is_owner) {
  static const std::string statement =
      fmt::format("SELECT {} FROM users u WHERE u.user_id = ?", kUserColumns);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {user_id}));
  Backer backer{.user_id = user_id, .is_owner = is_owner};
  if (!rows.Next()) return backer;
  UserRecord user = ReadUserRow(session, rows);
  backer.account = AccountRights{.name = std::move(user.name),
                                 .role = std::move(user.role),
                                 .disabled = user.disabled,
                                 .shared = SharedJobs(std::move(user.shares))};
  return backer;
}

Result<std::string> OwnerOf(Session& session, JobNo workflow) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT user_id FROM jobs WHERE job_no = ?", {workflow.value()}));
  if (rows.Next()) return rows.Text(1);
  return {ErrorCode::kCorrupt, "workflow: its job is gone"};
}

}  // namespace

Result<std::vector<Backer>> ReadBackers(Session& session, JobNo workflow,
                                        const std::set<std::string>& givers) {
  std::vector<Backer> backers;
  CARILLON_ASSIGN_OR_RETURN(const std::string owner, OwnerOf(session, workflow));
  if (!owner.empty()) {
    CARILLON_ASSIGN_OR_RETURN(Backer backer, ReadBacker(session, owner, true));
    backers.push_back(std::move(backer));
  }
  for (const std::string& giver : givers) {
    if (giver == owner) continue;
    CARILLON_ASSIGN_OR_RETURN(Backer backer, ReadBacker(session, giver, false));
    backers.push_back(std::move(backer));
  }
  return backers;
}

}  // namespace carillon::mysql
