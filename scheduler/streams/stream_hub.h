// Open streams of server-sent events: polls their sources, writes to their clients and ends them.
//
// Threads  Owns one thread, which polls the sources in turn; Add and Stop are thread-safe.
// Time     A source is polled every kPollEvery, or at once while it has more.
// Owns     The streams and their sources, at most kStreamsMax; kStreamsOfOneMax per account. A
//          further one ends the oldest of the account, which may belong to a closed page: only a
//          write shows that. Every kConfirmEvery each credential is checked once for all of its
//          streams, kConfirmsPerStep at a time. While the store cannot say, the last answer holds
//          and the next check waits for kConfirmEvery.
// Always   At most kUnsentMax is buffered for a client that does not read. After Stop no source is
//          used any more.
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
  // The text to write now, bounded. May block as a read of the store.
  virtual Piece Poll(SteadyTime now) = 0;
};

class StreamHub final : public Stepper {
 public:
  static constexpr size_t kStreamsMax = 256;
  static constexpr size_t kStreamsOfOneMax = 32;
  static constexpr Duration kPollEvery = 250ms;
  static constexpr Duration kHeartbeat = 15s;
  // The client then reconnects with a current token and continues where it was.
  static constexpr Duration kLifetime = 10min;
  static constexpr Duration kConfirmEvery = 5s;
  static constexpr int kConfirmsPerStep = 16;
  static constexpr size_t kUnsentMax = 512u << 10;

  struct Who {
    std::string account;
    std::string credential = {};  // shown by the client
    // False: no longer valid; nullopt: the store cannot say. May block as a read of the store.
    std::function<std::optional<bool>()> stands = [] { return true; };
  };

  explicit StreamHub(const Clock& clock) : clock_(clock) {}

  bool IsFull();
  // A stream beyond the limit, or after Stop, is closed at once.
  void Add(std::shared_ptr<HttpStream> stream, std::unique_ptr<StreamSource> source, Who who);
  // Called when there is something new to poll. Set it before the first Add.
  void OnAdd(std::function<void()> wake) { wake_ = std::move(wake); }

  SteadyTime Step(SteadyTime now) override;
  // Closes every stream. Not while Step runs: stop the loop first.
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
  // False: the stream has ended.
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
  SteadyTime silent_until_{};                   // the loop's own: the store could not say
};

}  // namespace carillon::scheduler
