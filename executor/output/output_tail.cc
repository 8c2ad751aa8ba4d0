#include "executor/output/output_tail.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/domain/line_ends.h"

namespace carillon::executor {
namespace {

constexpr std::array<std::string_view, 2> kStreamNames = {"stdout", "stderr"};

}  // namespace

void OutputTail::Append(OutputStream which, std::string_view bytes) {
  if (bytes.empty()) return;
  Stream& stream = streams_[static_cast<size_t>(which)];
  if (bytes.size() > bytes_max_) {
    const size_t skipped = bytes.size() - bytes_max_;
    CutFront(stream, stream.kept.size() - stream.dead);
    stream.cut += skipped;
    bytes.remove_prefix(skipped);
    if (bytes.empty()) return;
  }
  if (last_ != which || stream.pieces.empty()) {
    stream.pieces.push_back({next_order_++, 0});
    last_ = which;
  }
  stream.pieces.back().size += bytes.size();
  stream.kept.append(bytes);
  const size_t kept = stream.kept.size() - stream.dead;
  if (kept > bytes_max_) CutFront(stream, kept - bytes_max_);
}

void OutputTail::CutFront(Stream& stream, size_t count) {
  stream.cut += count;
  stream.dead += count;
  while (count > 0) {
    Piece& piece = stream.pieces.front();
    const size_t taken = std::min(count, piece.size);
    piece.size -= taken;
    count -= taken;
    if (piece.size == 0) stream.pieces.pop_front();
  }
  // Dead bytes are erased in bulk, not at each cut, so that a long line costs linear time.
  if (stream.dead > bytes_max_) {
    stream.kept.erase(0, stream.dead);
    stream.dead = 0;
  }
}

std::string OutputTail::Render() const {
  std::string text;
  text.reserve(streams_[0].kept.size() + streams_[1].kept.size() + 128);
  std::array<size_t, 2> next = {0, 0};
  std::array<size_t, 2> offset = {streams_[0].dead, streams_[1].dead};
  for (;;) {
    const bool out_left = next[0] < streams_[0].pieces.size();
    const bool err_left = next[1] < streams_[1].pieces.size();
    if (!out_left && !err_left) break;
    const bool take_err = !out_left || (err_left && streams_[1].pieces[next[1]].order <
                                                        streams_[0].pieces[next[0]].order);
    const size_t which = take_err ? 1 : 0;
    const Stream& stream = streams_[which];
    if (next[which] == 0 && stream.cut > 0) {
      if (!text.empty() && text.back() != '\n') text.push_back('\n');
      fmt::format_to(std::back_inserter(text), "[carillon: the first {} bytes of {} were cut]\n",
                     stream.cut, kStreamNames[which]);
    }
    const size_t size = stream.pieces[next[which]].size;
    text.append(stream.kept, offset[which], size);
    offset[which] += size;
    ++next[which];
  }
  return WithUnixLines(std::move(text));
}

}  // namespace carillon::executor
