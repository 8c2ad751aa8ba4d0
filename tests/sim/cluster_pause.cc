#include "tests/sim/cluster_pause.h"

#include <algorithm>
#include <utility>

namespace carillon::sim {
namespace {

constexpr double kWorlds = 0.3;
constexpr double kPauses = 0.04;  // chance per second
constexpr double kResumes = 0.15;
constexpr double kAnswerLost = 0.2;

}  // namespace

ClusterPauser::ClusterPauser(Ports ports, uint64_t seed)
    : ports_(std::move(ports)), rng_(seed), acts_(rng_.Chance(kWorlds)) {}

bool ClusterPauser::paused() const { return PauseOf(*ports_.store.ReadSettings()).has_value(); }

ClusterSettings ClusterPauser::Changed(const ClusterSettings& stored, int64_t known,
                                       bool paused) const {
  ClusterSettings next{.version = std::max(stored.version, known) + 1, .values = stored.values};
  std::optional<ClusterPause> pause;
  if (paused) pause = {.since = FormatRfc3339(ports_.now()), .by = "admin", .reason = "a move"};
  SetPause(next.values, pause);
  return next;
}

Duration ClusterPauser::Ended(const ClusterSettings& stored, const ClusterSettings& next) const {
  const auto pause = PauseOf(stored);
  return pause && !PauseOf(next) ? LengthOf(*pause, ports_.now()) : Duration::zero();
}

void ClusterPauser::Act() {
  const bool pause = !paused();
  if (!rng_.Chance(pause ? kPauses : kResumes)) return;
  const size_t member = rng_.Below(ports_.members);
  const Duration takes = Duration(rng_.Below(400'000));
  const bool answered = !rng_.Chance(kAnswerLost);
  LiveSettings* const settings = ports_.settings(member);
  if (settings == nullptr) return;
  const ClusterSettings stored = *ports_.store.ReadSettings();
  settings->Adopt(stored);
  const ClusterSettings next = Changed(stored, settings->version(), pause);
  const Duration ended = Ended(stored, next);
  ports_.after(takes, [this, member, expected = stored.version, next, ended, pause, answered] {
    if (ports_.settings(member) == nullptr) return;
    if (!ports_.store.WriteSettings(expected, next, ended).ok()) return;
    ports_.changed(pause);
    ports_.note(pause ? "the cluster is paused" : "the cluster is resumed");
    if (answered) ports_.settings(member)->Adopt(next);
  });
}

bool ClusterPauser::SetTo(bool paused) {
  for (size_t member = 0; member < ports_.members; ++member) {
    LiveSettings* const settings = ports_.settings(member);
    if (settings == nullptr) continue;
    const ClusterSettings stored = *ports_.store.ReadSettings();
    settings->Adopt(stored);
    // A second pause replaces neither the reason nor the time of the first.
    const bool in_force = settings->version() == stored.version;
    if (PauseOf(stored).has_value() == paused && in_force) return true;
    const ClusterSettings next = Changed(stored, settings->version(), paused);
    const auto written = ports_.store.WriteSettings(stored.version, next, Ended(stored, next));
    if (!written.ok()) continue;
    settings->Adopt(*written);
    ports_.changed(paused);
    ports_.note(paused ? "the cluster is paused" : "the cluster is resumed");
    return true;
  }
  return false;
}

}  // namespace carillon::sim
