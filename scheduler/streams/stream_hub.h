// Answers that go on: who listens, what each is told, when it ends.
//
// Threads  Owns one thread, which polls every source by turns; Add and Stop are thread-safe.
// Time     A source is polled every kPollEvery, or at once while it has more.
// Owns     The streams and their sources, at most kStreamsMax. Of one account kStreamsOfOneMax: one
//          more ends its oldest, which may well be of a page that is gone, as only a write tells.
//          Whether a listener may still listen is asked every kConfirmEvery, once for all that came
//          with one credential; kConfirmsPerStep at a time, and of a store that does not say nothing
//          more is asked for as long. Until it is known what was known holds.
// Always   A listener that does not read is not written to beyond kUnsentMax. After Stop nothing of
//          a source is used any more.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/adapters/http/http_stream.h"
#include "common/base/clock.h"
#include "common/base/loop.h"
#include "common/base/mutex.h"

namespace carillon::scheduler {

class StreamSource {
 public:
  struct Piece {
    std::string text = {};
    bool more = false;  // poll again at once
    bool end = false;   // nothing follows
  };
  virtual ~StreamSource() = default;
  // What is to be written now, bounded. May block as a read of the store does.
  virtual Piece Poll(SteadyTime now) = 0;
};

class StreamHub final : public Stepper {
 public:
  static constexpr size_t kStreamsMax = 256;
  static constexpr size_t kStreamsOfOneMax = 32;
  static constexpr Duration kPollEvery = 250ms;
  static constexpr Duration kHeartbeat = 15s;
  // Then the listener comes again, with a token of that time, and goes on where it was.
  static constexpr Duration kLifetime = 10min;
  static constexpr Duration kConfirmEvery = 5s;
  static constexpr int kConfirmsPerStep = 16;
  static constexpr size_t kUnsentMax = 512u << 10;

  struct Who {
    std::string account;
    std::string credential = {};  // what he came with
    // False: it is good no more; nullopt: the store does not say. May block as a read of it does.
    std::function<std::optional<bool>()> stands = [] { return true; };
  };

  explicit StreamHub(const Clock& clock) : clock_(clock) {}

  bool IsFull();
  // A stream beyond the most, or after Stop, is closed at once.
  void Add(std::shared_ptr<HttpStream> stream, std::unique_ptr<StreamSource> source, Who who);
  // Called when there is something new to poll. Set before the first Add.
  void OnAdd(std::function<void()> wake) { wake_ = std::move(wake); }

  SteadyTime Step(SteadyTime now) override;
  // Closes every stream. Not while Step runs: stop its loop first.
  void Stop();

 private:
  struct Open {
    std::shared_ptr<HttpStream> stream;
    std::unique_ptr<StreamSource> source;
    Who who;
    SteadyTime opened;
    SteadyTime written;
  };

  struct Confirmed {
    SteadyTime at;
    bool stands = true;
  };

  bool Stands(const Who& who, SteadyTime now, int* asks);
  // False: it is over.
  bool Turn(Open& open, SteadyTime now, bool* more);

  const Clock& clock_;
  std::function<void()> wake_;
  Mutex mu_;
  size_t count_ GUARDED_BY(mu_) = 0;
  std::map<std::string, size_t> count_of_ GUARDED_BY(mu_);
  std::map<std::string, size_t> too_many_of_ GUARDED_BY(mu_);  // to be ended, the oldest first
  bool stopped_ GUARDED_BY(mu_) = false;
  std::vector<Open> added_ GUARDED_BY(mu_);
  std::vector<Open> open_;                      // the loop's own
  std::map<std::string, Confirmed> confirmed_;  // the loop's own; by credential
  SteadyTime silent_until_{};                   // the loop's own: the store did not say
};

}  // namespace carillon::scheduler
