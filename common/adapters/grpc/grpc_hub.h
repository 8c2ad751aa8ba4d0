// The member's end of the control link: a gRPC server that executors dial.
//
// Place    Every scheduler daemon; its in-memory counterpart is memory_link.
// Threads  Thread-safe; gRPC's own threads serve the streams and call the wake-up.
// Errors   Start: kInvalid: `identity` is invalid; or, without TLS, `join_secret` is empty or the
//          address is beyond loopback and not allowed. kUnavailable: the port is taken.
//          Send: kUnavailable: the executor has no stream. kExhausted: the stream's queue is full.
// Always   An executor must present the join secret or, with TLS, its own certificate. Otherwise
//          its stream is refused and counted before any message of the stream is read.
//          At most `strangers_max` connections of an address are open without a stream for more
//          than 5 s, and without a handshake none; for a shorter time, some times as many. All
//          connections take at most half of the process's descriptors. What is beyond is closed at
//          once. While the inbox is full, no stream is read. Messages
//          wait in the executors' queues.
#pragma once

#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/ports/executor_join.h"
#include "common/ports/executor_link.h"
#include "common/tls/certificates.h"

namespace carillon {
class Metrics;
}

namespace carillon::rpc {

struct HubOptions {
  MemberId member;
  std::string public_key;   // verifies this member's task bundles; 32 bytes
  std::string join_secret;  // required without TLS
  // If set, an executor needs a certificate of the same authority for its own id, but no secret.
  tls::Identity identity = {};
  // Issues certificates to executors that request one. If empty, every request is refused.
  IssueCertificate join = {};
  Duration join_patience = 10s;  // limit for the arrival of an executor's certificate request
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0 = any
  bool allow_beyond_loopback = false;
  size_t strangers_max = 64;   // connections of an address without an executor for some seconds
  size_t inbox_max = 16'384;   // received messages, of all executors
  size_t outbox_max = 16'384;  // unsent messages, of one stream
  // Limit of the inbox, and of each stream's queue. A full inbox accepts one more message
  // per stream.
  size_t queue_bytes_max = size_t{64} << 20;
  Metrics* metrics = nullptr;  // must outlive the hub
};

class GrpcHub : public ExecutorHub {
 public:
  static Result<std::unique_ptr<GrpcHub>> Start(const HubOptions& options, const Clock& clock);
  // The address for executors, "127.0.0.1:8641".
  virtual std::string endpoint() const = 0;
};

}  // namespace carillon::rpc
