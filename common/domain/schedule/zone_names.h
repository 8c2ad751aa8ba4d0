// Old names of time zones, such as US/Eastern for America/New_York. Hosts may lack them: Debian 13
// has them in the package tzdata-legacy only.
//
// Threads  Thread-safe. The host's tz database is read once.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace carillon {

// The host's tz database: $TZDIR, or its usual place.
std::filesystem::path ZoneDirectory();

// By old name: the name to use instead.
using OldZoneNames = std::map<std::string, std::string, std::less<>>;

// `tzdata` is the text of tzdata.zi, whose links are the candidates, and `places` that of zone.tab.
// A link that names a place, such as Europe/Amsterdam, is no old name. Pure.
OldZoneNames ParseOldZoneNames(std::string_view tzdata, std::string_view places);

// The name to use instead of `name`; empty if `name` is no old name. Where the host has no list,
// only the names of zones without a place are known, such as EST5EDT.
std::string NewZoneName(std::string_view name);

}  // namespace carillon
