#include "common/adapters/grpc/join_calls.h"

#include <utility>

#include "common/adapters/grpc/stream_outbox.h"
#include "common/base/log.h"

namespace carillon::rpc {

// One call. gRPC owns this object from CreateReactor until OnDone. gRPC calls OnDone after the
// answer was sent.
class JoinCall final : public grpc::ServerGenericBidiReactor {
 public:
  JoinCall(JoinCalls& calls, JoinRequest request) : calls_(calls), request_(std::move(request)) {
    StartRead(&incoming_);
  }

  void Answer(const Result<std::string>& issued) {
    if (issued.ok()) {
      outgoing_ = ToBuffer(*issued);
      StartWriteAndFinish(&outgoing_, grpc::WriteOptions(), grpc::Status::OK);
      return;
    }
    const bool denied = issued.code() == ErrorCode::kDenied || issued.code() == ErrorCode::kInvalid;
    Finish({denied ? grpc::StatusCode::PERMISSION_DENIED : grpc::StatusCode::UNAVAILABLE,
            issued.error().message});
  }
  void GiveUp() {
    Finish({grpc::StatusCode::DEADLINE_EXCEEDED, "no request for a certificate in time"});
  }
  const JoinRequest& request() const { return request_; }

  void OnReadDone(bool ok) override {
    if (!calls_.Ended(this)) return;
    request_.request = ok ? ToBytes(incoming_) : "";
    if (!ok || request_.request.size() > kJoinBytesMax) {
      Finish({grpc::StatusCode::INVALID_ARGUMENT, "no request for a certificate"});
    } else {
      calls_.Put(this);
    }
  }
  void OnDone() override { delete this; }

 private:
  JoinCalls& calls_;
  JoinRequest request_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
};

JoinCalls::JoinCalls(IssueCertificate issue, const Clock& clock, Duration patience,
                     std::function<void()> refused)
    : issue_(std::move(issue)),
      clock_(clock),
      patience_(patience),
      refused_(std::move(refused)),
      thread_([this] { Run(); }) {}

grpc::ServerGenericBidiReactor* JoinCalls::Take(const JoinRequest& who) {
  auto* const call = new JoinCall(*this, who);
  JoinCall* oldest = nullptr;
  {
    const std::lock_guard lock(mu_);
    unread_.push_back({call, clock_.Steady() + patience_});
    if (unread_.size() > kJoinsUnreadMax) {
      oldest = unread_.front().call;
      unread_.pop_front();
    }
  }
  if (oldest != nullptr) GiveUp(oldest);
  changed_.notify_one();
  return call;
}

bool JoinCalls::Ended(JoinCall* call) {
  const std::lock_guard lock(mu_);
  return std::erase_if(unread_, [call](const Unread& one) { return one.call == call; }) > 0;
}

// The call still exists, because only this function finishes a call that was removed from unread_.
void JoinCalls::GiveUp(JoinCall* call) {
  refused_();
  call->GiveUp();
}

JoinCall* JoinCalls::TakeOverdue() {
  if (unread_.empty() || clock_.Steady() < unread_.front().until) return nullptr;
  JoinCall* const call = unread_.front().call;
  unread_.pop_front();
  return call;
}

void JoinCalls::Put(JoinCall* call) {
  {
    const std::lock_guard lock(mu_);
    if (!stopping_ && waiting_.size() < kJoinsWaitingMax) {
      waiting_.push_back(call);
      call = nullptr;
    }
  }
  if (call != nullptr) {
    call->Answer(Error{ErrorCode::kExhausted, "too many executors join at once: try again"});
  }
  changed_.notify_one();
}

void JoinCalls::Run() {
  std::unique_lock lock(mu_);
  while (true) {
    while (JoinCall* const overdue = TakeOverdue()) {
      lock.unlock();
      GiveUp(overdue);
      lock.lock();
    }
    if (waiting_.empty()) {
      if (stopping_) return;
      if (unread_.empty()) {
        changed_.wait(lock);
      } else {
        changed_.wait_for(lock, unread_.front().until - clock_.Steady());
      }
      continue;
    }
    JoinCall* const call = waiting_.front();
    waiting_.pop_front();
    const bool answer = !stopping_;
    lock.unlock();
    Result<std::string> issued = Error{ErrorCode::kUnavailable, "this member stops"};
    if (answer) issued = issue_(call->request());
    if (issued.ok()) {
      log::Info("link", "a certificate for executor={}", call->request().executor.value());
    } else {
      log::Warn("link", "no certificate for executor={}: {}", call->request().executor.value(),
                issued.error().message);
    }
    call->Answer(issued);
    lock.lock();
  }
}

void JoinCalls::Stop() {
  {
    const std::lock_guard lock(mu_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace carillon::rpc
