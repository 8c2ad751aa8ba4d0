// A resolver of host names for tests: names that begin with "silent" get no answer until Release.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "executor/http/name_resolver.h"

namespace carillon::executor {

class HeldLookup final : public HostLookup {
 public:
  explicit HeldLookup(std::map<std::string, std::vector<std::string>> addresses = {})
      : addresses_(std::move(addresses)) {}

  Result<std::vector<std::string>> AddressesOf(const std::string& host) const override {
    std::unique_lock lock(mu_);
    ++asked_[host];
    changed_.notify_all();
    if (host.starts_with("silent")) changed_.wait(lock, [&] { return released_; });
    const auto known = addresses_.find(host);
    if (known == addresses_.end())
      return Error{ErrorCode::kNotFound, "could not resolve host " + host};
    return known->second;
  }
  // Lets everything that waits, or asks later, have its answer.
  void Release() {
    const std::lock_guard lock(mu_);
    released_ = true;
    changed_.notify_all();
  }
  // Waits until `count` lookups have begun in all.
  void AwaitAsked(size_t count) const {
    std::unique_lock lock(mu_);
    changed_.wait(lock, [&] { return Count() >= count; });
  }
  size_t AskedFor(const std::string& host) const {
    const std::lock_guard lock(mu_);
    const auto asked = asked_.find(host);
    return asked == asked_.end() ? 0 : asked->second;
  }
  size_t Asked() const {
    const std::lock_guard lock(mu_);
    return Count();
  }

 private:
  size_t Count() const {
    size_t count = 0;
    for (const auto& [host, asked] : asked_) count += asked;
    return count;
  }

  const std::map<std::string, std::vector<std::string>> addresses_;
  mutable std::mutex mu_;
  mutable std::condition_variable changed_;
  mutable std::map<std::string, size_t> asked_;
  bool released_ = false;
};

}  // namespace carillon::executor
