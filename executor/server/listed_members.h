// The directory of an executor that knows the addresses of its members by its settings.
//
// Threads  Thread-safe.
// Always   A second process of the executor is refused by the member, which cannot see it here.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "common/ports/member_directory.h"

namespace carillon::executor {

class ListedMembers final : public MemberDirectory {
 public:
  explicit ListedMembers(std::vector<MemberInfo> members) : members_(std::move(members)) {}

  Status Announce(const ExecutorId&, const Incarnation&) override { return {}; }
  void Withdraw() override {}
  SessionState State() override { return SessionState::kConnected; }
  std::vector<MemberInfo> Members() override { return members_; }
  void OnChange(std::function<void()>) override {}  // the list never changes

 private:
  const std::vector<MemberInfo> members_;
};

}  // namespace carillon::executor
