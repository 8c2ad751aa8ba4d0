// The log of one attempt while it is on its way: cut into entries, gathered into chunks, kept until
// somebody else has them.
//
// Place    Between the pipes of a running attempt and the warden's channel to the daemon.
// Threads  Not thread-safe; one owner.
// Time     Never reads a clock.
// Owns     At most Limits::waiting_bytes_max of text that was not confirmed, within the budget that
//          all attempts share; one unfinished line of each stream.
// Always   Nothing is left out without an entry of Carillon's own that says how much. After End and
//          the confirmation of every chunk it is over().
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "common/domain/run_log.h"
#include "executor/output/output_tail.h"

namespace carillon::executor {

// Bytes of text that wait in all logs together.
struct LogBudget {
  size_t bytes_max = 64u << 20;
  size_t used = 0;
};

class AttemptLog {
 public:
  struct Limits {
    size_t log_bytes_max = 16u << 20;      // of the whole attempt; what follows is not kept
    size_t waiting_bytes_max = 32u << 20;  // not confirmed: half of the budget
  };
  struct Now {
    SteadyTime steady;
    WallTime wall;
  };
  // How long text may wait for more before it becomes a chunk, and an unfinished line for its end.
  static constexpr Duration kGather = 100ms;
  static constexpr Duration kLinePatience = 500ms;
  static constexpr size_t kChunkBytes = 64u << 10;  // so many are enough for a chunk

  // `budget` outlives it.
  AttemptLog(LogBudget& budget, const Limits& limits) : budget_(budget), limits_(limits) {}
  ~AttemptLog();
  AttemptLog(const AttemptLog&) = delete;
  AttemptLog& operator=(const AttemptLog&) = delete;

  void Append(OutputStream stream, std::string_view bytes, Now now);
  // Nothing follows: what is there becomes a chunk, the last one. A log without a byte has none.
  void End(Now now);

  // The next chunk that is to be told, once; null when none is due. Valid until the next call.
  const LogChunk* Take(SteadyTime now);
  // When Take next has something; SteadyTime::max() for never.
  SteadyTime NextDue() const;
  // Everything that is not confirmed is told again: whoever heard it is gone.
  void TellAgain() { told_ = 0; }
  // Somebody else keeps the chunk that begins with this entry.
  void Confirm(uint64_t first_seq);

  bool ended() const { return ended_; }
  bool over() const { return ended_ && chunks_.empty(); }

 private:
  struct Line {
    std::string text;
    WallTime begun;
    SteadyTime waiting_since;
  };

  void AddLinePart(OutputStream stream, std::string_view part, Now now);
  void CloseLine(OutputStream stream);
  void AddEntry(LogStream stream, std::string text, WallTime time);
  void AddMarker(std::string text, WallTime time);
  bool Fits(size_t bytes) const;
  void CloseChunk(bool last);
  void CloseOldLines(SteadyTime now);

  LogBudget& budget_;
  const Limits limits_;
  std::array<Line, 2> lines_;
  LogChunk open_;
  SteadyTime open_since_{};
  std::deque<LogChunk> chunks_;  // closed, not confirmed
  size_t told_ = 0;              // of chunks_
  uint64_t next_seq_ = 1;
  size_t total_ = 0;    // bytes of the streams that were kept
  size_t waiting_ = 0;  // bytes in chunks_ and open_
  size_t dropped_ = 0;  // bytes since the last marker that did not fit
  bool full_ = false;   // log_bytes_max was reached, and said
  bool ended_ = false;
};

}  // namespace carillon::executor
