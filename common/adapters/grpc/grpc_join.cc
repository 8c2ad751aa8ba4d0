#include "common/adapters/grpc/grpc_join.h"

#include <future>

#include "common/adapters/grpc/link_credentials.h"
#include "common/adapters/grpc/link_protocol.h"
#include "common/adapters/grpc/stream_outbox.h"

namespace carillon::rpc {
namespace {

constexpr int64_t kAnswerMs = 10'000;

}  // namespace

Result<std::string> Join(const JoinTarget& target, const tls::Identity& identity,
                         const JoinRequest& request) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const std::string& id = target.member.value();
  const std::string name = id.empty() ? std::string(tls::kAnyMember) : id;
  const auto credentials = ChannelCredentials(identity, name, arguments);
  grpc::GenericStub stub(grpc::CreateCustomChannel(target.address, credentials, arguments));
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(kAnswerMs, GPR_TIMESPAN));
  context.AddMetadata(kExecutorMetadata, request.executor.value());
  if (!request.token.empty()) context.AddMetadata(kSecretMetadata, "Bearer " + request.token);
  const grpc::ByteBuffer sent = ToBuffer(request.request);
  grpc::ByteBuffer answer;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, kJoinMethod, grpc::StubOptions(), &sent, &answer,
                 [&done](const grpc::Status& status) { done.set_value(status); });
  const grpc::Status status = done.get_future().get();
  if (status.ok()) return ToBytes(answer);
  const bool denied = status.error_code() == grpc::StatusCode::PERMISSION_DENIED ||
                      status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
                      status.error_code() == grpc::StatusCode::INVALID_ARGUMENT;
  return Error{denied ? ErrorCode::kDenied : ErrorCode::kUnavailable,
               "join: member=" + id + " at " + target.address + ": " + status.error_message()};
}

}  // namespace carillon::rpc
