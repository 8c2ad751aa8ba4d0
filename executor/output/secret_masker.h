// Takes the values of secrets out of a stream of output.
//
// Every byte that is part of an occurrence of a value, or of a line of one, is left out, and each
// such stretch becomes "***"; line ends stay. The result does not depend on how the stream is cut:
// what may still turn out to be a value is held back.
//
//   values "hunter22", fed "pass hun" "ter22!"   ->   "pass " "***!"
//
// Only the value as it is: base64 or a quoted form of it is something else.
//
// Place    Between the pipes of a running attempt and everything that keeps its output.
// Threads  SecretPatterns is not changed after its construction; a masker has one owner.
// Owns     At most as many bytes as the longest value has.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace carillon::executor {

// What is looked for, as an Aho-Corasick automaton: one step a byte, however many values.
class SecretPatterns {
 public:
  // A shorter line of a value is not looked for on its own: it would be found everywhere.
  static constexpr size_t kLineBytesMin = 4;

  explicit SecretPatterns(const std::vector<std::string>& values);

  using State = uint32_t;
  static constexpr State kStart = 0;
  State Next(State state, char byte) const;
  // How many of the last bytes may be the beginning of something that is looked for.
  size_t depth(State state) const { return nodes_[state].depth; }
  // The length of the longest that ends here; 0 = none does.
  size_t match(State state) const { return nodes_[state].match; }

 private:
  struct Node {
    State child = 0;  // the first; 0 = none
    State sibling = 0;
    State fail = 0;  // of the longest proper suffix that is the beginning of something too
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

class SecretMasker {
 public:
  // shared: both streams of an attempt look for the same.
  explicit SecretMasker(std::shared_ptr<const SecretPatterns> patterns)
      : patterns_(std::move(patterns)) {}

  // What can be shown now.
  std::string Feed(std::string_view bytes);
  // Nothing follows: the rest. The beginning of a value that was never completed is shown.
  std::string End();

 private:
  struct Stretch {
    uint64_t from = 0;
    uint64_t to = 0;
  };
  void Cover(Stretch found);
  std::string ShowUntil(uint64_t end);
  void Show(std::string_view bytes, bool covered, std::string& out);

  const std::shared_ptr<const SecretPatterns> patterns_;
  SecretPatterns::State state_ = SecretPatterns::kStart;
  std::string held_;
  uint64_t shown_ = 0;           // bytes of the stream before held_
  std::deque<Stretch> covered_;  // ascending, apart; not wholly shown
  bool masking_ = false;         // the last byte that was shown stands for "***"
};

}  // namespace carillon::executor
