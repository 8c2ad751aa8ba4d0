// Checks on names and numbers that decoders of the bus and of the control link share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace carillon::wire {

bool IsMemberId(std::string_view id);

inline constexpr uint32_t kSegmentMax = 65'535;

// All names and values of the variables of a task.
inline constexpr size_t kEnvironmentBytesMax = 1u << 20;
bool IsEnvironmentName(std::string_view name);

// Stops Protobuf from writing a line to stderr for every invalid string that is received.
void SilenceProtobuf();

}  // namespace carillon::wire
