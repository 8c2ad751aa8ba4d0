#include "scheduler/streams/stream_hub.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace carillon::scheduler {

bool StreamHub::IsFull() {
  MutexLock lock(mu_);
  return count_ >= kStreamsMax;
}

void StreamHub::Add(std::shared_ptr<HttpStream> stream, std::unique_ptr<StreamSource> source,
                    Who who) {
  const SteadyTime now = clock_.Steady();
  {
    MutexLock lock(mu_);
    if (stopped_ || count_ >= kStreamsMax) return stream->Close();
    ++count_;
    const std::string& account = who.account;
    if (++count_of_[account] - too_many_of_[account] > kStreamsOfOneMax) ++too_many_of_[account];
    added_.push_back({.stream = std::move(stream),
                      .source = std::move(source),
                      .who = std::move(who),
                      .opened = now,
                      .written = now});
  }
  if (wake_) wake_();
}

SteadyTime StreamHub::Step(SteadyTime now) {
  std::map<std::string, size_t> too_many_of;
  {
    MutexLock lock(mu_);
    too_many_of = too_many_of_;
    open_.insert(open_.end(), std::make_move_iterator(added_.begin()),
                 std::make_move_iterator(added_.end()));
    added_.clear();
  }
  std::erase_if(confirmed_, [now](const auto& one) { return now >= one.second.at + kLifetime; });
  int asks = 0;
  bool more = false;
  std::vector<std::string> gone;
  std::erase_if(open_, [&](Open& open) {
    size_t& too_many = too_many_of[open.who.account];
    if (too_many > 0) {
      --too_many;
      open.stream->Close();
    } else if (!StillValid(open.who, now, &asks)) {
      open.stream->Close();
    } else if (Turn(open, now, &more)) {
      return false;
    }
    gone.push_back(open.who.account);
    return true;
  });
  MutexLock lock(mu_);
  count_ -= gone.size();
  for (const std::string& who : gone) {
    if (--count_of_[who] == 0) count_of_.erase(who);
    const auto too_many = too_many_of_.find(who);
    if (too_many != too_many_of_.end() && (too_many->second == 0 || --too_many->second == 0)) {
      too_many_of_.erase(too_many);
    }
  }
  return more ? now : now + kPollEvery;
}

bool StreamHub::StillValid(const Who& who, SteadyTime now, int* asks) {
  const auto known = confirmed_.find(who.credential);
  const bool stood = known == confirmed_.end() || known->second.stands;
  const bool fresh = known != confirmed_.end() && now < known->second.at + kConfirmEvery;
  if (fresh || now < silent_until_ || *asks >= kConfirmsPerStep) return stood;
  ++*asks;
  const std::optional<bool> stands = who.stands();
  // The clock is read after the answer, because the answer may have taken long.
  const SteadyTime at = clock_.Steady();
  if (!stands) {
    silent_until_ = at + kConfirmEvery;
    return stood;
  }
  confirmed_[who.credential] = {.at = at, .stands = *stands};
  return *stands;
}

bool StreamHub::Turn(Open& open, SteadyTime now, bool* more) {
  if (open.stream->closed()) return false;
  if (open.stream->unsent() > kUnsentMax) return true;
  StreamSource::Piece piece = open.source->Poll(now);
  if (piece.text.empty() && now >= open.written + kHeartbeat) piece.text = ": still here\n\n";
  if (!piece.text.empty()) {
    open.stream->Write(std::move(piece.text));
    open.written = now;
  }
  if (piece.end || now >= open.opened + kLifetime) {
    open.stream->Close();
    return false;
  }
  *more = *more || piece.more;
  return true;
}

void StreamHub::Stop() {
  std::vector<Open> all;
  {
    MutexLock lock(mu_);
    stopped_ = true;
    all.swap(added_);
  }
  std::move(open_.begin(), open_.end(), std::back_inserter(all));
  open_.clear();
  for (Open& open : all) open.stream->Close();
}

}  // namespace carillon::scheduler
