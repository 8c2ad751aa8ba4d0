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

// Ways of writing & < > " and ' in HTML and XML, by what escapes them.
using Entities = std::array<std::string_view, 5>;
constexpr std::string_view kMarkup = "&<>\"'";
constexpr std::array kEntities = {
    Entities{"&amp;", "&lt;", "&gt;", "\"", "'"},
    Entities{"&amp;", "&lt;", "&gt;", "&quot;", "'"},
    Entities{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"},
    Entities{"&amp;", "&lt;", "&gt;", "&quot;", "&#039;"},
    Entities{"&amp;", "&lt;", "&gt;", "&quot;", "&#x27;"},
    Entities{"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"},
    Entities{"&amp;", "&lt;", "&gt;", "&#34;", "&#39;"},
};

std::string WithEntities(std::string_view text, const Entities& entities) {
  std::string out;
  for (const char c : text) {
    const size_t at = kMarkup.find(c);
    if (at == std::string_view::npos) {
      out += c;
    } else {
      out += entities[at];
    }
  }
  return out;
}

std::string_view WithoutBlanks(std::string_view line) {
  const size_t from = std::min(line.find_first_not_of(" \t\r"), line.size());
  return line.substr(from, line.find_last_not_of(" \t\r") + 1 - from);
}

// The value, and each of its lines.
std::vector<std::string_view> PartsOf(std::string_view value) {
  constexpr size_t kPartBytesMin = 4;  // as of the lines of SecretPatterns
  std::vector<std::string_view> parts = {value};
  size_t end = value.find('\n');
  while (end != std::string_view::npos) {
    parts.push_back(WithoutBlanks(value.substr(0, end)));
    value.remove_prefix(end + 1);
    end = value.find('\n');
    if (end == std::string_view::npos) parts.push_back(WithoutBlanks(value));
  }
  std::erase_if(parts, [](std::string_view part) { return part.size() < kPartBytesMin; });
  return parts;
}

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

std::vector<std::string> HtmlForms(std::string_view value) {
  std::vector<std::string> forms;
  for (const Entities& entities : kEntities) {
    std::string form = WithEntities(value, entities);
    const bool known = form == value || std::find(forms.begin(), forms.end(), form) != forms.end();
    if (!known) forms.push_back(std::move(form));
  }
  return forms;
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
    std::vector<std::string> forms;
    for (const std::string_view part : PartsOf(value)) {
      for (std::string& form : ShellForms(part)) forms.push_back(std::move(form));
      for (std::string& form : HtmlForms(part)) forms.push_back(std::move(form));
    }
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
