#include "common/imports/crontab_text.h"

#include <algorithm>
#include <array>

#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

bool IsSpace(char c) { return kBlanks.find(c) != std::string_view::npos; }
bool IsQuote(char c) { return c == '"' || c == '\''; }

std::string_view WithoutSpace(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}

// Removes the text in quotes at the front of `text`; nullopt if the quotation does not end.
std::optional<std::string_view> TakeQuoted(std::string_view& text) {
  const size_t end = text.find(text.front(), 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view quoted = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return quoted;
}

// The characters that open and have not been closed yet.
class Brackets {
 public:
  bool empty() const { return open_.empty(); }
  char last() const { return open_.empty() ? '\0' : open_.back(); }
  void Open(char c) { open_ += c; }
  void Close(char opener) {
    if (last() == opener) {
      open_.pop_back();
    } else {
      broken_ = true;
    }
  }
  void Toggle(char c) { last() == c ? open_.pop_back() : open_.push_back(c); }
  bool broken() const { return broken_; }

 private:
  std::string open_;
  bool broken_ = false;
};

}  // namespace

std::optional<CrontabSetting> ReadCrontabSetting(std::string_view line) {
  if (line.empty()) return std::nullopt;
  CrontabSetting setting;
  if (IsQuote(line.front())) {
    const auto name = TakeQuoted(line);
    if (!name || name->find('=') != std::string_view::npos) return std::nullopt;
    setting.name = *name;
  } else {
    const size_t end = line.find_first_of(" \t\r\v\f=");
    if (end == std::string_view::npos) return std::nullopt;
    setting.name = line.substr(0, end);
    line.remove_prefix(end);
  }
  line = WithoutSpace(line);
  if (setting.name.empty() || !line.starts_with('=')) return std::nullopt;
  line = WithoutSpace(line.substr(1));
  if (!line.empty() && IsQuote(line.front())) {
    const auto value = TakeQuoted(line);
    if (!value || !WithoutSpace(line).empty()) return std::nullopt;
    setting.value = *value;
    setting.quoted = true;
    return setting;
  }
  while (!line.empty() && IsSpace(line.back())) line.remove_suffix(1);
  setting.value = line;
  return setting;
}

CrontabCommand ReadCrontabCommand(std::string_view text) {
  CrontabCommand read;
  size_t at = 0;
  // A backslash escapes the next character, which may be a backslash; only "\%" changes.
  for (bool escaped = false; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '%' && !escaped) break;
    if (c == '%') read.command.pop_back();
    read.command += c;
    escaped = c == '\\' && !escaped;
  }
  if (at == text.size()) return read;
  read.has_percent = true;
  // Here cron takes a backslash before "%" as an escape even if another one precedes it.
  for (++at; at < text.size(); ++at) {
    const bool percent = text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '%';
    if (percent) ++at;
    read.input += text[at] == '%' && !percent ? '\n' : text[at];
  }
  if (!read.input.empty() && read.input.back() != '\n') read.input += '\n';
  return read;
}

std::string CrontabTextFault(std::string_view text, size_t bytes_max) {
  std::string fault = TextFault(text, bytes_max);
  if (fault.empty() || CountUtf8(text)) return fault;
  return "is not valid UTF-8; convert the file, e.g. iconv -f latin1 -t utf-8";
}

bool IsCompleteCommand(std::string_view command) {
  Brackets open;
  for (size_t i = 0; i < command.size() && !open.broken(); ++i) {
    const char c = command[i];
    if (open.last() == '\'') {
      if (c == '\'') open.Close('\'');
      continue;
    }
    if (c == '\\') {
      ++i;
      continue;
    }
    const bool expands = c == '$' && i + 1 < command.size();
    if (c == '"' || c == '`') {
      open.Toggle(c);
    } else if (expands && (command[i + 1] == '(' || command[i + 1] == '{')) {
      open.Open(command[++i]);
    } else if (open.last() == '"') {
      continue;
    } else if (c == '\'' || c == '(') {
      open.Open(c);
    } else if (c == ')' || (c == '}' && open.last() == '{')) {
      open.Close(c == ')' ? '(' : '{');
    }
  }
  return open.empty() && !open.broken();
}

std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

bool NamesFields(std::string_view comment) {
  constexpr std::array<std::string_view, 28> kNames{
      "m",     "h",      "dom",     "mon",        "dow",       "min",          "minute",
      "hour",  "hours",  "minutes", "hr",         "day",       "mday",         "month",
      "wday",  "months", "weekday", "user",       "who",       "day-of-month", "username",
      "flags", "cmd",    "command", "dayofmonth", "user-name", "day-of-week",  "dayofweek"};
  constexpr std::array<std::string_view, 6> kFillers{"of", "the", "week", "to", "be", "executed"};
  size_t names = 0;
  size_t stars = 0;
  std::string word;
  for (size_t i = 0; i <= comment.size(); ++i) {
    const char c = i < comment.size() ? comment[i] : ' ';
    const bool lower = c >= 'a' && c <= 'z';
    const bool upper = c >= 'A' && c <= 'Z';
    if (lower || upper || (c == '-' && !word.empty())) {
      word += upper ? static_cast<char>(c - 'A' + 'a') : c;
      continue;
    }
    if (c == '*') ++stars;
    if (c >= '0' && c <= '9') return false;
    if (word.empty()) continue;
    if (std::find(kNames.begin(), kNames.end(), word) != kNames.end()) {
      ++names;
    } else if (std::find(kFillers.begin(), kFillers.end(), word) == kFillers.end()) {
      return false;
    }
    word.clear();
  }
  return names >= 5 || (stars >= 5 && names > 0);
}

}  // namespace carillon
