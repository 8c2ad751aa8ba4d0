// Serves the open live streams: polls their sources, writes to their listeners and ends
// the streams.
//
// Threads  One loop calls Step, which polls all sources in turn; Add and Stop are thread-safe.
// Time     A source is polled every kPollEvery. If it has more, it is polled again at once.
// Owns     The streams and their sources, at most kStreamsMax, and at most kStreamsOfOneMax per
//          account. A further stream of an account ends the oldest stream of this account. The
//          oldest stream often belongs to a closed page, because a closed connection is noticed
//          only at a write.
// Always   A listener's credential is checked every kConfirmEvery, once for all streams that use
//          it. A Step checks at most kConfirmsPerStep credentials. If the store does not answer,
//          no credential is checked for kConfirmEvery, and the last answers stay valid. If a
//          listener has not read kUnsentMax bytes, nothing more is written to it. After Stop no
//          source is used.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/adapters/http/http_stream.h"
#include "common/base/clock.h"
#include "common/base/loops/loop.h"
#include "common/base/mutex.h"

namespace carillon::scheduler {

class StreamSource {
 public:
  struct Piece {
    std::string text = {};
    bool more = false;  // poll again at once
    bool end = false;   // close the stream after this piece
  };
  virtual ~StreamSource() = default;
  // Returns the text to write now; its size is bounded. May block for as long as a store read does.
  virtual Piece Poll(SteadyTime now) = 0;
};

class StreamHub final : public Stepper {
 public:
  static constexpr size_t kStreamsMax = 256;
  static constexpr size_t kStreamsOfOneMax = 32;
  static constexpr Duration kPollEvery = 250ms;
  static constexpr Duration kHeartbeat = 15s;
  // A stream is closed after this time. Its client reconnects with its current token and continues.
  static constexpr Duration kLifetime = 10min;
  static constexpr Duration kConfirmEvery = 5s;
  static constexpr int kConfirmsPerStep = 16;
  static constexpr size_t kUnsentMax = 512u << 10;

  // The listener of a stream.
  struct Who {
    std::string account;
    std::string credential = {};  // the credential that authenticated the request
    // Returns whether the credential is still valid; nullopt if the store did not answer. May block
    // for as long as a store read does.
    std::function<std::optional<bool>()> stands = [] { return true; };
  };

  explicit StreamHub(const Clock& clock) : clock_(clock) {}

  bool IsFull();
  // If kStreamsMax streams are open, or after Stop, the stream is closed at once.
  void Add(std::shared_ptr<HttpStream> stream, std::unique_ptr<StreamSource> source, Who who);
  // `wake` is called after each Add. Set it before the first Add.
  void OnAdd(std::function<void()> wake) { wake_ = std::move(wake); }

  SteadyTime Step(SteadyTime now) override;
  // Closes every stream. Must not run at the same time as Step. Stop the loop first.
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

  bool StillValid(const Who& who, SteadyTime now, int* asks);
  // Polls one stream. False: the stream has ended.
  bool Turn(Open& open, SteadyTime now, bool* more);

  const Clock& clock_;
  std::function<void()> wake_;
  Mutex mu_;
  size_t count_ GUARDED_BY(mu_) = 0;
  std::map<std::string, size_t> count_of_ GUARDED_BY(mu_);
  std::map<std::string, size_t> too_many_of_ GUARDED_BY(mu_);  // streams to end, oldest first
  bool stopped_ GUARDED_BY(mu_) = false;
  std::vector<Open> added_ GUARDED_BY(mu_);
  // Used by the loop only.
  std::vector<Open> open_;
  std::map<std::string, Confirmed> confirmed_;  // by credential
  SteadyTime silent_until_{};                   // no checks before this: the store did not answer
};

}  // namespace carillon::scheduler
