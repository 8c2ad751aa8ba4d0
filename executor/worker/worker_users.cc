#include "executor/worker/worker_users.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace carillon::executor {
namespace {

bool Lists(std::string_view apps, std::string_view app) {
  while (!apps.empty()) {
    const size_t bar = std::min(apps.find('|'), apps.size());
    const std::string_view one = apps.substr(0, bar);
    if (one == "*" || one == app) return true;
    apps.remove_prefix(std::min(bar + 1, apps.size()));
  }
  return false;
}

std::optional<uid_t> NumberOf(const std::string& name) {
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), uid);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return uid;
}

}  // namespace

WorkerUsers::WorkerUsers(std::map<std::string, std::string> users, LookUp look_up)
    : users_(std::move(users)), look_up_(std::move(look_up)) {
  size_t numbers = 0;
  for (const auto& [name, apps] : users_) {
    const std::optional<uid_t> uid = NumberOf(name);
    if (!uid) continue;
    known_[*uid] = name;
    ++numbers;
  }
  complete_ = numbers == users_.size();
  if (!complete_) thread_ = std::thread([this] { Run(); });
}

WorkerUsers::~WorkerUsers() {
  {
    std::lock_guard lock(mu_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::optional<uid_t> WorkerUsers::AskSystem(const std::string& name) {
  std::array<char, 16'384> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return std::nullopt;
  }
  return entry.pw_uid;
}

void WorkerUsers::Run() {
  Duration wait = kLookAgainMin;
  while (true) {
    const bool complete = LookAtAll();
    if (complete) wait = kLookAgainMax;
    std::unique_lock lock(mu_);
    if (changed_.wait_for(lock, wait, [this] { return stop_; })) return;
    wait = std::min(2 * wait, kLookAgainMax);
  }
}

// A user that is not known now keeps the number that it had.
bool WorkerUsers::LookAtAll() {
  bool complete = true;
  for (const auto& [name, apps] : users_) {
    if (NumberOf(name)) continue;
    const std::optional<uid_t> uid = look_up_(name);
    std::lock_guard lock(mu_);
    const auto had = std::find_if(known_.begin(), known_.end(),
                                  [&](const auto& one) { return one.second == name; });
    if (!uid) {
      complete = complete && had != known_.end();
      continue;
    }
    if (had != known_.end()) known_.erase(had);
    known_[*uid] = name;
  }
  std::lock_guard lock(mu_);
  complete_ = complete;
  return complete;
}

bool WorkerUsers::Admits(uid_t uid) const {
  if (uid == geteuid()) return true;
  std::lock_guard lock(mu_);
  return known_.contains(uid);
}

WorkerUsers::Answer WorkerUsers::MayOffer(uid_t uid, std::string_view app) const {
  if (uid == geteuid()) return Answer::kYes;
  std::lock_guard lock(mu_);
  const auto found = known_.find(uid);
  if (found == known_.end()) return complete_ ? Answer::kNo : Answer::kUnknown;
  return Lists(users_.at(found->second), app) ? Answer::kYes : Answer::kNo;
}

std::string WorkerUsers::NameOf(uid_t uid) const {
  std::lock_guard lock(mu_);
  const auto found = known_.find(uid);
  return found == known_.end() ? fmt::format("{}", uid) : found->second;
}

}  // namespace carillon::executor
