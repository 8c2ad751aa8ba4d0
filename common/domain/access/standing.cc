#include "common/domain/access/standing.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/access/roles.h"
#include "common/domain/run/run.h"

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
  const std::string& who = backer.account ? backer.account->name : backer.user_id;
  switch (backer.part) {
    case Backer::Part::kOwnsWorkflow:
      return fmt::format("{}, who owns the workflow, may not run the job of this node now.", who);
    case Backer::Part::kGaveWorkflow:
      return fmt::format(
          "{}, who gave the workflow its parameters, may not run the job of this node now.", who);
    case Backer::Part::kGaveRun:
      return fmt::format("{}, who gave the run its parameters, may not run the job now.", who);
  }
  return {};
}

std::string RefusalOf(const std::vector<Backer>& backers, const JobDefinition& job) {
  for (const Backer& backer : backers) {
    if (!MayRun(backer, job)) return MayNotRunSentence(backer);
  }
  return {};
}

uint32_t BehalfFlag(const std::vector<Backer>& backers, std::string_view owner) {
  const bool all_own = std::all_of(backers.begin(), backers.end(),
                                   [&](const Backer& backer) { return backer.user_id == owner; });
  return all_own ? 0 : run_flag::kOnBehalf;
}

}  // namespace carillon
