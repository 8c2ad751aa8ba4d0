#include "scheduler/api/stream_hub.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace carillon::scheduler {

bool StreamHub::FullFor(const std::string& who) const {
  const auto one = count_of_.find(who);
  return count_ >= kStreamsMax || (one != count_of_.end() && one->second >= kStreamsOfOneMax);
}

bool StreamHub::IsFullFor(const std::string& who) {
  MutexLock lock(mu_);
  return FullFor(who);
}

void StreamHub::Add(std::shared_ptr<HttpStream> stream, std::unique_ptr<StreamSource> source,
                    const std::string& who) {
  const SteadyTime now = clock_.Steady();
  {
    MutexLock lock(mu_);
    if (stopped_ || FullFor(who)) return stream->Close();
    ++count_;
    ++count_of_[who];
    added_.push_back({.stream = std::move(stream),
                      .source = std::move(source),
                      .who = who,
                      .opened = now,
                      .written = now});
  }
  if (wake_) wake_();
}

SteadyTime StreamHub::Step(SteadyTime now) {
  {
    MutexLock lock(mu_);
    open_.insert(open_.end(), std::make_move_iterator(added_.begin()),
                 std::make_move_iterator(added_.end()));
    added_.clear();
  }
  bool more = false;
  std::vector<std::string> gone;
  std::erase_if(open_, [&](Open& open) {
    if (Turn(open, now, &more)) return false;
    gone.push_back(open.who);
    return true;
  });
  MutexLock lock(mu_);
  count_ -= gone.size();
  for (const std::string& who : gone) {
    if (--count_of_[who] == 0) count_of_.erase(who);
  }
  return more ? now : now + kPollEvery;
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
