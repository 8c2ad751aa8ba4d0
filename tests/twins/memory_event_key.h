// The key of a stored event. Pure.
#pragma once

#include <string>
#include <string_view>

namespace carillon::memory {

// In hexadecimal digits, as EventCursor::tie, so that events of one moment have the order that they
// have in a database.
std::string EventKeyOf(std::string_view name_space, std::string_view source, std::string_view id);

}  // namespace carillon::memory
