#include "scheduler/api/logs/log_follower.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace carillon::scheduler {
namespace {

// The result of the attempt; nullopt while the attempt is active.
std::optional<AttemptResult> OverResult(const RunDetail& run, int attempt) {
  if (run.row.attempt == attempt) {
    const bool over = IsFinal(run.row.state) || run.row.state == RunState::kHeld;
    return over ? std::optional(run.result) : std::nullopt;
  }
  for (const RunAttempt& earlier : run.attempts) {
    if (earlier.attempt == attempt) return earlier.result;
  }
  return AttemptResult{};
}

}  // namespace

StreamSource::Piece LogFollower::Poll(SteadyTime now) {
  const uint64_t before = next_;
  std::string text = ReadNew();
  // Poll again at once, even if no entry that was read is shown. The log may have more entries.
  if (next_ > before) return {.text = std::move(text), .more = true};
  LookAtRun(now);
  if (!state_) return {};
  if (complete_) return {.text = EndEvent(true), .end = true};
  if (now < patience_) return {};
  if (!skip_gaps_) {
    skip_gaps_ = true;
    return {.more = true};
  }
  // No log was stored: show the output that came with the result.
  if (next_ == wanted_.after_seq + 1) {
    AppendOutput(text, result_.output, wanted_.after_seq, LogFormat::kEvents, wanted_.attempt);
  }
  const bool whole = next_ == wanted_.after_seq + 1 && !result_.output_truncated;
  return {.text = text + EndEvent(whole), .end = true};
}

std::string LogFollower::ReadNew() {
  const auto chunks = ports_.logs.ReadLog(wanted_.key, wanted_.attempt, next_, kBytesPerPoll);
  std::string text;
  if (!chunks.ok()) return text;
  for (const LogChunk& chunk : *chunks) {
    if (chunk.first_seq > next_) {
      if (!skip_gaps_ && !IsRestart(chunk.first_seq, next_ - 1)) return text;
      AppendLogEntry(text, MissingBefore(chunk.first_seq, next_ - 1), LogFormat::kEvents,
                     wanted_.attempt);
      next_ = chunk.first_seq;
    }
    for (const NumberedEntry& entry : EntriesOf(chunk)) {
      if (entry.seq < next_) continue;
      if (IsShown(entry.entry, wanted_.only)) {
        AppendLogEntry(text, entry, LogFormat::kEvents, wanted_.attempt);
      }
    }
    next_ = std::max(next_, chunk.first_seq + chunk.count);
    complete_ = complete_ || chunk.last;
  }
  return text;
}

void LogFollower::LookAtRun(SteadyTime now) {
  if (state_ || now < next_look_) return;
  next_look_ = now + kLookEvery;
  const auto run = ports_.runs.GetRun(wanted_.key);
  if (!run.ok()) {
    // Retention has deleted the run meanwhile, so nothing more will come.
    if (run.code() == ErrorCode::kNotFound) {
      state_ = RunState::kLost;
      patience_ = now;
    }
    return;
  }
  const std::optional<AttemptResult> result = OverResult(*run, wanted_.attempt);
  if (!result) return;
  state_ = run->row.state;
  result_ = *result;
  const auto wall = ports_.cluster_now();
  const bool long_over = wall.ok() && result_.ended + kPieceGrace <= *wall;
  patience_ = result_.output.empty() || long_over ? now : now + kPieceGrace;
}

std::string LogFollower::EndEvent(bool complete) const {
  const nlohmann::json data = {{"run_id", EncodeRunId(wanted_.key)},
                               {"attempt", wanted_.attempt},
                               {"state", std::string(Name(*state_))},
                               {"complete", complete}};
  return "event: end\ndata: " + data.dump() + "\n\n";
}

}  // namespace carillon::scheduler
