#include "executor/output/escape_view.h"

#include <optional>

namespace carillon::executor {
namespace {

// -1: no digit of that base.
int DigitOf(char c, int base) {
  int digit = -1;
  if (c >= '0' && c <= '9') digit = c - '0';
  if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
  if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
  return digit < base ? digit : -1;
}

struct Number {
  uint32_t value = 0;
  bool complete = false;
};
// The number that `text` begins with; nullopt: a byte among its digits is none.
std::optional<Number> NumberIn(std::string_view text, size_t digits, int base) {
  Number number;
  for (const char c : text.substr(0, digits)) {
    const int digit = DigitOf(c, base);
    if (digit < 0) return {};
    number.value = number.value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit);
  }
  number.complete = text.size() >= digits;
  return number;
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto tail = [code](int shift) {
    return static_cast<char>(0x80 | ((code >> shift) & 0x3F));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
  } else if (code < 0x10000) {
    out += {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
  } else {
    out += {static_cast<char>(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
  }
}

constexpr bool IsHigh(uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
constexpr bool IsLow(uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// 0: none.
char ControlOf(char letter) {
  switch (letter) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'v': return '\v';
    case 'a': return '\a';
    default: return 0;
  }
}

}  // namespace

EscapeView::Reading EscapeView::Read(std::string& decoded) const {
  const std::string_view text = escape_;
  const auto byte_of = [&](std::string_view digits, size_t count, int base) {
    const auto number = NumberIn(digits, count, base);
    if (!number || number->value > 0xFF) return Reading::kNone;
    if (!number->complete) return Reading::kIncomplete;
    decoded = static_cast<char>(number->value);
    return Reading::kEscape;
  };
  if (text == "+") {
    decoded = " ";
    return Reading::kEscape;
  }
  if (kind_ == Kind::kPercent) return byte_of(text.substr(1), 2, 16);
  if (text.size() == 1) return Reading::kIncomplete;
  const char c = text[1];
  if (c == 'x') return byte_of(text.substr(2), 2, 16);
  if (c >= '0' && c <= '7') return byte_of(text.substr(1), 3, 8);
  if (c == 'u') {
    const auto first = NumberIn(text.substr(2), 4, 16);
    if (!first || (first->complete && IsLow(first->value))) return Reading::kNone;
    if (!first->complete) return Reading::kIncomplete;
    uint32_t code = first->value;
    if (IsHigh(code)) {
      const std::string_view next = text.substr(6);
      if (!std::string_view("\\u").starts_with(next.substr(0, 2))) return Reading::kNone;
      const auto second = next.size() <= 2 ? Number() : NumberIn(next.substr(2), 4, 16);
      if (!second || (second->complete && !IsLow(second->value))) return Reading::kNone;
      if (!second->complete) return Reading::kIncomplete;
      code = 0x10000 + ((code - 0xD800) << 10) + (second->value - 0xDC00);
    }
    AppendUtf8(code, decoded);
    return Reading::kEscape;
  }
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  const char control = ControlOf(c);
  if (control == 0 && (letter || c < ' ' || c > '~')) return Reading::kNone;
  decoded = control != 0 ? control : c;
  return Reading::kEscape;
}

}  // namespace carillon::executor
