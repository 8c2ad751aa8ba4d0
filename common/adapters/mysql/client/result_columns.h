// Adds the parts of a result that may be absent to the rows of a statement.
//
// Threads  Stateless.
#pragma once

#include <optional>
#include <string_view>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/domain/run/resource_usage.h"

namespace carillon::mysql {

void AddOptional(JsonRows& rows, const std::optional<int>& value);
void AddUsage(JsonRows& rows, const std::optional<ResourceUsage>& usage);
// NULL if empty.
void AddBlob(JsonRows& rows, std::string_view bytes);

}  // namespace carillon::mysql
