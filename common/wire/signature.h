// Ed25519 over the bytes as sent, and the record headers that travel with a task bundle (P9).
//
// Threads  Immutable after construction; thread-safe.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "common/ports/message_bus.h"
#include "common/wire/task_codec.h"

namespace carillon {

// A member's signing key. The seed is 32 random bytes;
// the public key goes to executors when they register.
class Signer {
 public:
  static Signer FromSeed(const std::array<unsigned char, 32>& seed);
  static Signer Generate();
  std::string public_key() const;                  // 32 bytes
  std::string Sign(std::string_view bytes) const;  // 64 bytes

 private:
  Signer() = default;
  std::array<unsigned char, 64> secret_{};
  std::array<unsigned char, 32> public_{};
};

// `public_key` is 32 bytes; false for a wrong length, a wrong signature, other bytes.
bool VerifySignature(std::string_view public_key, std::string_view bytes,
                     std::string_view signature);

struct SealTarget {
  ExecutorId executor;
  Incarnation incarnation;
  WallTime expires;
};

// A record whose signature covers payload, target, incarnation and expiry.
BusRecord SealTasks(const std::vector<TaskMessage>& tasks, const SealTarget& target,
                    const Signer& signer, BusFormat format = BusFormat::kBinary);

// Why a record was not acted on; also the label of carillon_rejected_messages_total.
enum class Rejection {
  kNone,
  kOtherExecutor,
  kBadHeaders,
  kBadSignature,
  kExpired,
  kOtherIncarnation,
  kCorrupt
};
std::string_view Name(Rejection rejection);

struct OpenedTasks {
  Rejection rejection = Rejection::kNone;  // tasks are empty unless kNone
  std::vector<TaskMessage> tasks;
};

// The checks in the order of cost: target (kOtherExecutor is silent), incarnation, expiry against
// `now`, signature against any of `public_keys`, decoding.
OpenedTasks OpenTasks(const BusRecord& record, const ExecutorId& self,
                      const Incarnation& incarnation, WallTime now,
                      const std::vector<std::string>& public_keys);

}  // namespace carillon
