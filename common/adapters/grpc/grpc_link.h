// The executor's end of the control link: one stream per member, reopened when it ends.
//
// Place    Every executor daemon; its in-memory counterpart is memory_link.
// Threads  Thread-safe; a thread of its own connects, gRPC's threads serve the streams and call
//          the wake-up.
// Errors   Send: kUnavailable until the member has identified itself on the stream, kExhausted when
//          the stream's queue is full.
// Always   A member must identify itself: another process at a member's old address is ignored.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/ports/coordinator.h"
#include "common/ports/executor_link.h"
#include "common/tls/certificates.h"

namespace carillon::rpc {

struct LinkOptions {
  ExecutorId executor;
  Incarnation incarnation;
  std::string join_secret = {};
  size_t inbox_max = 16'384;   // received messages, of all members
  size_t outbox_max = 16'384;  // unsent messages, of one stream
  // Limit of the inbox, and of each stream's queue. A full inbox accepts one more message
  // per stream.
  size_t queue_bytes_max = size_t{64} << 20;
  uint64_t seed = 1;  // seeds the jitter of the back-off
};

// Returns the executor's certificate and key. Called for each new stream, so that a stream opened
// after a renewal uses the new certificate. If the identity is not empty, the stream uses TLS. The
// member must then have a certificate of the same authority for the member's name.
using CurrentIdentity = std::function<tls::Identity()>;

class GrpcLink : public ExecutorLink {
 public:
  // Without `identity` the streams do not use TLS.
  static std::unique_ptr<GrpcLink> Make(const LinkOptions& options, const Clock& clock,
                                        CurrentIdentity identity = {});
  // Keeps a stream to each of `members` that has a grpc_address. A member without an id is the one
  // that answers at the address. If a member is no longer listed, a
  // working stream to this member stays until the stream ends. The member may still own segments.
  virtual void SetMembers(const std::vector<MemberInfo>& members) = 0;
  // Returns the keys of the current members to which this executor has, or had, a stream.
  virtual std::vector<std::string> public_keys() = 0;
};

}  // namespace carillon::rpc
