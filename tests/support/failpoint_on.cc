#include "tests/support/failpoint_on.h"

#include <atomic>
#include <map>
#include <memory>
#include <set>

#include "common/base/mutex.h"

namespace carillon::failpoint {
namespace {

struct Registry {
  Mutex mu;
  std::map<std::string, std::function<bool()>, std::less<>> armed GUARDED_BY(mu);
  std::map<std::string, uint64_t, std::less<>> reached GUARDED_BY(mu);
  std::set<std::string, std::less<>> broken GUARDED_BY(mu);
};

Registry& Instance() {
  static Registry* const registry = new Registry;
  return *registry;
}

}  // namespace

bool Hit(std::string_view name) {
  std::function<bool()> action;
  Registry& registry = Instance();
  {
    MutexLock lock(registry.mu);
    ++registry.reached[std::string(name)];
    const auto found = registry.armed.find(name);
    if (found == registry.armed.end()) return false;
    action = found->second;
  }
  return action();
}

bool Broken(std::string_view name) {
  Registry& registry = Instance();
  MutexLock lock(registry.mu);
  return registry.broken.count(name) > 0;
}

void Arm(const std::string& name, std::function<bool()> action) {
  MutexLock lock(Instance().mu);
  Instance().armed[name] = std::move(action);
}

void ArmTimes(const std::string& name, int times) {
  auto left = std::make_shared<std::atomic<int>>(times);
  Arm(name, [left] { return left->fetch_sub(1) > 0; });
}

void Break(const std::string& rule) {
  MutexLock lock(Instance().mu);
  Instance().broken.insert(rule);
}

void Reset() {
  MutexLock lock(Instance().mu);
  Instance().armed.clear();
  Instance().reached.clear();
  Instance().broken.clear();
}

uint64_t Reached(const std::string& name) {
  MutexLock lock(Instance().mu);
  const auto found = Instance().reached.find(name);
  return found == Instance().reached.end() ? 0 : found->second;
}

}  // namespace carillon::failpoint
