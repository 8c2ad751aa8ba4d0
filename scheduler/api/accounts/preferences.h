// Preferences of a user for the console, the same in every browser in which the user signs in.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/ports/store/auth_store.h"
#include "scheduler/api/http/problem.h"

namespace carillon::scheduler {

// {language, theme, time}; null = not set. Values that this version does not know are left out.
nlohmann::json PreferencesToJson(const Preferences& preferences);
// Reads the changes in the field `preferences` of the body. null resets a preference. A preference
// that is absent does not change.
Outcome<std::map<std::string, std::optional<std::string>>> ReadPreferenceChanges(
    const nlohmann::json& body);

}  // namespace carillon::scheduler
