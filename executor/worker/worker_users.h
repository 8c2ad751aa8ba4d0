// The users whose programs may attach, and the applications that they may offer
// (executor.worker_users).
//
// Users are looked up in the user directory by their names. It may be away, or not know a user yet,
// as at the start of a host. So a user that is not known is looked up again, and as long as one is
// missing nobody can say of another user that it is not the missing one.
//
// Threads  Thread-safe. Owns a thread that asks the directory; nothing else waits for it.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "common/base/time.h"

namespace carillon::executor {

class WorkerUsers {
 public:
  enum class Answer { kYes, kNo, kUnknown };
  // The user with this name, nullopt if it is not known at the moment.
  using LookUp = std::function<std::optional<uid_t>(const std::string& name)>;

  static constexpr Duration kLookAgainMin = 1s;  // and twice as long each time
  static constexpr Duration kLookAgainMax = 60s;

  // `users`: the applications, separated by "|", by the names or numbers of users; "*" = all. The
  // user of this process may offer all of them.
  explicit WorkerUsers(std::map<std::string, std::string> users, LookUp look_up = &AskSystem);
  ~WorkerUsers();

  // True if this user may offer something, as far as is known.
  bool Admits(uid_t uid) const;
  Answer MayOffer(uid_t uid, std::string_view app) const;
  // For messages.
  std::string NameOf(uid_t uid) const;

 private:
  static std::optional<uid_t> AskSystem(const std::string& name);
  void Run();
  bool LookAtAll();

  const std::map<std::string, std::string> users_;
  const LookUp look_up_;
  mutable std::mutex mu_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::map<uid_t, std::string> known_;  // names, by their users
  bool complete_ = false;
  std::thread thread_;
};

}  // namespace carillon::executor
