// JSON of the field `waits_for` of a job:
//   [{"job": "load", "in": "nightly", "on": "done", "window": {"day": -1}, "which": "all"}]
//
// Forms    `window`: a day, or {"back_s": 7200, "ahead_s": 600}. `in`, `on` and `which` may be
//          omitted.
// Errors   kInvalid with a pointer that begins with the given one. Bounds are ValidateWaits'.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/domain/upstream/waits_for.h"

namespace carillon {

Status ReadWaits(const nlohmann::json& value, const std::string& pointer,
                 std::vector<UpstreamWait>& out);
nlohmann::json WaitsToJson(const std::vector<UpstreamWait>& waits);

}  // namespace carillon
