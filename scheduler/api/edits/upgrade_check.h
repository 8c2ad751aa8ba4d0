// Refuses a job definition that a live member of an older version would not follow.
//
// Always   Needed only during an upgrade to the first version with queues of runs: a member that
//          does not know a policy treats it as skip, and never admits a queued run. It plans
//          schedules from their rows, so it would ignore a window and jitter, and loses a field
//          that it does not know with its next write of the job.
#pragma once

#include <string_view>

#include "common/domain/job/job.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// True if members of this version know max_running above 1, and the policies that queue or replace
// runs. False if `version` does not begin with three numbers, such as 0.1.0. It is empty for
// members that are too old to announce a version.
bool KnowsQueues(std::string_view version);

// 409 upgrade_unfinished if the definition limits or queues runs, or has schedules, in a way that
// some live member does not know. `before` is the present definition, null for a new job or an
// unreadable one: a job that needs these members for the same field already may be edited.
Outcome<bool> CheckMembers(const Call& call, const JobDefinition* before,
                           const JobDefinition& definition);

// 409 upgrade_unfinished if some live member does not know backfills.
Outcome<bool> CheckMembersKnowBackfills(const Call& call);

}  // namespace carillon::scheduler
