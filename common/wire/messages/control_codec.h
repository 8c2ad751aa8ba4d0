// Encodes and decodes the messages of the control link. Protobuf (proto/carillon/v1/control.proto)
// is used only in this folder.
//
// Errors   Decode: kCorrupt for bytes that are not a message, an empty message, a kind that this
//          version does not know, an invalid id, or a number out of its range. A piece of a message
//          (link_pieces.h) is none by itself.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "common/ports/executor_link.h"

namespace carillon {

// The first message that a member sends.
struct Welcome {
  MemberId member;
  std::string public_key;
  bool takes_pieces = false;  // link_pieces.h

  bool operator==(const Welcome&) const = default;
};

std::string EncodeFromExecutor(const FromExecutor& message);
// The sender is known from the stream, not from the message.
Result<FromExecutor> DecodeFromExecutor(std::string_view bytes, const ExecutorId& executor,
                                        const Incarnation& incarnation);

std::string EncodeWelcome(const Welcome& welcome);
std::string EncodeToExecutor(const ToExecutor& message);
Result<std::variant<Welcome, ToExecutor>> DecodeToExecutor(std::string_view bytes);

}  // namespace carillon
