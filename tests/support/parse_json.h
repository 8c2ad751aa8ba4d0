// Parses JSON in one place: the parser is instantiated once, not in every test.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace carillon::test {

// Discarded when `text` is no JSON.
nlohmann::json ParseJson(const std::string& text);

}  // namespace carillon::test
