// The text of a response's body. Pure.
#pragma once

#include <string>
#include <string_view>

namespace carillon::executor {

struct BodyText {
  std::string text;
  std::string note = {};  // a sentence if the charset is unknown, so that the bytes stay
};

// Converts `body` into UTF-8, by its mark (BOM) or by the charset that Content-Type states.
BodyText DecodeBody(std::string body, std::string_view content_type);

// The value of the parameter `charset`; "" = none.
std::string CharsetIn(std::string_view content_type);

}  // namespace carillon::executor
