// What decoders of the bus and of the control link ask of a name before they believe it.
#pragma once

#include <string_view>

namespace carillon::wire {

bool IsMemberId(std::string_view id);

// Protobuf would write a line to stderr for each bad string that somebody sends us.
void SilenceProtobuf();

}  // namespace carillon::wire
