#include "scheduler/guard/guard_loop.h"

#include <algorithm>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

bool IsShown(const StoreIdentity& seen, const StoreIdentity& shown) {
  return seen.store_id == shown.store_id && seen.server_id == shown.server_id &&
         seen.mark == shown.mark;
}

}  // namespace

SteadyTime GuardLoop::Step(SteadyTime now) {
  MutexLock lock(mu_);
  const bool known = ports_.guard.standing().state != StoreState::kUnknown;
  if (known && now < next_look_) return next_look_;
  const Record record = ReadRecord();
  if (record.ok() && record->has_value()) Follow(**record);
  Look(record, now);
  Show();
  const bool found = ports_.guard.standing().state != StoreState::kUnknown;
  next_look_ = now + (found ? kLookEvery : kFirstLookEvery);
  return next_look_;
}

void GuardLoop::Show() {
  const bool held = ports_.guard.standing().state == StoreState::kHeld;
  ports_.metrics.gauge("carillon_store_held").Set(held ? 1 : 0);
  if (held) ports_.suspend();  // each time, as a Take in progress may have succeeded since
}

GuardLoop::Record GuardLoop::ReadRecord() {
  Record record = ports_.coordinator.ReadTrust();
  const std::string said =
      record.ok() || record.code() == ErrorCode::kUnavailable ? "" : record.error().message;
  if (said != logged_ && !said.empty()) log::Error(kGuardRoom, "record of trust: {}", said);
  logged_ = said;
  return record;
}

void GuardLoop::Follow(const StoreTrust& record) {
  const std::optional<StoreTrust> known = ports_.guard.standing().trusted;
  const StoreTrust trust = known ? Newer(*known, record) : record;
  if (known == trust) return;
  if (known && known->accepted != trust.accepted) {
    log::Warn(kGuardRoom, "an operator accepted store {} at mark {}", trust.store_id, trust.mark);
    ports_.forget();
  }
  ports_.guard.Trust(trust);
}

void GuardLoop::Look(Record record, SteadyTime now) {
  const bool first = !ports_.guard.standing().trusted;
  // If no store is trusted yet, only the leader may begin trust. It must first have read that the
  // coordinator has no record of trust.
  if (first && (!record.ok() || !ports_.coordinator.IsLeader())) return;
  const uint64_t mark = ports_.guard.Mark();
  const Result<StoreIdentity> seen = ports_.identity.Identify();
  if (!ports_.guard.Look(seen, mark) || !BeginTrust(*seen, &record)) return;
  if (!ports_.coordinator.IsLeader() || now < next_mark_) return;
  next_mark_ = now + kMarkEvery;
  AdvanceMark(*seen, record);
}

// Returns false if the store is not trusted yet. If a record is written, sets `record` to
// the written record.
bool GuardLoop::BeginTrust(const StoreIdentity& seen, Record* record) {
  if (segment_count_ == 0) segment_count_ = seen.segment_count;
  const StoreStanding standing = ports_.guard.standing();
  if (standing.state == StoreState::kTrusted) return true;
  StoreTrust trust = FirstTrust(seen);
  if (standing.trusted) {
    trust = *standing.trusted;
  } else {
    const Status written = ports_.coordinator.WriteTrust(trust, **record);
    if (!written.ok()) {
      log::Warn(kGuardRoom, "record of trust: {}", written.error().message);
      return false;
    }
    *record = std::optional<StoreTrust>(trust);
  }
  ports_.guard.Release(trust);
  ports_.trusted();
  return true;
}

// The record is written only after the store has committed the mark. While the coordinator is
// unavailable, the mark still advances. Each member remembers the highest mark that it has seen.
void GuardLoop::AdvanceMark(const StoreIdentity& seen, const Record& record) {
  const auto mark = ports_.identity.AdvanceMark(seen);
  if (!mark.ok()) {
    log::Warn(kGuardRoom, "mark: {}", mark.error().message);
    return;
  }
  StoreTrust trust = *ports_.guard.standing().trusted;
  trust.mark = *mark;
  ports_.guard.Trust(trust);
  if (!record.ok()) return;
  const Status written = ports_.coordinator.WriteTrust(trust, *record);
  if (!written.ok()) log::Warn(kGuardRoom, "record of trust: {}", written.error().message);
}

Result<StoreIdentity> GuardLoop::FindShown(const StoreIdentity& shown) {
  const uint64_t mark = ports_.guard.Mark();
  CARILLON_ASSIGN_OR_RETURN(StoreIdentity seen, ports_.identity.Identify());
  if (ports_.guard.Look(seen, mark)) {
    return {ErrorCode::kConflict, "the store that answers is trusted: there is nothing to accept"};
  }
  if (!IsShown(seen, shown)) {
    return {ErrorCode::kConflict,
            "the store that answers is not the one that was shown; check the status again"};
  }
  if (segment_count_ != 0 && seen.segment_count != segment_count_) {
    return {ErrorCode::kConflict,
            "the store that answers has a different number of segments than this member started "
            "with; restart all members, then accept"};
  }
  return seen;
}

Status GuardLoop::Accept(const StoreIdentity& shown) {
  MutexLock lock(mu_);
  CARILLON_ASSIGN_OR_RETURN(const std::optional<StoreTrust> record, ports_.coordinator.ReadTrust());
  if (record) Follow(*record);
  CARILLON_ASSIGN_OR_RETURN(const StoreIdentity seen, FindShown(shown));
  const StoreTrust known = *ports_.guard.standing().trusted;  // set, because the store is held
  const WallTime accepted = std::max(ports_.clock.Wall(), known.accepted + 1us);
  CARILLON_ASSIGN_OR_RETURN(
      const uint64_t mark,
      ports_.identity.Accept(seen, Epoch(static_cast<uint64_t>(ToUnixMicros(accepted)))));
  const StoreTrust trust{seen.store_id, seen.server_id, mark, accepted};
  CARILLON_TRY(ports_.coordinator.WriteTrust(trust, record));
  ports_.forget();
  ports_.guard.Release(trust);
  Show();
  ports_.trusted();
  return {};
}

}  // namespace carillon::scheduler
