#include "executor/warden/records/log_relay.h"

#include <algorithm>
#include <utility>

namespace carillon::executor {

std::shared_ptr<AttemptLog> LogRelay::Open(const HeldAttempt& held, const JobId& job_id) {
  MakeRoom();
  Drop(held);
  auto log = std::make_shared<AttemptLog>(budget_, limits_);
  const uint64_t number = next_number_++;
  logs_[number] = {.held = held, .job_id = job_id, .log = log};
  numbers_[NameOf(held)] = number;
  return log;
}

LogRelay::Items::iterator LogRelay::Erase(Items::iterator at) {
  numbers_.erase(NameOf(at->second.held));
  return logs_.erase(at);
}

void LogRelay::Drop(const HeldAttempt& held) {
  const auto number = numbers_.find(NameOf(held));
  if (number != numbers_.end()) Erase(logs_.find(number->second));
}

void LogRelay::DropIfEmpty(const HeldAttempt& held) {
  const auto number = numbers_.find(NameOf(held));
  if (number == numbers_.end()) return;
  const auto at = logs_.find(number->second);
  if (at->second.log->over()) Erase(at);
}

void LogRelay::MakeRoom() {
  const auto crowded = [this] {
    return logs_.size() >= kLogsMax || budget_.used > budget_.bytes_max / 2;
  };
  for (auto at = logs_.begin(); at != logs_.end() && crowded();) {
    if (at->second.log->ended()) {
      at = Erase(at);
      ++given_up_;
    } else {
      ++at;
    }
  }
}

size_t LogRelay::TakeGivenUp() { return std::exchange(given_up_, 0); }

std::optional<AttemptOutput> LogRelay::Take(SteadyTime now) {
  auto at = logs_.upper_bound(turn_);
  for (size_t looked = logs_.size(); looked > 0; --looked) {
    if (at == logs_.end()) at = logs_.begin();
    const Item& item = at->second;
    if (const LogChunk* chunk = item.log->Take(now)) {
      turn_ = at->first;
      return AttemptOutput{.attempt = item.held, .job_id = item.job_id, .chunk = *chunk};
    }
    ++at;
  }
  return std::nullopt;
}

SteadyTime LogRelay::NextDue() const {
  SteadyTime next = SteadyTime::max();
  for (const auto& [number, item] : logs_) next = std::min(next, item.log->NextDue());
  return next;
}

void LogRelay::Confirm(const std::vector<StoredOutput>& confirmed) {
  for (const StoredOutput& one : confirmed) {
    const auto number = numbers_.find(NameOf(one.attempt));
    if (number == numbers_.end()) continue;
    const auto at = logs_.find(number->second);
    at->second.log->Confirm(one.first_seq);
    if (at->second.log->over()) Erase(at);
  }
}

void LogRelay::ReportAllAgain() {
  for (auto& [number, item] : logs_) item.log->ReportAllAgain();
}

}  // namespace carillon::executor
