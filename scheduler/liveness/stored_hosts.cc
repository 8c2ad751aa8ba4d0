#include "scheduler/liveness/stored_hosts.h"

#include <algorithm>
#include <utility>

#include "common/base/failpoint.h"

namespace carillon::scheduler {

std::shared_ptr<const StoredHosts::List> StoredHosts::Current() {
  MutexLock lock(mu_);
  return list_;
}

void StoredHosts::Publish(const std::vector<ExecutorRecord>& stored, SteadyTime now,
                          SteadyTime until) {
  const std::shared_ptr<const List> last = Current();
  const bool begins = last == nullptr || now > last->until;
  auto list = std::make_shared<List>(
      List{.hosts = {}, .begun = begins ? now : last->begun, .published = now, .until = until});
  if (!begins) list->hosts = last->hosts;
  std::set<ExecutorId> listed;
  for (const ExecutorRecord& record : stored) {
    std::shared_ptr<const Host>& host = list->hosts[record.id];
    host = Follow(host, record, now);
    listed.insert(record.id);
  }
  for (auto& [id, host] : list->hosts) {
    if (!host->takes || listed.contains(id)) continue;
    auto gone = std::make_shared<Host>(*host);
    gone->takes = false;
    gone->takes_since = now;
    host = std::move(gone);
  }
  std::erase_if(list->hosts, [&](const auto& entry) {
    return !listed.contains(entry.first) && now - entry.second->takes_since > kKept;
  });
  failpoint::Hit("hosts.compared");
  MutexLock lock(mu_);
  std::erase_if(missed_, [&](const auto& entry) {
    return begins || list->hosts.contains(entry.first) || now - entry.second > kKept;
  });
  list_ = std::move(list);
}

std::shared_ptr<const StoredHosts::Host> StoredHosts::Follow(
    const std::shared_ptr<const Host>& host, const ExecutorRecord& record, SteadyTime now) {
  const bool takes = record.state == ExecutorState::kOnline && record.enabled && !record.draining;
  const ExecutorAbilities& abilities = record.abilities;
  const auto is_old = [&](const auto& entry) { return now - entry.second > kKept; };
  const bool same = host != nullptr && host->takes == takes &&
                    host->features == abilities.features && host->handlers == abilities.handlers &&
                    host->labels == record.labels &&
                    std::none_of(host->gone.begin(), host->gone.end(), is_old);
  if (same) return host;
  auto next = std::make_shared<Host>(
      host != nullptr ? *host : Host{.takes_since = now, .features_since = now, .first = now});
  if (takes != next->takes) next->takes_since = now;
  if (abilities.features != next->features) next->features_since = now;
  for (const std::string& handler : next->handlers) {
    if (!abilities.handlers.contains(handler)) next->gone[handler] = now;
  }
  for (const std::string& handler : abilities.handlers) next->gone.erase(handler);
  std::erase_if(next->gone, is_old);
  next->takes = takes;
  next->features = abilities.features;
  next->handlers = abilities.handlers;
  next->labels = record.labels;
  return next;
}

std::optional<Duration> StoredHosts::UnableFor(const ExecutorId& id, Features needs,
                                               const std::string& handler, SteadyTime now) {
  const std::shared_ptr<const List> list = Current();
  if (list == nullptr || now > list->until || now - list->begun < kSettles) return std::nullopt;
  const auto found = list->hosts.find(id);
  if (found == list->hosts.end()) {
    // The list may be older than the executor's row. If the next one does not have it either, it is
    // down since now.
    MutexLock lock(mu_);
    const auto [missed, fresh] = missed_.try_emplace(id, now);
    if (fresh || list->published <= missed->second) return std::nullopt;
    return now - missed->second;
  }
  const Host& host = *found->second;
  std::optional<SteadyTime> since;
  const auto unable = [&](SteadyTime from) { since = std::min(since.value_or(from), from); };
  if (!host.takes) unable(host.takes_since);
  if (!host.features.HasAll(needs)) unable(host.features_since);
  if (!handler.empty() && !host.handlers.contains(handler)) {
    const auto gone = host.gone.find(handler);
    unable(gone == host.gone.end() ? host.first : gone->second);
  }
  if (!since) return std::nullopt;
  return now - *since;
}

bool StoredHosts::Excludes(const Selector& selector, const ExecutorId& id, SteadyTime since,
                           SteadyTime now) {
  const std::shared_ptr<const List> list = Current();
  if (list == nullptr || now > list->until || list->published <= since) return false;
  const auto found = list->hosts.find(id);
  return found != list->hosts.end() && !selector.Matches(found->second->labels);
}

}  // namespace carillon::scheduler
