#include "common/adapters/memory/memory_directory.h"

#include <utility>

namespace carillon::memory {

class MemoryDirectory final : public MemberDirectory {
 public:
  explicit MemoryDirectory(MemoryEnsemble& ensemble)
      : ensemble_(ensemble), client_(ensemble.NewClient()) {}
  ~MemoryDirectory() override { Withdraw(); }

  Status Announce(const ExecutorId& executor, const Incarnation& incarnation) override {
    CARILLON_TRY(ensemble_.Announce(executor, incarnation));
    shown_ = incarnation;
    return {};
  }
  void Withdraw() override {
    if (shown_) ensemble_.Expire(*std::exchange(shown_, std::nullopt));
  }
  SessionState State() override {
    if (!shown_) return SessionState::kSuspended;
    return ensemble_.IsShown(*shown_) ? SessionState::kConnected : SessionState::kExpired;
  }
  std::vector<MemberInfo> Members() override { return client_->Members(); }
  void OnChange(std::function<void()> wake) override { client_->OnChange(std::move(wake)); }

 private:
  MemoryEnsemble& ensemble_;
  const std::unique_ptr<Coordinator> client_;
  std::optional<Incarnation> shown_;
};

std::unique_ptr<MemberDirectory> NewDirectory(MemoryEnsemble& ensemble) {
  return std::make_unique<MemoryDirectory>(ensemble);
}

}  // namespace carillon::memory
