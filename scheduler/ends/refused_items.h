// The items of a regular look whose write the store has refused. The next look reads as many more,
// and comes to these last, so that however many they are, they hide no others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace carillon::scheduler {

template <typename Key>
class RefusedItems {
 public:
  static constexpr size_t kMax = 1'000;

  size_t count() const { return keys_.size(); }
  void Add(const Key& key) {
    if (keys_.size() < kMax) keys_.insert(key);
  }
  // Puts those that were refused before behind the others, and keeps `most` items. Forgets refused
  // ones that were not found again.
  template <typename Item, typename KeyOf>
  void PutLast(std::vector<Item>& found, size_t most, const KeyOf& key_of) {
    std::set<Key> still;
    for (const Item& item : found) {
      if (keys_.contains(key_of(item))) still.insert(key_of(item));
    }
    keys_ = std::move(still);
    std::ranges::stable_partition(found,
                                  [&](const Item& item) { return !keys_.contains(key_of(item)); });
    if (found.size() <= most) return;
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(most), found.end());
  }

 private:
  std::set<Key> keys_;
};

}  // namespace carillon::scheduler
