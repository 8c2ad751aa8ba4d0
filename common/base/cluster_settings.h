// The settings that the whole cluster was given while it runs (docs/configuration.md: live).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace carillon {

struct ClusterSettings {
  int64_t version = 0;  // moves by one with each change; 0: nobody changed anything yet
  std::map<std::string, std::string> values = {};  // only what was set, as a file would say it

  bool operator==(const ClusterSettings&) const = default;
};

// The pause of the whole cluster. It is kept with the settings, under names that no configuration
// has: it reaches every member as they do, and neither a file nor PUT /api/system/config sets it.
struct ClusterPause {
  std::string since;  // RFC 3339
  std::string by;
  std::string reason;

  bool operator==(const ClusterPause&) const = default;
};

inline constexpr std::string_view kPauseSince = "scheduling.paused_since";  // there: paused
inline constexpr std::string_view kPauseBy = "scheduling.paused_by";
inline constexpr std::string_view kPauseReason = "scheduling.paused_reason";

inline bool IsOfPause(std::string_view name) {
  return name == kPauseSince || name == kPauseBy || name == kPauseReason;
}

// nullopt: not paused.
inline std::optional<ClusterPause> PauseOf(const ClusterSettings& settings) {
  const auto text = [&settings](std::string_view name) {
    const auto found = settings.values.find(std::string(name));
    return found == settings.values.end() ? std::string() : found->second;
  };
  if (!settings.values.contains(std::string(kPauseSince))) return std::nullopt;
  return ClusterPause{
      .since = text(kPauseSince), .by = text(kPauseBy), .reason = text(kPauseReason)};
}

inline void SetPause(std::map<std::string, std::string>& values,
                     const std::optional<ClusterPause>& pause) {
  for (std::string_view name : {kPauseSince, kPauseBy, kPauseReason}) {
    values.erase(std::string(name));
  }
  if (!pause) return;
  values[std::string(kPauseSince)] = pause->since;
  values[std::string(kPauseBy)] = pause->by;
  values[std::string(kPauseReason)] = pause->reason;
}

}  // namespace carillon
