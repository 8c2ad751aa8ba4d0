// The parts of a written definition, each of which is checked as a job is: the job itself, and the
// tasks of its nodes. A check that looked at the job alone would let everything pass in a task.
#pragma once

#include <string>
#include <vector>

#include "common/domain/job/job.h"

namespace carillon::scheduler {

struct WrittenPart {
  std::string at;  // the pointer before that of a field: "" or "/workflow/nodes/3/task"
  JobDefinition job;
};
std::vector<WrittenPart> PartsOf(const JobDefinition& definition);

struct NamedGroup {
  std::string pointer;
  std::string name;
};
// Of the parts, and of the nodes with rules of their own.
std::vector<NamedGroup> GroupsOf(const JobDefinition& definition);

struct NamedUser {
  std::string pointer;
  std::string id;
};
// The users whom its approvals name.
std::vector<NamedUser> ApproversOf(const JobDefinition& definition);

}  // namespace carillon::scheduler
