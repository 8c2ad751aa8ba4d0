// Decides whether a person may run a job at a time when no request of theirs can be asked: the
// owner of a workflow, or somebody who gave a run parameters. Pure.
//
// Place    Asked when a step releases a node (workflow_release.h), and at the claim of every
//          attempt of a run that has the flag kOnBehalf, because a run may wait for long between
//          the two.
//
//   the job belongs to the person                          yes: the job's own schedules go on
//   enabled account with jobs:run for all jobs             yes
//   enabled account with jobs:run for its own jobs         if a share covers the job
//   disabled or deleted account                            no
//   not an account                                         yes: only an administrator names one
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// Somebody on whose behalf a run acts.
struct Backer {
  enum class Part {
    kGaveWorkflow,  // parameters of the workflow run of which the run is a node
    kOwnsWorkflow,
    kGaveRun,  // the run's own parameters; it is no node
  };

  std::string user_id;
  Part part = Part::kGaveWorkflow;
  std::optional<AccountRights> account = {};
};

// Only the owner, the namespace and the labels of `job` are read.
bool MayRun(const Backer& backer, const JobDefinition& job);

// "anna, who owns the workflow, may not run the job of this node now."
std::string MayNotRunSentence(const Backer& backer);
// The sentence for the first of them who may not run the job; empty if all may.
std::string RefusalOf(const std::vector<Backer>& backers, const JobDefinition& job);
// run_flag::kOnBehalf if one of them is not the owner of the job, whose own runs need no right;
// otherwise 0.
uint32_t BehalfFlag(const std::vector<Backer>& backers, std::string_view owner);

}  // namespace carillon
