#include "common/domain/nodes/mapped_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/domain/condition/condition_program.h"
#include "common/domain/job/http_request.h"
#include "common/domain/job/job.h"
#include "common/domain/run/outputs.h"

namespace carillon {
namespace {

constexpr int kDepthMax = 32;  // of lists and objects in an item

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// True if the text as a whole is a number as RFC 8259 writes it.
bool IsJsonNumber(std::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return at > begin;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const size_t whole = at;
  if (!digits() || (text[whole] == '0' && at > whole + 1)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

void AppendUtf8(uint32_t code, std::string& to) {
  const auto add = [&to](uint32_t byte) { to += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | (code >> 6));
  } else if (code < 0x10000) {
    add(0xe0 | (code >> 12));
    add(0x80 | ((code >> 6) & 0x3f));
  } else {
    add(0xf0 | (code >> 18));
    add(0x80 | ((code >> 12) & 0x3f));
    add(0x80 | ((code >> 6) & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

// Reads the text of a JSON list, strictly.
class ListReader {
 public:
  explicit ListReader(std::string_view text) : text_(text) {}

  Result<std::vector<ParameterValue>> Read() {
    std::vector<ParameterValue> items;
    SkipBlanks();
    if (!Take('[')) return Wrong("is no JSON list");
    SkipBlanks();
    if (!Take(']')) {
      do {
        if (items.size() == kMappedItemsMax) {
          return InvalidAt("/over", fmt::format("has more than {} items", kMappedItemsMax));
        }
        CARILLON_ASSIGN_OR_RETURN(items.emplace_back(), ReadItem());
        SkipBlanks();
      } while (Take(','));
      if (!Take(']')) return Wrong("expected a comma or a ]");
    }
    SkipBlanks();
    if (at_ != text_.size()) return Wrong("goes on after the list");
    return items;
  }

 private:
  Error Wrong(std::string_view what) const {
    return InvalidAt("/over", fmt::format("{} (at byte {})", what, at_ + 1));
  }

  bool Take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void SkipBlanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  Result<ParameterValue> ReadItem() {
    SkipBlanks();
    const size_t begin = at_;
    if (at_ == text_.size()) return Wrong("the list is not closed");
    if (text_[at_] == '"') {
      CARILLON_ASSIGN_OR_RETURN(std::string text, ReadText());
      return ParameterValue(std::move(text));
    }
    if (text_[at_] == '[' || text_[at_] == '{') {
      CARILLON_TRY(SkipTree(1));
      return ParameterValue(std::string(text_.substr(begin, at_ - begin)));
    }
    return ReadWord();
  }

  // A number, true or false.
  Result<ParameterValue> ReadWord() {
    const size_t begin = at_;
    const size_t end = text_.find_first_of(" \t\r\n,]}:", begin);
    const std::string_view word = text_.substr(begin, end - begin);
    if (word == "null") return Wrong("an item is null, which no parameter can be");
    if (word != "true" && word != "false" && !IsJsonNumber(word)) {
      return Wrong("this is no JSON value");
    }
    at_ += word.size();
    if (word == "true" || word == "false") return ParameterValue(word == "true");
    const auto number = ParseConditionNumber(word);
    const bool is_whole = word.find_first_of(".eE") == std::string_view::npos;
    // A whole number that would lose digits, such as a long id, stays as it is written.
    if (number && number->is_whole) return ParameterValue(number->whole);
    if (!number || is_whole) return ParameterValue(std::string(word));
    return ParameterValue(number->real);
  }

  Result<std::string> ReadText() {
    std::string text;
    ++at_;  // the opening quote
    for (;;) {
      if (at_ == text_.size()) return Wrong("a text is not closed");
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) return Wrong("a text has a control character");
      ++at_;
      if (c == '"') return text;
      if (c != '\\') {
        text += c;
        continue;
      }
      CARILLON_TRY(ReadEscape(text));
    }
  }

  Status ReadEscape(std::string& to) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (const size_t known = kNames.find(c); known != std::string_view::npos) {
      to += kValues[known];
      ++at_;
      return {};
    }
    if (!Take('u')) return Wrong("an unknown escape in a text");
    CARILLON_ASSIGN_OR_RETURN(uint32_t code, ReadHex());
    if (code >= 0xd800 && code < 0xdc00 && Take('\\') && Take('u')) {
      CARILLON_ASSIGN_OR_RETURN(const uint32_t low, ReadHex());
      if (low < 0xdc00 || low > 0xdfff) return Wrong("half of a character in a text");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (code >= 0xd800 && code <= 0xdfff) return Wrong("half of a character in a text");
    AppendUtf8(code, to);
    return {};
  }

  Result<uint32_t> ReadHex() {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = at_ < text_.size() ? HexDigit(text_[at_]) : -1;
      if (digit < 0) return Wrong("an unknown escape in a text");
      code = code * 16 + static_cast<uint32_t>(digit);
      ++at_;
    }
    return code;
  }

  // A list or an object, which begins here.
  Status SkipTree(int depth) {
    if (depth > kDepthMax) return Wrong("an item is nested too deep");
    const bool object = text_[at_] == '{';
    const char close = object ? '}' : ']';
    ++at_;
    SkipBlanks();
    if (Take(close)) return {};
    do {
      SkipBlanks();
      if (object) CARILLON_TRY(SkipName());
      CARILLON_TRY(SkipValue(depth));
      SkipBlanks();
    } while (Take(','));
    return Take(close) ? Status() : Status(Wrong("a list or an object is not closed"));
  }

  Status SkipName() {
    if (at_ == text_.size() || text_[at_] != '"') return Wrong("expected the name of a member");
    CARILLON_TRY(ReadText());
    SkipBlanks();
    return Take(':') ? Status() : Status(Wrong("expected a colon"));
  }

  Status SkipValue(int depth) {
    SkipBlanks();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '[' || c == '{') return SkipTree(depth + 1);
    if (text_.substr(at_).starts_with("null")) {
      at_ += 4;
      return {};
    }
    CARILLON_TRY(ReadItem());
    return {};
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<ParameterValue>> ItemsOf(const ParameterValue& list) {
  const auto* text = std::get_if<std::string>(&list);
  if (text == nullptr) return InvalidAt("/over", "is no JSON list");
  CARILLON_ASSIGN_OR_RETURN(std::vector<ParameterValue> items, ListReader(*text).Read());
  for (size_t i = 0; i < items.size(); ++i) {
    const Status checked = ValidateParameters({{"item", items[i]}});
    if (checked.ok()) continue;
    return InvalidAt("/over", fmt::format("item {} {}", i + 1, checked.error().message));
  }
  return items;
}

Result<std::string> CollectedOf(const std::vector<std::optional<std::string>>& outputs) {
  // Its name counts, too.
  constexpr size_t kBytesMax = kOutputsBytesMax - kOutputNameBytesMax;
  std::string list = "[";
  for (const std::optional<std::string>& output : outputs) {
    if (list.size() > 1) list += ',';
    list += output ? '"' + EscapeFor(BodyFormat::kJson, *output) + '"' : "null";
  }
  list += ']';
  if (list.size() <= kBytesMax) return list;
  return Error{ErrorCode::kInvalid,
               fmt::format("the collected outputs have {} bytes; at most {} are allowed",
                           list.size(), kBytesMax)};
}

}  // namespace carillon
