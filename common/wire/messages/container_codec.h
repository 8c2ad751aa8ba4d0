// Encodes and decodes the container of a task.
//
// Errors   nullopt for what no member sends: an unknown network, or a word that an engine could
//          read as an option.
#pragma once

#include <optional>

#include "carillon/v1/task.pb.h"
#include "common/domain/job/container.h"

namespace carillon::wire {

void EncodeContainer(const ContainerDefinition& container, v1::Container& to);
std::optional<ContainerDefinition> DecodeContainer(const v1::Container& from);

}  // namespace carillon::wire
