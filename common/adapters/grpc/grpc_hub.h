// The member's end of the control link: a gRPC server that executors dial.
//
// Place    Every scheduler daemon; its twin is memory_link.
// Threads  Thread-safe; gRPC's own threads serve the streams and call the wake-up.
// Errors   Start: kInvalid for an address beyond loopback without TLS that was not allowed, and for
//          an identity that is none, kUnavailable when
//          the port is taken. Send: kUnavailable without a stream, kExhausted when its queue is
//          full.
// Always   A stream without the join secret, or with TLS without the executor's certificate, is
//          refused and counted before a byte of it is read. When the inbox
//          is full its streams are not read until there is room: the executor's queue fills
//          instead.
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
  std::string public_key;   // of this member's task bundles, 32 bytes
  std::string join_secret;  // not empty, unless there is TLS
  // Set: executors need a certificate of the same authority for their own name, and no secret.
  tls::Identity identity = {};
  // Who answers executors that ask for such a certificate; empty: nobody does.
  IssueCertificate join = {};
  Duration join_patience = 10s;  // with one that does not say what it wants
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0 = any
  bool allow_beyond_loopback = false;
  size_t inbox_max = 16'384;   // messages of all executors
  size_t outbox_max = 16'384;  // messages of one stream
  // The limit of each of the two; the inbox holds one message of each stream beyond it.
  size_t queue_bytes_max = size_t{64} << 20;
  Metrics* metrics = nullptr;  // outlives the hub
};

class GrpcHub : public ExecutorHub {
 public:
  static Result<std::unique_ptr<GrpcHub>> Start(const HubOptions& options, const Clock& clock);
  // "127.0.0.1:8641": where executors find it.
  virtual std::string endpoint() const = 0;
};

}  // namespace carillon::rpc
