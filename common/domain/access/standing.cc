#include "common/domain/access/standing.h"

#include <fmt/format.h>

#include "common/domain/access/roles.h"

namespace carillon {

bool MayRun(const Backer& backer, const JobDefinition& job) {
  if (backer.user_id == job.user_id) return true;
  if (!backer.account) return !std::string_view(backer.user_id).starts_with(kAccountPrefix);
  if (backer.account->disabled) return false;
  switch (ReachOf(backer.account->role, Permission::kRunJobs)) {
    case Reach::kAll: return true;
    case Reach::kOwn: return backer.account->shared.Cover(job.name_space, &job.labels);
    case Reach::kNone: return false;
  }
  return false;
}

std::string MayNotRunSentence(const Backer& backer) {
  return fmt::format("{}, who {}, may not run the job of this node now.",
                     backer.account ? backer.account->name : backer.user_id,
                     backer.is_owner ? "owns the workflow" : "gave the workflow its parameters");
}

}  // namespace carillon
