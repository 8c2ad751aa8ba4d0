#include "executor/checkpoints/checkpoint_tracker.h"

#include <algorithm>
#include <utility>

namespace carillon::executor {
namespace {

constexpr size_t kProgress = static_cast<size_t>(RunFileKind::kProgress);
constexpr size_t kCheckpoint = static_cast<size_t>(RunFileKind::kCheckpoint);

void Explain(ReportedResult& result, std::string_view why) {
  std::string& error = result.ended.result.error;
  if (!error.empty()) error += "; ";
  error += why;
}

}  // namespace

CheckpointTracker::Attempt* CheckpointTracker::Find(const HeldAttempt& held) {
  const auto found = attempts_.find(IdOf(held));
  const bool same = found != attempts_.end() && found->second.held.token == held.token;
  return same ? &found->second : nullptr;
}

void CheckpointTracker::Watch(const HeldAttempt& held, const MemberId& member) {
  Attempt& attempt = attempts_[IdOf(held)];
  attempt.held = held;
  if (!member.value().empty()) attempt.member = member;
}

void CheckpointTracker::Own(const HeldAttempt& held, const MemberId& member) {
  Attempt* const attempt = Find(held);
  if (attempt == nullptr || attempt->member == member) return;
  attempt->member = member;
  if (attempt->unanswered) SendAgain(*attempt);
}

void CheckpointTracker::Placed(const AttemptId& id, const RunFileMark& mark) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return;
  found->second.saved = true;
  found->second.files[kCheckpoint].sent = mark;
}

void CheckpointTracker::Meet(const MemberId& member, bool takes) {
  if (takes) {
    takes_.insert(member);
  } else {
    takes_.erase(member);
  }
}

CheckpointTracker::File* CheckpointTracker::Find(const RunFile& file) {
  const auto found = attempts_.find({file.key, file.attempt});
  return found == attempts_.end() ? nullptr : &found->second.files[static_cast<size_t>(file.kind)];
}

void CheckpointTracker::Found(const RunFile& file, const RunFileMark& mark) {
  if (File* const known = Find(file)) known->found = mark;
}

void CheckpointTracker::Gone(const RunFile& file) {
  if (File* const known = Find(file)) known->found.reset();
}

bool CheckpointTracker::Refuse(const RunFile& file, const std::string& why) {
  File* const known = Find(file);
  const bool first =
      known != nullptr && std::exchange(known->refused, known->found) != known->found;
  if (!first) return false;
  if (auto& result = attempts_.at({file.key, file.attempt}).result) Explain(*result, why);
  return true;
}

// The content may not have arrived, so it counts as changed again.
void CheckpointTracker::SendAgain(Attempt& attempt) {
  for (size_t kind = 0; kind < attempt.files.size(); ++kind) {
    attempt.files[kind].sent = attempt.unanswered->before[kind];
  }
  attempt.unanswered.reset();
}

void CheckpointTracker::GiveUpWaiting(SteadyTime now) {
  for (auto& [id, attempt] : attempts_) {
    if (!attempt.unanswered || now < attempt.unanswered->again) continue;
    attempt.patience = std::min(2 * attempt.patience, kAnswerWithinMax);
    SendAgain(attempt);
  }
}

bool CheckpointTracker::LineIsFree() const {
  size_t unanswered = 0;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt.unanswered) unanswered += attempt.unanswered->bytes;
  }
  return unanswered < kUnansweredBytesMax;
}

std::optional<CheckpointTracker::Order> CheckpointTracker::Next(SteadyTime now) {
  GiveUpWaiting(now);
  const bool room = now >= next_checkpoint_ && LineIsFree();
  Attempt* best = nullptr;
  for (auto& [id, attempt] : attempts_) {
    const bool due =
        attempt.files[kProgress].changed() || (room && attempt.files[kCheckpoint].changed());
    const bool may = !attempt.unanswered && now >= attempt.not_before && Takes(attempt.member);
    if (!due || !may) continue;
    const auto rank = [](const Attempt& a) { return std::pair(!a.result.has_value(), a.turn); };
    if (best == nullptr || rank(attempt) < rank(*best)) best = &attempt;
  }
  if (best == nullptr) return std::nullopt;
  best->turn = ++turns_;
  const auto time = static_cast<uint64_t>(std::max<int64_t>(now.time_since_epoch().count(), 0));
  // By the clock of the host's boot, so that a daemon that was restarted continues with
  // higher numbers.
  best->seq = std::max(best->seq + 1, time);
  return Order{.held = best->held,
               .member = best->member,
               .seq = best->seq,
               .progress = best->files[kProgress].changed(),
               .checkpoint = room && best->files[kCheckpoint].changed()};
}

void CheckpointTracker::Sent(const Order& order, const Marks& marks, size_t bytes, SteadyTime now) {
  Attempt* const attempt = Find(order.held);
  if (attempt == nullptr) return;
  Unanswered unanswered{
      .seq = order.seq, .again = now + attempt->patience, .bytes = bytes, .before = {}};
  for (size_t kind = 0; kind < marks.size(); ++kind) {
    File& file = attempt->files[kind];
    unanswered.before[kind] = file.sent;
    if (!marks[kind]) continue;
    file.found = marks[kind];
    file.sent = marks[kind];
  }
  attempt->unanswered = unanswered;
  attempt->saved = true;
  const auto takes = Duration(static_cast<int64_t>(bytes * 1'000'000 / kBytesPerSecond));
  next_checkpoint_ = std::max(next_checkpoint_, now) + takes;
}

void CheckpointTracker::Failed(const Order& order, SteadyTime now) {
  if (Attempt* const attempt = Find(order.held)) attempt->not_before = now + kRetryAfter;
}

void CheckpointTracker::Answered(const HeldAttempt& held, uint64_t seq) {
  Attempt* const attempt = Find(held);
  if (attempt == nullptr || !attempt->unanswered || attempt->unanswered->seq != seq) return;
  attempt->unanswered.reset();
  attempt->patience = kAnswerWithin;
}

void CheckpointTracker::Hold(ReportedResult result, SteadyTime now) {
  const HeldAttempt held = result.ended.attempt;
  Attempt& attempt = attempts_[IdOf(held)];
  attempt.held = held;
  if (attempt.result) return;
  attempt.result = std::move(result);
  attempt.looked = false;
  attempt.until = now + kAnswerWithin;
  ++held_;
}

std::vector<AttemptId> CheckpointTracker::All() const {
  std::vector<AttemptId> all;
  all.reserve(attempts_.size());
  for (const auto& [id, attempt] : attempts_) all.push_back(id);
  return all;
}

std::vector<AttemptId> CheckpointTracker::Unlooked() const {
  std::vector<AttemptId> unlooked;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt.result && !attempt.looked) unlooked.push_back(id);
  }
  return unlooked;
}

void CheckpointTracker::Looked(const AttemptId& id) {
  const auto found = attempts_.find(id);
  if (found != attempts_.end()) found->second.looked = true;
}

// A completed run needs no checkpoint, and a member that takes none gets none.
bool CheckpointTracker::MayPass(const Attempt& attempt) const {
  const bool complete = attempt.result->ended.result.state == RunState::kCompleted;
  const bool takes_none = !attempt.member.value().empty() && !Takes(attempt.member);
  return complete || takes_none || (!attempt.unanswered && !attempt.changed());
}

std::vector<ReportedResult> CheckpointTracker::Release(SteadyTime now) {
  std::vector<ReportedResult> released;
  for (auto& [id, attempt] : attempts_) {
    if (!attempt.result || !attempt.looked) continue;
    const bool passes = MayPass(attempt);
    if (!passes && now < attempt.until) continue;
    ReportedResult& result = released.emplace_back(*std::exchange(attempt.result, std::nullopt));
    --held_;
    const auto there = [](const File& file) { return file.found.has_value(); };
    result.ended.result.saved =
        attempt.saved || std::any_of(attempt.files.begin(), attempt.files.end(), there);
    if (!passes)
      Explain(result, "its last checkpoint was not stored in time; an older one may be stored");
  }
  return released;
}

SteadyTime CheckpointTracker::NextDue(SteadyTime now) const {
  SteadyTime next = SteadyTime::max();
  const bool free = LineIsFree();
  for (const auto& [id, attempt] : attempts_) {
    if (attempt.result) next = std::min(next, attempt.looked ? attempt.until : now);
    if (attempt.unanswered) next = std::min(next, attempt.unanswered->again);
    if (!attempt.changed() || attempt.unanswered || !Takes(attempt.member)) continue;
    const bool at_once = attempt.files[kProgress].changed();
    if (!at_once && !free) continue;  // an answer comes first, or the time to repeat a save
    next = std::min(next, std::max(attempt.not_before, at_once ? now : next_checkpoint_));
  }
  return next;
}

}  // namespace carillon::executor
