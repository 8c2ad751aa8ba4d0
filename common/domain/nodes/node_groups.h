// The concurrency groups that nodes of a workflow name, in place of those of their jobs. Pure.
#pragma once

#include <map>
#include <string>

#include "common/domain/job/job.h"

namespace carillon {

// Names of groups, each with the pointer of the first place that names it:
// "/workflow/nodes/3/concurrency_group", or "/workflow/nodes/3/task/concurrency_group".
using NamedGroups = std::map<std::string, std::string>;

// The groups of the nodes.
NamedGroups GroupsOfNodes(const JobDefinition& definition);
// The groups of the job itself and of its nodes.
NamedGroups GroupsOf(const JobDefinition& definition);

}  // namespace carillon
