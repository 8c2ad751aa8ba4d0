// Decides whether a caller may write a definition. Pure.
//
// Always   The rights of the caller are judged first: who may not write learns nothing else.
#pragma once

#include "scheduler/api/edits/edit_facts.h"
#include "scheduler/api/edits/job_base.h"

namespace carillon::scheduler {

struct Editor {
  const Caller& caller;
  bool owns_all = false;  // the permission also covers objects of other users
};

// True, or 403 not_owner or out_of_reach. Needs no facts, so it is called before they are read.
Outcome<bool> DecidePlace(const Editor& editor, const JobBase* before,
                          const JobDefinition& definition);

// True, or the first of these problems:
//   403 not_owner, out_of_reach   the caller may not write this job, or not there
//   422 unknown_secret, secret_forbidden   the job's owner may not use a secret that it names. A
//       caller with access through a share may add only secrets that they may use themselves
//   422 unknown_group, unknown_calendar   does not exist
//   422 unknown_user   an approval could be decided by nobody
//   403 run_as_forbidden   a job that runs as another user has that user's rights
//   422 unknown_job   a schedule waits for a job that does not exist
//   422 too_many_triggers   the namespace has no room for a schedule of kind event
//   422 unknown_job, never_met, too_many_sources, too_many_fires   an entry of waits_for
//   422 with a code of Name(WorkflowMistake)   a node's job
//   409 in_use   a workflow asks for what the runs of this job would have no more, or runs of
//       another job wait for its fires, and it would have no schedule
// `before` is null for a new job.
Outcome<bool> DecideEdit(const Editor& editor, const JobBase* before,
                         const JobDefinition& definition, const EditFacts& facts);

}  // namespace carillon::scheduler
