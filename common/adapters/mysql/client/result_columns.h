// Adds the parts of a result that may be absent to the rows of a statement.
//
// Threads  Stateless.
#pragma once

#include <optional>
#include <string_view>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/domain/run/run.h"

namespace carillon::mysql {

void AddOptional(JsonRows& rows, const std::optional<int>& value);
// The column `detail` (result_detail.h); NULL if it has nothing.
void AddDetail(JsonRows& rows, const AttemptResult& result);
// NULL if empty.
void AddBlob(JsonRows& rows, std::string_view bytes);

}  // namespace carillon::mysql
