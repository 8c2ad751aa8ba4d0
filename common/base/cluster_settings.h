// The live settings of the cluster: those that can change while it runs (docs/configuration.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace carillon {

struct ClusterSettings {
  int64_t version = 0;  // increases by one with each change; 0: never changed
  // Only explicitly set values, in the syntax of the configuration file.
  std::map<std::string, std::string> values = {};

  bool operator==(const ClusterSettings&) const = default;
};

// The pause of the whole cluster. It is stored with the settings, so that it reaches every member
// in the same way. The names of the stored values (kPauseSince, …) are not settings of the
// configuration. So a file or PUT /api/system/config cannot set the pause.
struct ClusterPause {
  std::string since;  // RFC 3339
  std::string by;     // name of the user
  std::string reason;

  bool operator==(const ClusterPause&) const = default;
};

inline constexpr std::string_view kPauseSince = "scheduling.paused_since";  // set while paused
inline constexpr std::string_view kPauseBy = "scheduling.paused_by";
inline constexpr std::string_view kPauseReason = "scheduling.paused_reason";

inline bool IsOfPause(std::string_view name) {
  return name == kPauseSince || name == kPauseBy || name == kPauseReason;
}

// Returns nullopt if the cluster is not paused.
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

// The length of a pause that ends at `now`. A `since` that cannot be read gives no length.
inline Duration LengthOf(const ClusterPause& pause, WallTime now) {
  const auto since = ParseRfc3339(pause.since);
  return since.ok() ? std::max(now - *since, Duration::zero()) : Duration::zero();
}

}  // namespace carillon
