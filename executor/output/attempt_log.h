// The log of one attempt: output is split into entries and gathered into chunks, which are kept
// until the receiver confirms them.
//
// Place    Between the pipes of a running attempt and the warden's channel to the daemon.
// Threads  Not thread-safe; one owner.
// Time     Never reads a clock.
// Owns     At most Limits::waiting_bytes_max of unconfirmed text, within the budget that all
//          attempts share; one unfinished line of each stream.
// Always   Where text was left out, an entry of Carillon itself says how much. The log is over()
//          once End was called and every chunk is confirmed. A line loses CRs at its end.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "common/domain/run/run_log.h"
#include "executor/output/output_tail.h"

namespace carillon::executor {

// Limit and number of the unconfirmed bytes in all logs together.
struct LogBudget {
  size_t bytes_max = 64u << 20;
  size_t used = 0;
};

class AttemptLog {
 public:
  struct Limits {
    size_t log_bytes_max = 16u << 20;      // bytes of the whole attempt; later output is not kept
    size_t waiting_bytes_max = 32u << 20;  // bytes of unconfirmed text; half of the budget
  };
  // Both clocks: steady for waits, wall for the times of entries.
  struct Now {
    SteadyTime steady;
    WallTime wall;
  };
  // How long text waits for more text before it becomes a chunk, and how long an unfinished line
  // waits for its newline.
  static constexpr Duration kGather = 100ms;
  static constexpr Duration kLinePatience = 500ms;
  static constexpr size_t kChunkBytes = 64u << 10;  // a chunk is closed at this size

  // `budget` must outlive the log.
  AttemptLog(LogBudget& budget, const Limits& limits) : budget_(budget), limits_(limits) {}
  ~AttemptLog();
  AttemptLog(const AttemptLog&) = delete;
  AttemptLog& operator=(const AttemptLog&) = delete;

  void Append(OutputStream stream, std::string_view bytes, Now now);
  // Adds a line by Carillon, which the limits do not count. Ignored after End.
  void Note(std::string text, Now now);
  // Call it when no more output follows: the remaining text becomes the last chunk, behind it
  // `note`, a line as of Note. An empty log has no chunk.
  void End(Now now, std::string note = {});

  // Returns the next chunk to send, each chunk once. Null if none is due. Valid until
  // the next call.
  const LogChunk* Take(SteadyTime now);
  // The time at which Take next has a chunk; SteadyTime::max() for never.
  SteadyTime NextDue() const;
  // Makes Take return every unconfirmed chunk again, because the previous receiver is gone.
  void ReportAllAgain() { reported_ = 0; }
  // Discards the chunk that begins with this entry, because the receiver has stored it.
  void Confirm(uint64_t first_seq);

  bool ended() const { return ended_; }
  bool over() const { return ended_ && chunks_.empty(); }

 private:
  struct Line {
    std::string text;
    WallTime begun;
    SteadyTime waiting_since;
    uint64_t order = 0;
  };

  void AddLinePart(OutputStream stream, std::string_view part, Now now);
  std::array<OutputStream, 2> OldestFirst() const;
  void CloseLine(OutputStream stream);
  void AddEntry(LogStream stream, std::string text, WallTime time);
  void AddMarker(std::string text, WallTime time);
  bool Fits(size_t bytes) const;
  void CloseChunk(bool last);
  void CloseOldLines(SteadyTime now);

  LogBudget& budget_;
  const Limits limits_;
  std::array<Line, 2> lines_;
  uint64_t lines_begun_ = 0;
  LogChunk open_;
  SteadyTime open_since_{};
  std::deque<LogChunk> chunks_;  // closed, unconfirmed
  size_t reported_ = 0;          // how many of chunks_ were taken
  uint64_t next_seq_ = 1;
  size_t total_ = 0;    // bytes of both streams that were kept
  size_t waiting_ = 0;  // bytes in chunks_ and open_
  size_t dropped_ = 0;  // bytes that did not fit since the last marker
  bool full_ = false;   // log_bytes_max was reached and reported
  bool ended_ = false;
};

}  // namespace carillon::executor
