// The last bytes of a process's two streams, merged in the order of their arrival.
//
// Threads  Not thread-safe; one owner.
// Owns     At most bytes_max of each stream and a few bytes for each change of stream.
// Always   Accepts any bytes: NULs, text without newlines, invalid UTF-8.
//
// Example with bytes_max = 4: out "ab", err "X", out "cdef" keeps out "cdef" and err "X":
//   "X[carillon: the first 2 bytes of stdout were cut]\ncdef"
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace carillon::executor {

enum class OutputStream { kOut = 0, kErr = 1 };

class OutputTail {
 public:
  explicit OutputTail(size_t bytes_max) : bytes_max_(bytes_max) {}

  void Append(OutputStream stream, std::string_view bytes);

  // Both streams in order, with a marker line where the kept part of a truncated stream begins. A
  // line loses CRs at its end.
  std::string Render() const;
  bool truncated() const { return streams_[0].cut > 0 || streams_[1].cut > 0; }

 private:
  // Consecutive bytes of one stream, with no bytes of the other stream between them.
  struct Piece {
    uint64_t order = 0;
    size_t size = 0;
  };
  struct Stream {
    std::string kept;  // its first `dead` bytes are discarded already
    size_t dead = 0;
    uint64_t cut = 0;  // bytes that were discarded
    std::deque<Piece> pieces;
  };
  void CutFront(Stream& stream, size_t count);

  const size_t bytes_max_;
  uint64_t next_order_ = 1;
  OutputStream last_ = OutputStream::kOut;
  std::array<Stream, 2> streams_;
};

}  // namespace carillon::executor
