// Streams the log of one attempt as server-sent events while it is written, until it is complete.
//
// Events   One for each entry, in the form of log_text.h. At the end `event: end` with {run_id,
//          attempt, state, complete}. `state` is the state of the run. `complete` is false if
//          pieces are missing.
// Errors   If the store does not answer, the log is read again later. The stream stays open.
// Always   Entries are sent in order and once. If a piece is missing, the later pieces wait until
//          the missing piece arrives, or until kPieceGrace after the end of the attempt.
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
  static constexpr Duration kPieceGrace = 10s;   // wait for missing pieces after an attempt's end
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
  bool skip_gaps_ = false;  // do not wait for missing pieces any more
  SteadyTime next_look_{};
  // Set once the attempt has ended.
  std::optional<RunState> state_;
  AttemptResult result_;
  SteadyTime patience_{};  // the time until which to wait for missing pieces
};

}  // namespace carillon::scheduler
