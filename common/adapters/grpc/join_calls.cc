#include "common/adapters/grpc/join_calls.h"

#include <utility>

#include "common/adapters/grpc/stream_outbox.h"
#include "common/base/log.h"

namespace carillon::rpc {

// One call. gRPC owns it from CreateReactor until OnDone, which comes after it was answered.
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
  const JoinRequest& request() const { return request_; }

  void OnReadDone(bool ok) override {
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

JoinCalls::JoinCalls(IssueCertificate issue)
    : issue_(std::move(issue)), thread_([this] { Run(); }) {}

grpc::ServerGenericBidiReactor* JoinCalls::Take(const JoinRequest& who) {
  return new JoinCall(*this, who);
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
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
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
