// Decides whether a person may run a job at a time when no request of theirs can be asked: the owner of a
// workflow, or somebody who gave its run parameters. Pure.
//
//   the job belongs to the person                          yes: the job's own schedules go on as well
//   enabled account with jobs:run for all jobs             yes
//   enabled account with jobs:run for its own jobs         if a share covers the job
//   disabled or deleted account                            no
//   not an account                                         yes: only an administrator names such an owner
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/job/job.h"
#include "common/domain/job/share.h"

namespace carillon {

// Every id of an account begins with it, and no account gets the id of a deleted one.
inline constexpr std::string_view kAccountPrefix = "user-";

struct AccountRights {
  std::string name;
  std::string role;
  bool disabled = false;
  SharedJobs shared = {};
};

// Somebody on whose behalf a workflow run acts.
struct Backer {
  std::string user_id;
  bool is_owner = false;  // of the workflow; otherwise the run has parameters from them
  std::optional<AccountRights> account = {};
};

bool MayRun(const Backer& backer, const JobDefinition& job);

// "anna, who owns the workflow, may not run the job of this node now."
std::string MayNotRunSentence(const Backer& backer);

}  // namespace carillon
