// The executor's end of the control link: one stream to each member, dialled again when it ends.
//
// Place    Every executor daemon; its twin is memory_link.
// Threads  Thread-safe; one thread of its own dials, gRPC's threads serve the streams and call the
//          wake-up.
// Errors   Send: kUnavailable without a stream that was welcomed, kExhausted when its queue is
//          full.
// Always   A member is one that said so itself: another process behind a member's old address is
//          not talked to.
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
  // Set: called for each stream that begins; not empty: TLS with it, and with members that have a
  // certificate of its authority for their own name.
  std::function<tls::Identity()> identity = {};
  size_t inbox_max = 16'384;   // messages of all members
  size_t outbox_max = 16'384;  // messages of one stream
  // The limit of each of the two; the inbox holds one message of each stream beyond it.
  size_t queue_bytes_max = size_t{64} << 20;
  uint64_t seed = 1;  // of the back-off's jitter
};

class GrpcLink : public ExecutorLink {
 public:
  static std::unique_ptr<GrpcLink> Make(const LinkOptions& options, const Clock& clock);
  // Whom to keep a stream to: every member that has a grpc_address. A stream that works to one that
  // is not among them any more stays until it ends: it may still own segments.
  virtual void SetMembers(const std::vector<MemberInfo>& members) = 0;
  // Of the members this executor has or had a stream to, and that are still members.
  virtual std::vector<std::string> public_keys() = 0;
};

}  // namespace carillon::rpc
