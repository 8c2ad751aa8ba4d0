// The control link inside one process: any number of executors and members, each pair connected
// while both ends exist.
//
// Place    The link of a standalone server, and of the simulator, which adds faults to it.
// Threads  Thread-safe. The switchboard outlives its ends. A wake-up runs on the sender's thread,
//          outside the lock. When an end is destroyed, a call of its wake-up may still be in
//          progress; no later call follows. So destroy an end only after its peers' threads have
//          stopped, or if the target of the wake-up outlives such a call.
// Errors   Send: kUnavailable: the other end does not exist. kExhausted: the queue of the other end
//          holds `messages_max` messages.
// Always   Messages of one pair arrive in order and once. If an end is destroyed, the messages that
//          wait there are lost. Close does nothing: inside a process no stream can hang.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/ports/executor_link.h"

namespace carillon::memory {

class MemorySwitchboard {
 public:
  struct Options {
    size_t messages_max = 16'384;  // most messages that wait at one end
  };
  MemorySwitchboard() : MemorySwitchboard(Options{}) {}
  explicit MemorySwitchboard(Options options) : options_(options) {}

  // A member has at most one live hub, an (executor, incarnation) at most one live link.
  std::unique_ptr<ExecutorHub> OpenHub(const MemberId& member);
  std::unique_ptr<ExecutorLink> OpenLink(const ExecutorId& executor,
                                         const Incarnation& incarnation);

 private:
  friend class MemoryHub;
  friend class MemoryLink;
  using ExecutorKey = ExecutorProcess;

  template <typename Message>
  struct End {
    std::deque<Message> waiting;
    std::function<void()> wake;
  };

  Status ToHub(const MemberId& member, ExecutorMessage message);
  Status ToLink(const ExecutorKey& executor, MemberMessage message);

  const Options options_;
  Mutex mu_;
  // Tells every hub that this executor's link has ended.
  void LinkEnded(const ExecutorKey& executor);

  std::map<MemberId, End<ExecutorMessage>> hubs_ GUARDED_BY(mu_);
  std::map<ExecutorKey, End<MemberMessage>> links_ GUARDED_BY(mu_);
  std::map<MemberId, std::set<ExecutorKey>> ended_ GUARDED_BY(mu_);  // for TakeEnded, by hub
};

}  // namespace carillon::memory
