// Masks the values of secrets in a stream of output.
//
// Each stretch of bytes that belongs to a value, or to one line of a value, is replaced by "***";
// line ends stay. The result does not depend on how the stream is split: bytes that may still turn
// out to be part of a value are held back.
//
//   values "hunter22", fed "pass hun" "ter22!"   ->   "pass " "***!"
//
// A value is also found where it is escaped as in JSON, C, a shell or a URL, in any mixture of the
// possible escapes, and in the forms of secret_forms.h (quoted for a shell, HTML, base64).
//
// Place    Between the pipes of a running attempt and everything that keeps its output.
// Threads  SecretPatterns is immutable; a masker has one owner.
// Owns     Held-back output: at most as many bytes as the longest value has, escaped.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/output/escape_view.h"

namespace carillon::executor {

// The patterns to find, as an Aho-Corasick automaton: one step per byte, however many values.
class SecretPatterns {
 public:
  // Shorter lines of a value are not patterns of their own: they would match everywhere.
  static constexpr size_t kLineBytesMin = 4;

  explicit SecretPatterns(const std::vector<std::string>& values);

  using State = uint32_t;
  static constexpr State kStart = 0;
  State Next(State state, char byte) const;
  // True if a pattern begins with `byte`.
  bool Begins(char byte) const { return first_[static_cast<unsigned char>(byte)] != 0; }
  // The number of bytes up to here that may be the beginning of a pattern.
  size_t depth(State state) const { return nodes_[state].depth; }
  // The length of the longest pattern that ends here; 0 = none.
  size_t match(State state) const { return nodes_[state].match; }

 private:
  struct Node {
    State child = 0;  // first child; 0 = none
    State sibling = 0;
    State fail = 0;  // node of the longest proper suffix that also begins a pattern
    uint32_t depth = 0;
    uint32_t match = 0;
    char byte = 0;
  };
  void Add(std::string_view pattern);
  void AddLines(std::string_view value);
  void Connect();
  State Child(State state, char byte) const;

  std::vector<Node> nodes_{1};
  std::array<State, 256> first_{};  // the children of the start
};

// A whole text, masked. `patterns`: null without secrets.
std::string Masked(const std::shared_ptr<const SecretPatterns>& patterns, std::string_view text);

class SecretMasker {
 public:
  // Shared: both streams of an attempt use the same patterns.
  explicit SecretMasker(std::shared_ptr<const SecretPatterns> patterns)
      : patterns_(std::move(patterns)) {}

  // The part of the output that can be shown now.
  std::string Feed(std::string_view bytes);
  // Call it when no more bytes follow; returns the bytes held back. If a value was not completed,
  // the beginning of the value is shown.
  std::string End();

 private:
  struct Stretch {
    uint64_t from = 0;
    uint64_t to = 0;
  };
  // The stream with one kind of escapes taken back. Where it has none, it would read the same as
  // the stream itself, and rests.
  struct View {
    EscapeView escapes;
    bool active = false;
    SecretPatterns::State state = SecretPatterns::kStart;
    std::deque<uint64_t> from = {};  // of each byte that may belong to a pattern: where it begins
  };
  bool IsEscape(char byte) const {
    return views_[0].escapes.Begins(byte) || views_[1].escapes.Begins(byte);
  }
  void Look(View& view, char byte, uint64_t at);
  bool SameAsStream(const View& view, uint64_t at) const;
  uint64_t Undecided(uint64_t at) const;
  void Cover(Stretch found);
  std::string ShowUntil(uint64_t end);
  void Show(std::string_view bytes, bool covered, std::string& out);

  const std::shared_ptr<const SecretPatterns> patterns_;
  SecretPatterns::State state_ = SecretPatterns::kStart;
  std::array<View, 2> views_{View{EscapeView(EscapeView::Kind::kBackslash)},
                             View{EscapeView(EscapeView::Kind::kPercent)}};
  bool viewing_ = false;  // a view is active
  std::string held_;
  uint64_t shown_ = 0;           // bytes of the stream before held_
  std::deque<Stretch> covered_;  // ascending, disjoint; not yet fully shown
  bool masking_ = false;         // the last byte shown is part of a "***"
};

}  // namespace carillon::executor
