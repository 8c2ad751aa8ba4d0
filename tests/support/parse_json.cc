#include "tests/support/parse_json.h"

#include <nlohmann/json.hpp>

namespace carillon::test {

nlohmann::json ParseJson(const std::string& text) {
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace carillon::test
