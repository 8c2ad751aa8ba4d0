// A set of small numbers as a bitmap, for executors by their index. 10,000 of them are 157 words,
// so that a search of two sets together takes less than a microsecond.
//
// Threads  Not thread-safe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace carillon::scheduler {

class IndexSet {
 public:
  void Insert(size_t index) {
    if (index / kBits >= words_.size()) words_.resize(index / kBits + 1);
    words_[index / kBits] |= BitOf(index);
  }
  void Erase(size_t index) {
    if (index / kBits < words_.size()) words_[index / kBits] &= ~BitOf(index);
  }
  bool Contains(size_t index) const {
    return index / kBits < words_.size() && (words_[index / kBits] & BitOf(index)) != 0;
  }
  void Clear() { words_.clear(); }

  // The number of indexes in both sets.
  size_t CountIn(const IndexSet& other) const {
    size_t count = 0;
    const size_t words = std::min(words_.size(), other.words_.size());
    for (size_t i = 0; i < words; ++i) {
      count += static_cast<size_t>(std::popcount(words_[i] & other.words_[i]));
    }
    return count;
  }
  // The index in both sets before which `nth` others are, from the lowest. It must exist.
  size_t NthIn(const IndexSet& other, size_t nth) const {
    for (size_t i = 0;; ++i) {
      uint64_t word = words_[i] & other.words_[i];
      const auto here = static_cast<size_t>(std::popcount(word));
      if (nth >= here) {
        nth -= here;
        continue;
      }
      for (; nth > 0; --nth) word &= word - 1;
      return i * kBits + static_cast<size_t>(std::countr_zero(word));
    }
  }
  // True if `holds` is true for an index of the set.
  template <typename Holds>
  bool Any(const Holds& holds) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        if (holds(i * kBits + static_cast<size_t>(std::countr_zero(word)))) return true;
      }
    }
    return false;
  }
  // The first index in both sets that is not below `from`.
  std::optional<size_t> FirstIn(const IndexSet& other, size_t from) const {
    const size_t words = std::min(words_.size(), other.words_.size());
    for (size_t i = from / kBits; i < words; ++i) {
      uint64_t word = words_[i] & other.words_[i];
      if (i == from / kBits) word &= ~uint64_t{0} << (from % kBits);
      if (word != 0) return i * kBits + static_cast<size_t>(std::countr_zero(word));
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kBits = 64;
  static uint64_t BitOf(size_t index) { return uint64_t{1} << (index % kBits); }

  std::vector<uint64_t> words_;
};

}  // namespace carillon::scheduler
