#include "common/adapters/memory/memory_link.h"

#include <algorithm>

namespace carillon::memory {
namespace {

template <typename Message>
std::vector<Message> TakeUpTo(std::deque<Message>& waiting, size_t max) {
  std::vector<Message> taken;
  const size_t count = std::min(max, waiting.size());
  taken.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    taken.push_back(std::move(waiting.front()));
    waiting.pop_front();
  }
  return taken;
}

}  // namespace

class MemoryHub final : public ExecutorHub {
 public:
  MemoryHub(MemorySwitchboard& board, MemberId member) : board_(board), member_(std::move(member)) {
    MutexLock lock(board_.mu_);
    CARILLON_CHECK(board_.hubs_.try_emplace(member_).second, "a second hub of " + member_.value());
  }
  ~MemoryHub() override {
    MutexLock lock(board_.mu_);
    board_.hubs_.erase(member_);
    board_.ended_.erase(member_);
  }
  Status Send(const ExecutorId& executor, const Incarnation& incarnation,
              ToExecutor message) override {
    return board_.ToLink({executor, incarnation}, {member_, std::move(message)});
  }
  std::vector<ExecutorMessage> Receive(size_t max) override {
    MutexLock lock(board_.mu_);
    return TakeUpTo(board_.hubs_.at(member_).waiting, max);
  }
  std::vector<ExecutorProcess> TakeEnded() override {
    MutexLock lock(board_.mu_);
    std::vector<ExecutorProcess> gone;
    if (!board_.hubs_.at(member_).waiting.empty()) return gone;
    for (const ExecutorProcess& process : std::exchange(board_.ended_[member_], {})) {
      if (!board_.links_.contains(process)) gone.push_back(process);
    }
    return gone;
  }
  void Close(const ExecutorProcess&) override {}
  void OnReadable(std::function<void()> wake) override {
    MutexLock lock(board_.mu_);
    board_.hubs_.at(member_).wake = std::move(wake);
  }

 private:
  MemorySwitchboard& board_;
  const MemberId member_;
};

class MemoryLink final : public ExecutorLink {
 public:
  MemoryLink(MemorySwitchboard& board, ExecutorId executor, Incarnation incarnation)
      : board_(board), self_{std::move(executor), std::move(incarnation)} {
    MutexLock lock(board_.mu_);
    CARILLON_CHECK(board_.links_.try_emplace(self_).second,
                   "a second link of " + self_.executor.value());
  }
  ~MemoryLink() override { board_.LinkEnded(self_); }
  std::vector<MemberId> Members() override {
    MutexLock lock(board_.mu_);
    std::vector<MemberId> members;
    for (const auto& [member, end] : board_.hubs_) members.push_back(member);
    return members;
  }
  Status Send(const MemberId& member, FromExecutor message) override {
    return board_.ToHub(member, {self_.executor, self_.incarnation, std::move(message)});
  }
  std::vector<MemberMessage> Receive(size_t max) override {
    MutexLock lock(board_.mu_);
    return TakeUpTo(board_.links_.at(self_).waiting, max);
  }
  void OnReadable(std::function<void()> wake) override {
    MutexLock lock(board_.mu_);
    board_.links_.at(self_).wake = std::move(wake);
  }
  void Close(const MemberId&) override {}
  void MayWait(Duration) override {}

 private:
  MemorySwitchboard& board_;
  const ExecutorProcess self_;
};

std::unique_ptr<ExecutorHub> MemorySwitchboard::OpenHub(const MemberId& member) {
  return std::make_unique<MemoryHub>(*this, member);
}

std::unique_ptr<ExecutorLink> MemorySwitchboard::OpenLink(const ExecutorId& executor,
                                                          const Incarnation& incarnation) {
  return std::make_unique<MemoryLink>(*this, executor, incarnation);
}

Status MemorySwitchboard::ToHub(const MemberId& member, ExecutorMessage message) {
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    const auto found = hubs_.find(member);
    if (found == hubs_.end()) return {ErrorCode::kUnavailable, "no member " + member.value()};
    if (found->second.waiting.size() >= options_.messages_max) {
      return {ErrorCode::kExhausted, "link: the queue of member " + member.value() + " is full"};
    }
    found->second.waiting.push_back(std::move(message));
    wake = found->second.wake;
  }
  if (wake) wake();
  return {};
}

Status MemorySwitchboard::ToLink(const ExecutorKey& executor, MemberMessage message) {
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    const auto found = links_.find(executor);
    if (found == links_.end()) {
      return {ErrorCode::kUnavailable, "no executor " + executor.executor.value()};
    }
    if (found->second.waiting.size() >= options_.messages_max) {
      return {ErrorCode::kExhausted,
              "link: the queue of executor " + executor.executor.value() + " is full"};
    }
    found->second.waiting.push_back(std::move(message));
    wake = found->second.wake;
  }
  if (wake) wake();
  return {};
}

void MemorySwitchboard::LinkEnded(const ExecutorKey& executor) {
  std::vector<std::function<void()>> wakes;
  {
    MutexLock lock(mu_);
    links_.erase(executor);
    for (const auto& [member, hub] : hubs_) {
      ended_[member].insert(executor);
      if (hub.wake) wakes.push_back(hub.wake);
    }
  }
  for (const auto& wake : wakes) wake();
}

}  // namespace carillon::memory
