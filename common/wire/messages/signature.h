// Ed25519 signatures of task bundles, and the record headers that carry them (P9).
//
// Threads  Immutable after construction; thread-safe.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/ports/message_bus.h"
#include "common/wire/messages/task_codec.h"

namespace carillon {

// A member's signing key. The seed is 32 random bytes; executors get the public key when
// they register.
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

// `public_key` is 32 bytes; false for a wrong length or a signature that does not match.
bool VerifySignature(std::string_view public_key, std::string_view bytes,
                     std::string_view signature);

// The executor that may act on a task bundle, and the end of its validity.
struct SealTarget {
  ExecutorId executor;
  Incarnation incarnation;
  WallTime expires;
};

// The target in the headers of a record of tasks, unchecked and without the expiry; nullopt if a
// header is missing.
std::optional<SealTarget> TargetOf(const BusRecord& record);

// Encodes the tasks into a record whose signature covers payload, target, incarnation and expiry.
BusRecord SealTasks(const std::vector<TaskMessage>& tasks, const SealTarget& target,
                    const Signer& signer, BusFormat format = BusFormat::kBinary);

// The reason why a record was ignored; also the label of carillon_rejected_messages_total.
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
  std::vector<UnreadableTask> unreadable;  // the tasks of the record that are left out
};

// Checks in this order, the cheapest first: target (kOtherExecutor is not an error), incarnation,
// expiry against `now`, signature with any of `public_keys`. Then decodes the tasks.
OpenedTasks OpenTasks(const BusRecord& record, const ExecutorId& self,
                      const Incarnation& incarnation, WallTime now,
                      const std::vector<std::string>& public_keys);

}  // namespace carillon
