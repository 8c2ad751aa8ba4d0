#include "executor/output/secret_forms.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/domain/secret_text.h"

namespace carillon::executor {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr size_t kColumns = 76;  // of the lines of base64(1) and MIME

std::string Replaced(std::string_view text, std::string_view quote) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
    } else {
      out += c;
    }
  }
  return out;
}

// The digits that depend on nothing but `value`, which begins after `before` bytes of a group.
std::string InnerDigits(std::string_view value, size_t before) {
  std::string digits;
  uint32_t bits = 0;
  size_t count = before * 8 % 6;  // of the digit that begins with bits of the bytes before
  bool foreign = count > 0;
  for (const char byte : value) {
    bits = (bits << 8) | static_cast<unsigned char>(byte);
    count += 8;
    for (; count >= 6; count -= 6) {
      if (!foreign) digits += kDigits[(bits >> (count - 6)) & 0x3F];
      foreign = false;
    }
  }
  return digits;
}

// Of the value by itself, with its end.
std::string WholeDigits(std::string_view value) {
  std::string filled(value);
  filled.append((3 - value.size() % 3) % 3, '\0');
  std::string digits = InnerDigits(filled, 0);
  const size_t padding = filled.size() - value.size();
  digits.replace(digits.size() - padding, padding, padding, '=');
  return digits;
}

void AddUrlSafe(std::vector<std::string>& forms) {
  for (size_t i = 0, count = forms.size(); i < count; ++i) {
    std::string safe = forms[i];
    std::replace(safe.begin(), safe.end(), '+', '-');
    std::replace(safe.begin(), safe.end(), '/', '_');
    if (safe != forms[i]) forms.push_back(std::move(safe));
  }
}

}  // namespace

std::vector<std::string> ShellForms(std::string_view value) {
  if (value.find('\'') == std::string_view::npos) return {};
  return {Replaced(value, R"('\'')"), Replaced(value, R"('"'"')")};
}

std::vector<std::string> Base64Forms(std::string_view value) {
  const std::string whole = WholeDigits(value);
  std::vector<std::string> forms = {InnerDigits(value, 0), InnerDigits(value, 1),
                                    InnerDigits(value, 2)};
  if (whole != forms[0]) forms.push_back(whole);
  AddUrlSafe(forms);
  for (size_t at = 0; whole.size() > kColumns && at < whole.size(); at += kColumns) {
    forms.push_back(whole.substr(at, kColumns));
  }
  std::erase_if(forms, [](const std::string& form) { return form.size() < kSecretBytesMin; });
  return forms;
}

std::vector<std::string> FormsOf(const std::vector<std::string>& values) {
  std::vector<std::string_view> shortest_first(values.begin(), values.end());
  std::stable_sort(shortest_first.begin(), shortest_first.end(),
                   [](std::string_view a, std::string_view b) { return a.size() < b.size(); });
  std::vector<std::string> all;
  size_t bytes = 0;
  for (const std::string_view value : shortest_first) {
    std::vector<std::string> forms = ShellForms(value);
    if (value.size() <= kBase64ValueBytesMax) {
      for (std::string& form : Base64Forms(value)) forms.push_back(std::move(form));
    }
    for (const std::string& form : forms) bytes += form.size();
    if (bytes > kFormBytesMax) break;
    all.insert(all.end(), std::make_move_iterator(forms.begin()),
               std::make_move_iterator(forms.end()));
  }
  return all;
}

}  // namespace carillon::executor
