#include "scheduler/api/stream_hub.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace carillon::scheduler {

void StreamHub::Add(std::shared_ptr<HttpStream> stream, std::unique_ptr<StreamSource> source) {
  const SteadyTime now = clock_.Steady();
  {
    MutexLock lock(mu_);
    if (stopped_ || full()) return stream->Close();
    ++count_;
    added_.push_back(
        {.stream = std::move(stream), .source = std::move(source), .opened = now, .written = now});
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
  const size_t gone = std::erase_if(open_, [&](Open& open) { return !Turn(open, now, &more); });
  count_ -= gone;
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
