// What decoders of the bus and of the control link ask of a name before they believe it.
#pragma once

#include <string_view>

namespace carillon::wire {

bool IsMemberId(std::string_view id);
bool IsExecutorId(std::string_view id);  // [a-z0-9][a-z0-9-]{0,62}

// Protobuf would write a line to stderr for each bad string that somebody sends us.
void SilenceProtobuf();

}  // namespace carillon::wire
