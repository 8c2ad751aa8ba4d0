// Protobuf of the isolation of an attempt: its limits, and those that were not enforced.
//
// Threads  Stateless.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/isolation.h"

namespace carillon::v1 {
class Limits;
class Task;
class TaskResult;
}  // namespace carillon::v1

namespace carillon::wire {

void EncodeLimits(const Limits& limits, v1::Limits& to);
// nullopt for a limit out of its range, or an unknown `enforce`.
std::optional<Limits> DecodeLimits(const v1::Limits& from);
// nullopt for a name that is no limit's.
std::optional<std::vector<std::string>> DecodeNotEnforced(const v1::TaskResult& from);

}  // namespace carillon::wire
