// CRC-32 (reflected polynomial 0xEDB88320), which detects torn and corrupt records.
#pragma once

#include <cstdint>
#include <string_view>

namespace carillon::executor {

uint32_t Crc32(std::string_view bytes);

}  // namespace carillon::executor
