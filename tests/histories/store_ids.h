// The numbers of rows that each store assigns by itself. A database leaves holes in such a
// sequence, when a transaction is rolled back and when a statement inserts many rows. So the two
// stores number the same rows differently; only the order is promised.
//
// Always   A number of one store stands for exactly one of the other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/ports/store/stores.h"

namespace carillon::test {

enum class IdOf {
  kNone,
  kCompletion,
  kDeadLetter,
  kGap,
  kNotice,
  kDelivery,
  kBackfill,
  kBulk,
  kAudit
};
inline constexpr size_t kIdKinds = 9;

// The kind of number in field `name` of a `T`. A filter's cursor names a row, too.
template <typename T>
constexpr IdOf IdIn(std::string_view name) {
  const auto is = [name](auto... names) { return ((name == names) || ...); };
  if (std::is_same_v<T, RunCompletion> && is("id")) return IdOf::kCompletion;
  if (std::is_same_v<T, WakeUp> && is("id")) return IdOf::kCompletion;
  if (std::is_same_v<T, StepRequest> && is("wake_ups")) return IdOf::kCompletion;
  if (std::is_same_v<T, DeadLetter> && is("id")) return IdOf::kDeadLetter;
  if (std::is_same_v<T, DeadLetterJob> && is("newest_id")) return IdOf::kDeadLetter;
  if (std::is_same_v<T, DeadLetterJobPage> && is("next")) return IdOf::kDeadLetter;
  if (std::is_same_v<T, DeadLetterFilter> && is("before_id")) return IdOf::kDeadLetter;
  if (std::is_same_v<T, DeadLetterJobFilter> && is("before_id")) return IdOf::kDeadLetter;
  if (std::is_same_v<T, FailingJob> && is("newest_letter")) return IdOf::kDeadLetter;
  if (std::is_same_v<T, GapRecord> && is("id")) return IdOf::kGap;
  if (std::is_same_v<T, GapPage> && is("next")) return IdOf::kGap;
  if (std::is_same_v<T, GapFilter> && is("before_id")) return IdOf::kGap;
  if (std::is_same_v<T, Notice> && is("id")) return IdOf::kNotice;
  if (std::is_same_v<T, Delivery> && is("notice_id")) return IdOf::kNotice;
  if (std::is_same_v<T, Delivery> && is("id")) return IdOf::kDelivery;
  if (std::is_same_v<T, DeliveryOutcome> && is("id")) return IdOf::kDelivery;
  if (std::is_same_v<T, DeliveryFilter> && is("before_id")) return IdOf::kDelivery;
  if (std::is_same_v<T, Backfill> && is("number")) return IdOf::kBackfill;
  if (std::is_same_v<T, OpenBackfill> && is("number")) return IdOf::kBackfill;
  if (std::is_same_v<T, BackfillFilter> && is("before_number")) return IdOf::kBackfill;
  if (std::is_same_v<T, BulkAction> && is("number")) return IdOf::kBulk;
  if (std::is_same_v<T, BulkFilter> && is("before_number")) return IdOf::kBulk;
  if (std::is_same_v<T, AuditRecord> && is("id")) return IdOf::kAudit;
  if (std::is_same_v<T, AuditFilter> && is("before_id", "after_id")) return IdOf::kAudit;
  return IdOf::kNone;
}

class StoreIds {
 public:
  // True if the two numbers stand for the same row. Learns the pair if both are new.
  bool AreSame(IdOf kind, uint64_t memory, uint64_t database) {
    auto& [there, back] = pairs_.at(static_cast<size_t>(kind));
    const auto known = there.find(memory);
    const auto back_known = back.find(database);
    if (known == there.end() && back_known == back.end()) {
      there[memory] = database;
      back[database] = memory;
      return true;
    }
    return known != there.end() && known->second == database;
  }
  void SetIdentities(StoreIdentity memory, StoreIdentity database) {
    memory_ = std::move(memory);
    database_ = std::move(database);
  }
  void TurnToDatabase(StoreIdentity& seen) const {
    if (seen.store_id == memory_.store_id) seen.store_id = database_.store_id;
    if (seen.server_id == memory_.server_id) seen.server_id = database_.server_id;
  }
  // The slots of a group are numbered by the database alone; a run has at most one.
  void LearnSlot(const UnusedSlot& database) {
    slots_[{database.group_no, database.key}] = database.slot;
  }
  uint32_t SlotOf(const UnusedSlot& memory) const {
    const auto known = slots_.find({memory.group_no, memory.key});
    return known == slots_.end() ? memory.slot : known->second;
  }
  // The database's number of the row that has this one in memory. A number that is unknown, as of a
  // first page, means the same in both.
  uint64_t ToDatabase(IdOf kind, uint64_t memory) const {
    const auto& there = pairs_.at(static_cast<size_t>(kind)).there;
    const auto known = there.find(memory);
    return known == there.end() ? memory : known->second;
  }

 private:
  struct Pairs {
    std::map<uint64_t, uint64_t> there;
    std::map<uint64_t, uint64_t> back;
  };
  std::array<Pairs, kIdKinds> pairs_;
  std::map<std::pair<GroupNo, RunKey>, uint32_t> slots_;
  StoreIdentity memory_;
  StoreIdentity database_;
};

}  // namespace carillon::test
