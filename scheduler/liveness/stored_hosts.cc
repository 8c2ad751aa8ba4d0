#include "scheduler/liveness/stored_hosts.h"

#include <utility>

namespace carillon::scheduler {

void StoredHosts::Publish(const std::vector<ExecutorRecord>& stored, SteadyTime until) {
  auto takers = std::make_shared<Abilities>();
  for (const ExecutorRecord& record : stored) {
    const bool takes = record.state == ExecutorState::kOnline && record.enabled && !record.draining;
    if (takes) takers->emplace(record.id, record.abilities);
  }
  MutexLock lock(mu_);
  takers_ = std::move(takers);
  until_ = until;
}

std::optional<bool> StoredHosts::CanTake(const ExecutorId& id, Features needs,
                                         const std::string& handler, SteadyTime now) const {
  MutexLock lock(mu_);
  if (takers_ == nullptr || now > until_) return std::nullopt;
  const auto taker = takers_->find(id);
  if (taker == takers_->end()) return false;
  const ExecutorAbilities& abilities = taker->second;
  return abilities.features.HasAll(needs) &&
         (handler.empty() || abilities.handlers.contains(handler));
}

}  // namespace carillon::scheduler
