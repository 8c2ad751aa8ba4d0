#include "executor/output/attempt_log.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/domain/line_ends.h"
#include "executor/output/log_limit.h"

namespace carillon::executor {

AttemptLog::~AttemptLog() { budget_.used -= waiting_; }

void AttemptLog::Append(OutputStream stream, std::string_view bytes, Now now) {
  while (!bytes.empty() && !full_) {
    const size_t newline = bytes.find('\n');
    const size_t size = newline == std::string_view::npos ? bytes.size() : newline + 1;
    AddLinePart(stream, bytes.substr(0, size), now);
    bytes.remove_prefix(size);
  }
  CloseOldLines(now.steady);
  if (open_.count > 0 && open_since_ == SteadyTime{}) open_since_ = now.steady;
}

void AttemptLog::AddLinePart(OutputStream stream, std::string_view part, Now now) {
  Line& line = lines_[static_cast<size_t>(stream)];
  while (!part.empty()) {
    if (line.text.empty()) {
      line.begun = now.wall;
      line.waiting_since = now.steady;
      line.order = ++lines_begun_;
    }
    const size_t size = std::min(part.size(), kLogEntryBytesMax - line.text.size());
    line.text += part.substr(0, size);
    part.remove_prefix(size);
    if (line.text.ends_with("\r\n")) line.text = WithUnixLines(std::move(line.text));
    if (line.text.back() == '\n' || line.text.size() == kLogEntryBytesMax) CloseLine(stream);
  }
}

void AttemptLog::CloseLine(OutputStream stream) {
  Line& line = lines_[static_cast<size_t>(stream)];
  if (line.text.empty() || full_) return line.text.clear();
  if (total_ + line.text.size() > limits_.log_bytes_max) {
    full_ = true;
    AddMarker(LogLimitText(limits_.log_bytes_max) + ", except its end in the run's output",
              line.begun);
    return line.text.clear();
  }
  if (!Fits(line.text.size())) {
    dropped_ += line.text.size();
    return line.text.clear();
  }
  if (dropped_ > 0) {
    AddMarker(fmt::format("{} bytes are missing here: the log was not collected in time", dropped_),
              line.begun);
    dropped_ = 0;
  }
  total_ += line.text.size();
  AddEntry(stream == OutputStream::kOut ? LogStream::kStdout : LogStream::kStderr,
           std::exchange(line.text, {}), line.begun);
}

void AttemptLog::AddEntry(LogStream stream, std::string text, WallTime time) {
  if (open_.count == 0) open_.first_seq = next_seq_;
  const size_t before = open_.entries.size();
  AppendEntry(open_.entries, {.time = time, .stream = stream, .text = std::move(text)});
  const size_t bytes = open_.entries.size() - before;
  waiting_ += bytes;
  budget_.used += bytes;
  ++open_.count;
  ++next_seq_;
  if (open_.entries.size() >= kChunkBytes) CloseChunk(false);
}

// Markers are small and rare, so they do not count against the limits that they report.
void AttemptLog::AddMarker(std::string text, WallTime time) {
  AddEntry(LogStream::kCarillon, std::move(text) + "\n", time);
}

bool AttemptLog::Fits(size_t bytes) const {
  return waiting_ + bytes <= limits_.waiting_bytes_max && budget_.used + bytes <= budget_.bytes_max;
}

void AttemptLog::CloseChunk(bool last) {
  open_.last = last;
  if (open_.count == 0) open_.first_seq = next_seq_;
  chunks_.push_back(std::exchange(open_, {}));
  open_since_ = {};
}

// The streams in the order in which their unfinished lines began.
std::array<OutputStream, 2> AttemptLog::OldestFirst() const {
  const bool err_first = lines_[1].order < lines_[0].order;
  if (err_first) return {OutputStream::kErr, OutputStream::kOut};
  return {OutputStream::kOut, OutputStream::kErr};
}

void AttemptLog::CloseOldLines(SteadyTime now) {
  for (const OutputStream stream : OldestFirst()) {
    const Line& line = lines_[static_cast<size_t>(stream)];
    if (line.text.empty() || now < line.waiting_since + kLinePatience) continue;
    CloseLine(stream);
    if (open_.count > 0 && open_since_ == SteadyTime{}) open_since_ = now;
  }
}

void AttemptLog::Note(std::string text, Now now) {
  if (ended_) return;
  AddMarker(std::move(text), now.wall);
  if (open_.count > 0 && open_since_ == SteadyTime{}) open_since_ = now.steady;
}

void AttemptLog::End(Now now, std::string note) {
  if (ended_) return;
  for (const OutputStream stream : OldestFirst()) CloseLine(stream);
  if (dropped_ > 0) {
    AddMarker(fmt::format("{} bytes are missing here: the log was not collected in time",
                          std::exchange(dropped_, 0)),
              now.wall);
  }
  if (!note.empty()) AddMarker(std::move(note), now.wall);
  ended_ = true;
  if (next_seq_ > 1) CloseChunk(true);
}

const LogChunk* AttemptLog::Take(SteadyTime now) {
  CloseOldLines(now);
  if (open_.count > 0 && now >= open_since_ + kGather) CloseChunk(false);
  return reported_ < chunks_.size() ? &chunks_[reported_++] : nullptr;
}

SteadyTime AttemptLog::NextDue() const {
  if (reported_ < chunks_.size()) return SteadyTime{};
  SteadyTime next = open_.count > 0 ? open_since_ + kGather : SteadyTime::max();
  for (const Line& line : lines_) {
    if (!line.text.empty()) next = std::min(next, line.waiting_since + kLinePatience);
  }
  return next;
}

void AttemptLog::Confirm(uint64_t first_seq) {
  const auto found = std::find_if(chunks_.begin(), chunks_.end(), [&](const LogChunk& chunk) {
    return chunk.first_seq == first_seq;
  });
  if (found == chunks_.end()) return;
  waiting_ -= found->entries.size();
  budget_.used -= found->entries.size();
  if (static_cast<size_t>(found - chunks_.begin()) < reported_) --reported_;
  chunks_.erase(found);
}

}  // namespace carillon::executor
