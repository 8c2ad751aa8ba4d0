// A short fingerprint of a text.
#pragma once

#include <string>
#include <string_view>

namespace carillon::scheduler {

// Hex of the first 8 bytes of BLAKE2b: fingerprints of bodies, filters and entities.
std::string ShortHash(std::string_view text);

}  // namespace carillon::scheduler
