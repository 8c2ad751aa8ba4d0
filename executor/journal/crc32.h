// CRC-32 (the reflected polynomial 0xEDB88320), to notice torn and rotten records.
#pragma once

#include <cstdint>
#include <string_view>

namespace carillon::executor {

uint32_t Crc32(std::string_view bytes);

}  // namespace carillon::executor
