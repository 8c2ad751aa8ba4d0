#include "scheduler/liveness/stored_hosts.h"

#include <algorithm>
#include <utility>

namespace carillon::scheduler {

void StoredHosts::Publish(const std::vector<ExecutorRecord>& stored, SteadyTime now,
                          SteadyTime until) {
  MutexLock lock(mu_);
  if (!begun_ || now > until_) Begin(now);
  for (auto& [id, host] : hosts_) host.listed = false;
  for (const ExecutorRecord& record : stored) Follow(hosts_[record.id], record, now);
  for (auto& [id, host] : hosts_) {
    if (!host.listed && std::exchange(host.takes, false)) host.takes_since = now;
  }
  std::erase_if(hosts_, [&](const auto& entry) {
    return !entry.second.listed && now - entry.second.takes_since > kKept;
  });
  published_ = now;
  until_ = until;
}

void StoredHosts::Begin(SteadyTime now) {
  hosts_.clear();
  begun_ = now;
}

void StoredHosts::Follow(Host& host, const ExecutorRecord& record, SteadyTime now) {
  const bool takes = record.state == ExecutorState::kOnline && record.enabled && !record.draining;
  const ExecutorAbilities& abilities = record.abilities;
  if (!host.first) {
    host.takes_since = host.features_since = now;
    host.first = now;
  }
  if (takes != host.takes) host.takes_since = now;
  if (abilities.features != host.features) host.features_since = now;
  if (host.handlers != abilities.handlers) {
    for (const std::string& handler : host.handlers) {
      if (!abilities.handlers.contains(handler)) host.gone[handler] = now;
    }
    for (const std::string& handler : abilities.handlers) host.gone.erase(handler);
    host.handlers = abilities.handlers;
  }
  std::erase_if(host.gone, [&](const auto& entry) { return now - entry.second > kKept; });
  host.listed = true;
  host.takes = takes;
  host.features = abilities.features;
}

std::optional<Duration> StoredHosts::UnableFor(const ExecutorId& id, Features needs,
                                               const std::string& handler, SteadyTime now) {
  MutexLock lock(mu_);
  if (!begun_ || now > until_ || now - *begun_ < kSettles) return std::nullopt;
  // The list may be older than the executor's row. If the next one does not have it either, it is
  // down since now.
  const auto [found, fresh] = hosts_.try_emplace(id, Host{.takes_since = now});
  const Host& host = found->second;
  if (fresh || (!host.first && published_ <= host.takes_since)) return std::nullopt;
  std::optional<SteadyTime> since;
  const auto unable = [&](SteadyTime from) { since = std::min(since.value_or(from), from); };
  if (!host.takes) unable(host.takes_since);
  if (host.first && !host.features.HasAll(needs)) unable(host.features_since);
  if (host.first && !handler.empty() && !host.handlers.contains(handler)) {
    const auto gone = host.gone.find(handler);
    unable(gone == host.gone.end() ? *host.first : gone->second);
  }
  if (!since) return std::nullopt;
  return now - *since;
}

}  // namespace carillon::scheduler
