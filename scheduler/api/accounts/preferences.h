// Preferences of a user for the console, in effect wherever they sign in.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/ports/auth_store.h"
#include "scheduler/api/http/problem.h"

namespace carillon::scheduler {

// {language, theme, time}; null is what is not chosen. What this version does not know is left out.
nlohmann::json PreferencesToJson(const Preferences& preferences);
// The changes in `preferences` of the body: null takes a choice back, what is absent stays.
Outcome<std::map<std::string, std::optional<std::string>>> ReadPreferenceChanges(
    const nlohmann::json& body);

}  // namespace carillon::scheduler
