// The line that marks where the log of an attempt was cut at executor.log_bytes_max.
#pragma once

#include <fmt/format.h>

#include <string>

namespace carillon::executor {

inline std::string LogLimitText(size_t bytes_max) {
  return fmt::format("the log has reached its limit of {} bytes: the rest is not stored",
                     bytes_max);
}

}  // namespace carillon::executor
