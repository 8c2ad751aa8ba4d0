#include "scheduler/liveness/lease_table.h"

#include <algorithm>

#include "common/base/failpoint.h"
#include "common/domain/parts/run_part.h"

namespace carillon::scheduler {
namespace {

// Longer than any claim can be in transit. The transit consists of the time limit of a store call,
// the time in a queue, and a pause of the process. After a longer pause the executor's own lease
// has expired anyway.
constexpr Duration kLossRemembered = 2min;
constexpr size_t kLossesMax = 200'000;

bool Same(const HeldAttempt& a, const HeldAttempt& b) {
  return a.attempt == b.attempt && a.token == b.token;
}

}  // namespace

std::vector<LeaseTable::Grant> LeaseTable::GrantAll(const LeaseHolder& holder,
                                                    const std::vector<GrantItem>& items,
                                                    SteadyTime now) {
  std::vector<Grant> answers;
  answers.reserve(items.size());
  const auto view = segments_.View();
  const SteadyTime lost_at = now + options_.lease + options_.own_loss_margin;
  MutexLock lock(mu_);
  for (const GrantItem& item : items) {
    answers.push_back(JudgeLocked(item, *view));
    if (answers.back() != Grant::kGranted) continue;
    const auto found = leases_.find(item.held.key);
    const bool again = found != leases_.end() && Same(found->second.held, item.held);
    const SteadyTime until = again ? std::max(found->second.lost_at, lost_at) : lost_at;
    PutLocked({.held = item.held, .holder = holder, .epoch = item.epoch, .lost_at = until});
  }
  return answers;
}

LeaseTable::Grant LeaseTable::JudgeLocked(const GrantItem& item, const OwnedView& view) const {
  if (lost_.count(item.held.token) > 0) return Grant::kLost;
  if (!view.Holds(item.held.segment, item.epoch)) return Grant::kNotOwned;
  const auto found = leases_.find(item.held.key);
  if (found == leases_.end()) return Grant::kGranted;
  const bool marked = found->second.marked && Same(found->second.held, item.held);
  return marked ? Grant::kLost : Grant::kGranted;
}

size_t LeaseTable::Room() const {
  MutexLock lock(mu_);
  return leases_.size() < options_.leases_max ? options_.leases_max - leases_.size() : 0;
}

bool LeaseTable::IsLost(const RunKey& key, ClaimToken token) const {
  MutexLock lock(mu_);
  if (lost_.count(token) > 0) return true;
  const auto found = leases_.find(key);
  return found != leases_.end() && found->second.marked && found->second.held.token == token;
}

void LeaseTable::AddFound(const std::vector<RunRow>& running, Epoch epoch, SteadyTime lost_at) {
  MutexLock lock(mu_);
  for (const RunRow& row : running) {
    Lease lease{.held = {.key = row.key,
                         .segment = row.segment,
                         .job_no = row.job_no,
                         .attempt = row.attempt,
                         .token = row.claim_token},
                .holder = {row.executor, row.incarnation},
                .epoch = epoch,
                .lost_at = lost_at};
    const auto found = leases_.find(row.key);
    if (found != leases_.end()) {
      // The scan takes no locks. So a lease of this epoch, from a claim or an adoption, is newer
      // than the scan's read.
      if (found->second.epoch == epoch) continue;
      if (Same(found->second.held, lease.held)) {
        lease.lost_at = std::max(lost_at, found->second.lost_at);
        lease.holder = found->second.holder;
      }
    }
    PutLocked(std::move(lease));
  }
}

std::vector<HeldAttempt> LeaseTable::Renew(const LeaseHolder& holder,
                                           const std::vector<HeldAttempt>& listed, SteadyTime now) {
  std::vector<HeldAttempt> renewed;
  renewed.reserve(listed.size());
  const SteadyTime lost_at = now + options_.lease + options_.own_loss_margin;
  std::map<std::pair<SegmentId, Epoch>, bool> fresh;  // looked up once per segment
  MutexLock lock(mu_);
  for (const HeldAttempt& held : listed) {
    const auto found = leases_.find(held.key);
    if (found == leases_.end()) continue;
    Lease& lease = found->second;
    if (lease.marked || !Same(lease.held, held)) continue;
    if (lease.holder.executor != holder.executor) continue;
    const auto segment = std::make_pair(lease.held.segment, lease.epoch);
    auto known = fresh.find(segment);
    if (known == fresh.end()) {
      known = fresh.emplace(segment, segments_.MayRenew(segment.first, segment.second, now)).first;
    }
    if (!known->second) continue;
    lease.holder = holder;
    lease.lost_at = std::max(lease.lost_at, lost_at);
    renewed.push_back(lease.held);
  }
  return renewed;
}

void LeaseTable::Erase(const std::vector<HeldAttempt>& ended) {
  MutexLock lock(mu_);
  for (const HeldAttempt& held : ended) {
    const auto found = leases_.find(held.key);
    if (found != leases_.end() && Same(found->second.held, held)) RemoveLocked(found);
  }
}

std::vector<ExpiredLease> LeaseTable::TakeExpired(SteadyTime now, size_t limit) {
  const auto view = segments_.View();
  const bool mark_first = !failpoint::Broken("lost.mark_first");
  std::vector<ExpiredLease> expired;
  MutexLock lock(mu_);
  ForgetOldLossesLocked(now);
  for (auto at = leases_.begin(); at != leases_.end() && expired.size() < limit;) {
    Lease& lease = at->second;
    if (!view->Holds(lease.held.segment, lease.epoch)) {
      // The segment was lost or taken again. The takeover scan of the new epoch finds its
      // RUNNING runs. The leases of a suspended segment stay, and are renewed, until the segment
      // is taken again.
      at = view->IsSuspended(lease.held.segment, lease.epoch) ? std::next(at) : RemoveLocked(at);
      continue;
    }
    if (lease.lost_at <= now) {
      lease.marked = mark_first;
      expired.push_back({.report = {.key = lease.held.key,
                                    .segment = lease.held.segment,
                                    .job_no = lease.held.job_no,
                                    .attempt = lease.held.attempt,
                                    .token = lease.held.token},
                         .epoch = lease.epoch,
                         .holder = lease.holder});
    }
    ++at;
  }
  return expired;
}

void LeaseTable::Resolve(const std::vector<ExpiredLease>& decided, SteadyTime now) {
  MutexLock lock(mu_);
  for (const ExpiredLease& item : decided) {
    const auto found = leases_.find(item.report.key);
    if (found != leases_.end() && found->second.held.token == item.report.token) {
      RemoveLocked(found);
    }
    if (lost_.insert(item.report.token).second) {
      lost_until_.emplace_back(now + kLossRemembered, item.report.token);
    }
  }
}

std::optional<LeaseHolder> LeaseTable::HolderOf(const RunKey& key, ClaimToken token) const {
  MutexLock lock(mu_);
  const auto found = leases_.find(key);
  if (found == leases_.end() || found->second.held.token != token) return std::nullopt;
  return found->second.holder;
}

bool LeaseTable::Knows(const RunKey& key) const {
  MutexLock lock(mu_);
  return leases_.count(key) > 0;
}

int64_t LeaseTable::OtherRuns(JobNo job, const RunKey& key) const {
  MutexLock lock(mu_);
  const auto count = runs_of_job_.find(job);
  if (count == runs_of_job_.end()) return 0;
  const RunKey own = OwnRunOf(key);
  return count->second - static_cast<int64_t>(leases_.count(own) + parts_.count(own));
}

size_t LeaseTable::size() const {
  MutexLock lock(mu_);
  return leases_.size();
}

// The own run of a fire in parts has no lease: its parts stand for it, all together once.
void LeaseTable::PutLocked(Lease lease) {
  const RunKey& key = lease.held.key;
  const auto [at, fresh] = leases_.try_emplace(key);
  if (fresh && (!IsPart(key) || ++parts_[OwnRunOf(key)] == 1)) ++runs_of_job_[lease.held.job_no];
  at->second = std::move(lease);
}

LeaseTable::Leases::iterator LeaseTable::RemoveLocked(Leases::iterator at) {
  const HeldAttempt& held = at->second.held;
  if (!IsPart(held.key)) {
    RemoveRunLocked(held.job_no);
  } else if (const auto parts = parts_.find(OwnRunOf(held.key));
             parts != parts_.end() && --parts->second <= 0) {
    parts_.erase(parts);
    RemoveRunLocked(held.job_no);
  }
  return leases_.erase(at);
}

void LeaseTable::RemoveRunLocked(JobNo job) {
  const auto count = runs_of_job_.find(job);
  if (count != runs_of_job_.end() && --count->second <= 0) runs_of_job_.erase(count);
}

void LeaseTable::ForgetOldLossesLocked(SteadyTime now) {
  while (!lost_until_.empty() &&
         (lost_until_.front().first <= now || lost_until_.size() > kLossesMax)) {
    lost_.erase(lost_until_.front().second);
    lost_until_.pop_front();
  }
}

}  // namespace carillon::scheduler
