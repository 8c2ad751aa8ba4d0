// The facts on which the check of a definition depends, read once for each write.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/calendar/calendar_set.h"
#include "common/ports/store/secret_store.h"
#include "scheduler/api/edits/wait_check.h"
#include "scheduler/api/workflows/node_job_check.h"

namespace carillon::scheduler {

struct EditFacts {
  std::set<std::string> unknown_groups = {};     // of those that it names (GroupsOf)
  std::set<std::string> unknown_users = {};      // of those that its approvals name, the first ones
  std::shared_ptr<const CalendarSet> calendars;  // empty if the definition names none
  std::vector<StoredSecret> secrets = {};        // the named ones that exist
  std::optional<size_t> missing_upstream = {};   // a schedule whose upstream job does not exist
  std::optional<size_t> without_room = {};       // FindTriggerWithoutRoom
  std::vector<FieldError> wait_mistakes = {};    // FindWaitMistakes
  WorkflowProblems node_problems = {};           // of the jobs that its nodes run
  std::vector<FieldError> output_mistakes = {};  // FindOutputMistakes
  std::string lost_results = {};                 // FindLostResults
  std::string lost_fires = {};                   // FindLostFires
};

// `before` is the stored definition, or null. What it names already is not looked up again: it may
// have been deleted since.
Outcome<EditFacts> ReadEditFacts(const Call& call, const JobId& id, const JobDefinition* before,
                                 const JobDefinition& definition, const ComingJobs& coming);

}  // namespace carillon::scheduler
