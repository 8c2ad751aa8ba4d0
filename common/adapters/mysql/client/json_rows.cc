#include "common/adapters/mysql/client/json_rows.h"

#include <array>
#include <charconv>

namespace carillon::mysql {
namespace {

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

template <typename Number>
void AppendNumber(std::string& text, Number value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end.ptr);
}

void AppendEscaped(std::string& text, unsigned char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    text.push_back('\\');
    text.push_back(static_cast<char>(c));
  } else {
    text.append("\\u00");
    text.push_back(kHex[c >> 4]);
    text.push_back(kHex[c & 15]);
  }
}

}  // namespace

JsonRows& JsonRows::Begin() {
  text_.append(size_ == 0 ? "[" : "],[");
  ++size_;
  first_column_ = true;
  return *this;
}

void JsonRows::Separate() {
  if (!first_column_) text_.push_back(',');
  first_column_ = false;
}

JsonRows& JsonRows::Add(int64_t value) {
  Separate();
  AppendNumber(text_, value);
  return *this;
}

JsonRows& JsonRows::Add(uint64_t value) {
  Separate();
  AppendNumber(text_, value);
  return *this;
}

JsonRows& JsonRows::AddNull() {
  Separate();
  text_.append("null");
  return *this;
}

JsonRows& JsonRows::Add(std::string_view utf8) {
  Separate();
  text_.push_back('"');
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == '"' || byte == '\\') {
      AppendEscaped(text_, byte);
    } else {
      text_.push_back(c);
    }
  }
  text_.push_back('"');
  return *this;
}

JsonRows& JsonRows::AddBytes(std::string_view bytes) {
  Separate();
  text_.reserve(text_.size() + bytes.size() / 3 * 4 + 8);
  text_.push_back('"');
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      const bool padding = k > 1 && i + k - 1 >= bytes.size();
      text_.push_back(padding ? '=' : kBase64[group >> (18 - 6 * k) & 63]);
    }
  }
  text_.push_back('"');
  return *this;
}

JsonRows& JsonRows::Add(const RunKey& key) {
  return Add(key.fire).Add(key.schedule_id.value()).Add(key.shard);
}

std::string JsonRows::Take() {
  std::string text = "[";
  if (size_ > 0) {
    text.append(text_);
    text.push_back(']');
  }
  text.push_back(']');
  text_.clear();
  size_ = 0;
  return text;
}

}  // namespace carillon::mysql
