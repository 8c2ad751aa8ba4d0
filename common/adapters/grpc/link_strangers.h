// The connections of the control link on which no executor has attached, by the network that they
// come from, and whether one more may come. Pure.
//
// A member that was restarted gets its whole fleet at once, and a fleet may share one address. So
// many connections may be new; only few may still be without an executor after some seconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace carillon::rpc {

class LinkStrangers {
 public:
  static constexpr int64_t kNewS = 6;  // whole seconds; a handshake takes less (kHandshakeMs)
  // All of one network, for each that is not new. More handshakes at once would take longer than
  // each of them may.
  static constexpr size_t kOfOneNew = 8;

  // Of one network: `old_max` that are not new, and at most `all_max` in all.
  LinkStrangers(size_t old_max, size_t all_max)
      : old_max_(old_max), all_max_(std::max(old_max, all_max)) {}

  bool MayCome(const std::string& network, int64_t now_s) const {
    if (old_max_ == 0) return false;
    const auto found = of_.find(network);
    if (found == of_.end() || found->second.size() < old_max_) return true;
    if (found->second.size() >= all_max_) return false;
    // The last of the oldest that may be old.
    return now_s - std::next(found->second.begin(), static_cast<long>(old_max_) - 1)->first < kNewS;
  }
  void Add(const std::string& network, const std::string& key, int64_t since_s) {
    of_[network].insert({since_s, key});
  }
  void Remove(const std::string& network, const std::string& key, int64_t since_s) {
    const auto found = of_.find(network);
    if (found == of_.end()) return;
    found->second.erase({since_s, key});
    if (found->second.empty()) of_.erase(found);
  }
  // Each with the time since when it is there, the oldest first.
  std::set<std::pair<int64_t, std::string>> Of(const std::string& network) const {
    const auto found = of_.find(network);
    return found == of_.end() ? std::set<std::pair<int64_t, std::string>>{} : found->second;
  }

 private:
  const size_t old_max_;
  const size_t all_max_;
  std::map<std::string, std::set<std::pair<int64_t, std::string>>> of_;
};

}  // namespace carillon::rpc
