// Reads a stream as its reader would who takes one kind of escapes back, byte by byte.
//
//   kBackslash   JSON, C, shells:  pa\"ss\u000aword \xe4 \303 \  ->  pa"ss⏎word …
//   kPercent     URLs and forms:   a%2Fb%2fc+d                   ->  a/b/c d
//
// Place    Secrets are looked for in what it reads (secret_masker.h).
// Threads  One owner.
// Always   What is no complete escape is itself. The result does not depend on how the stream is
//          split.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace carillon::executor {

class EscapeView {
 public:
  enum class Kind { kBackslash, kPercent };

  explicit EscapeView(Kind kind) : kind_(kind) {}

  // True if an escape can begin with `byte`.
  bool Begins(char byte) const {
    return kind_ == Kind::kBackslash ? byte == '\\' : byte == '%' || byte == '+';
  }
  // Takes the byte at position `at` of the stream, which follows the one before. Calls
  // `emit(byte, from, to)` for each byte that is now known, with the stretch of the stream from
  // which it was read.
  template <typename Emit>
  void Step(char byte, uint64_t at, const Emit& emit) {
    if (escape_.empty() && !Begins(byte)) return emit(byte, at, at + 1);
    if (escape_.empty()) from_ = at;
    escape_ += byte;
    std::string decoded;
    const Reading reading = Read(decoded);
    if (reading == Reading::kIncomplete) return;
    const std::string whole = std::move(escape_);
    escape_.clear();
    const uint64_t from = from_;
    if (reading == Reading::kEscape) {
      for (const char one : decoded) emit(one, from, at + 1);
      return;
    }
    emit(whole.front(), from, from + 1);
    for (size_t i = 1; i < whole.size(); ++i) Step(whole[i], from + i, emit);
  }

  // Forgets an escape that is not complete.
  void Reset() { escape_.clear(); }
  // Within an escape that is not complete yet, which began at from().
  bool within() const { return !escape_.empty(); }
  uint64_t from() const { return from_; }

 private:
  enum class Reading { kIncomplete, kEscape, kNone };
  Reading Read(std::string& decoded) const;

  Kind kind_;
  std::string escape_;
  uint64_t from_ = 0;
};

}  // namespace carillon::executor
