#include "scheduler/settings/settings_follower.h"

#include "common/base/failpoint.h"
#include "common/base/log.h"

namespace carillon::scheduler {

SteadyTime SettingsFollower::Step(SteadyTime now) {
  if (leads_() && now >= next_ask_) AskStore(now);
  Compare(now);
  Tell();
  ports_.metrics.gauge("carillon_config_version")
      .Set(static_cast<double>(ports_.settings.version()));
  ports_.metrics.gauge("carillon_paused").Set(ports_.settings.paused() ? 1 : 0);
  return now + kLookEvery;
}

void SettingsFollower::AskStore(SteadyTime now) {
  next_ask_ = now + kAskStoreEvery;
  const auto stored = ports_.store.ReadSettings();
  if (stored.ok()) {
    ports_.settings.Adopt(*stored);
    return;
  }
  ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(stored.code())).Add();
}

void SettingsFollower::Compare(SteadyTime now) {
  const auto copy = ports_.coordinator.ReadSettings();
  if (!copy.ok()) return;  // no contact; the next Step reads again
  ports_.settings.Adopt(*copy);
  if (copy->version >= ports_.settings.version() || now < write_again_) return;
  const Status written = ports_.coordinator.WriteSettings(ports_.settings.Current());
  if (written.ok()) return;
  write_again_ = now + kLookEvery;
  log::Warn("settings", "not published yet: {}", written.error().message);
}

// Reports to the other members whether this member applies a pause. If this member has not joined,
// the coordinator refuses the report. The next Step then repeats it.
void SettingsFollower::Tell() {
  const Announced now{.joins = ports_.coordinator.Joins(), .paused = ports_.settings.paused()};
  if (now.joins == 0 || now == announced_ || failpoint::Broken("pause.told")) return;
  if (ports_.coordinator.AnnouncePaused(now.paused).ok()) announced_ = now;
}

}  // namespace carillon::scheduler
