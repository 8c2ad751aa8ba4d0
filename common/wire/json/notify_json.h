// JSON of the field `notify` of a job: {"on": ["failed"], "late_after_s": 60, "mail_to": ["…"]}.
//
// Errors   kInvalid with a pointer that begins with the given one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/base/result.h"
#include "common/domain/notice.h"

namespace carillon {

// A field that is absent stays unset, so the cluster's default applies. An empty list in "on" is
// different from an absent one: nothing is notified.
Status ReadNotify(const nlohmann::json& value, const std::string& pointer, NotifyRules& out);
nlohmann::json NotifyToJson(const NotifyRules& rules);

}  // namespace carillon
