#include "common/domain/schedule/zone_names.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace carillon {
namespace {

constexpr int kLinksFollowed = 3;  // a link may lead to another link

// Zones of their own before version 2024b of the tz database, links since then.
constexpr std::pair<std::string_view, std::string_view> kWithoutPlace[] = {
    {"CET", "Europe/Brussels"},      {"CST6CDT", "America/Chicago"},
    {"EET", "Europe/Athens"},        {"EST", "America/Panama"},
    {"EST5EDT", "America/New_York"}, {"HST", "Pacific/Honolulu"},
    {"MET", "Europe/Brussels"},      {"MST", "America/Phoenix"},
    {"MST7MDT", "America/Denver"},   {"PST8PDT", "America/Los_Angeles"},
    {"WET", "Europe/Lisbon"},
};

// Calls `use` with the fields of each line.
template <typename Use>
void ForEachLine(std::string_view text, char separator, Use use) {
  std::vector<std::string_view> fields;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    fields.clear();
    for (size_t at = 0; at <= line.size();) {
      const size_t end = std::min(line.find(separator, at), line.size());
      fields.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    use(fields);
  }
}

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// UTC, GMT and Etc/… are links in some versions of the database, and zones in every host.
bool IsOfNoPlace(std::string_view name) {
  return name == "UTC" || name == "GMT" || name.starts_with("Etc/");
}

}  // namespace

std::filesystem::path ZoneDirectory() {
  const char* directory = std::getenv("TZDIR");
  return directory != nullptr ? directory : "/usr/share/zoneinfo";
}

OldZoneNames ParseOldZoneNames(std::string_view tzdata, std::string_view places) {
  OldZoneNames old;
  for (const auto& [name, instead] : kWithoutPlace) old.emplace(name, instead);
  std::set<std::string_view> named;
  ForEachLine(places, '\t', [&](const auto& fields) {
    if (fields.size() >= 3 && !fields[0].starts_with('#')) named.insert(fields[2]);
  });
  if (named.empty()) return old;
  std::map<std::string_view, std::string_view> links;
  ForEachLine(tzdata, ' ', [&](const auto& fields) {
    if (fields.size() == 3 && fields[0] == "L") links.emplace(fields[2], fields[1]);
  });
  for (const auto& [name, target] : links) {
    if (named.contains(name) || IsOfNoPlace(name)) continue;
    std::string_view instead = target;
    for (int i = 0; i < kLinksFollowed && !named.contains(instead) && links.contains(instead); ++i)
      instead = links.at(instead);
    if (instead == "Etc/UTC" || instead == "Etc/GMT") instead.remove_prefix(4);
    old.emplace(name, instead);
  }
  return old;
}

std::string NewZoneName(std::string_view name) {
  static const OldZoneNames old = ParseOldZoneNames(ReadText(ZoneDirectory() / "tzdata.zi"),
                                                    ReadText(ZoneDirectory() / "zone.tab"));
  const auto found = old.find(name);
  return found == old.end() ? std::string() : found->second;
}

}  // namespace carillon
