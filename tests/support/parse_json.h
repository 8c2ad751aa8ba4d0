// Parses JSON. A separate source file instantiates the parser once instead of in every test.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace carillon::test {

// The result is_discarded() if `text` is not JSON.
nlohmann::json ParseJson(const std::string& text);

}  // namespace carillon::test
