// Streams the log of one attempt as server-sent events while it is written, until it is complete.
//
// Events   One for each entry (log_text.h), `id` its number; then `event: end` with {run_id,
//          attempt, state, complete}: state is the run's, complete false when pieces are missing.
// Errors   If the store does not answer, it is read again later; the stream stays open.
// Always   Entries are sent in order and once. A late piece holds back those after it until the
//          attempt has ended and kPieceGrace has passed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/domain/run_id.h"
#include "common/ports/store/log_store.h"
#include "common/ports/store/run_store.h"
#include "scheduler/api/logs/log_text.h"
#include "scheduler/streams/stream_hub.h"

namespace carillon::scheduler {

class LogFollower final : public StreamSource {
 public:
  struct Ports {
    RunStore& runs;
    LogStore& logs;
    std::function<Result<WallTime>()> cluster_now;
  };
  struct Wanted {
    RunKey key;
    int attempt = 1;
    uint64_t after_seq = 0;
    std::optional<LogStream> only = {};
  };
  static constexpr Duration kPieceGrace = 10s;   // after the end of an attempt
  static constexpr Duration kLookEvery = 500ms;  // between reads of the run
  static constexpr size_t kBytesPerPoll = 128u << 10;

  LogFollower(Ports ports, const Wanted& wanted)
      : ports_(std::move(ports)), wanted_(wanted), next_(wanted.after_seq + 1) {}

  Piece Poll(SteadyTime now) override;

 private:
  std::string ReadNew();
  void LookAtRun(SteadyTime now);
  std::string EndEvent(bool complete) const;

  const Ports ports_;
  const Wanted wanted_;
  uint64_t next_;           // seq of the next entry
  bool complete_ = false;   // the last entry was read
  bool skip_gaps_ = false;  // missing pieces are no longer waited for
  SteadyTime next_look_{};
  // Set once the attempt has ended.
  std::optional<RunState> state_;
  AttemptResult result_;
  SteadyTime patience_{};  // until when to wait for missing pieces
};

}  // namespace carillon::scheduler
