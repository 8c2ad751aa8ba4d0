// Removes containers, and says whether something is left.
//
// Place    docs/containers.md. After the end of an attempt in its keeper; in a child of the warden otherwise.
// Threads  Stateless. Waits for the engine.
// Always   Touches only containers with the label of the record's warden.
#pragma once

#include <string>

#include "executor/warden/container/container_record.h"

namespace carillon::executor {

// True if the engine has said that the container does not exist any more.
bool RemoveContainer(const ContainerRecord& record);

// Calls RemoveContainer until nothing is left, then removes the record and its end. A file that is no record
// is removed: what it was for is swept by its label.
void RemoveUntilGone(const std::string& record_file);

// Removes the containers of this warden that have no record: an engine may carry out a request after the command line
// that sent it was killed, and create what nobody waits for any more. Such a container was never started.
void SweepContainers(const std::string& engine, const std::string& warden_id, const std::string& records);

}  // namespace carillon::executor
