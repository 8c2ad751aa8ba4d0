// Checks that decoders of the bus and of the control link apply to names.
#pragma once

#include <cstdint>
#include <string_view>

namespace carillon::wire {

bool IsMemberId(std::string_view id);

inline constexpr uint32_t kSegmentMax = 65'535;

// Protobuf would write a line to stderr for each bad string that somebody sends us.
void SilenceProtobuf();

}  // namespace carillon::wire
