#include "common/imports/xxl_job/mysql_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/ascii.h"
#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr std::string_view kSqlBlanks = " \t\r\n\f\v";

bool IsSqlName(char c) {
  return IsLetter(c) || IsDigit(c) || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

std::string SqlLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  const char upper = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper >= 'A' && upper <= 'F' ? upper - 'A' + 10 : -1;
}

// The bytes that an even number of hexadecimal digits stands for.
std::optional<std::string> FromHex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = HexDigit(digits[i]);
    const int low = HexDigit(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

char Unescaped(char c) {
  switch (c) {
    case '0': return '\0';
    case 'b': return '\b';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'Z': return '\x1A';
    default: return c;
  }
}

class DumpReader {
 public:
  DumpReader(std::string_view text, const std::vector<std::string>& tables) : text_(text) {
    for (const std::string& name : tables) tables_[name];
  }

  Result<std::map<std::string, DumpTable>> Read() {
    while (SkipBlanks(), pos_ < text_.size()) {
      if (TakeWord("CREATE") && TakeWord("TABLE")) {
        CARILLON_TRY(ReadCreate());
      } else if (TakeWord("INSERT") || TakeWord("REPLACE")) {
        CARILLON_TRY(ReadInsert());
      }
      SkipStatement();
    }
    return std::move(tables_);
  }

 private:
  char Peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }
  std::string_view Rest() const { return text_.substr(pos_); }

  Error Fail(std::string_view why) const {
    const auto lines =
        std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(pos_), '\n');
    return Error{ErrorCode::kInvalid, fmt::format("line {} of the dump: {}", lines + 1, why)};
  }

  void SkipTo(std::string_view end) {
    const size_t found = text_.find(end, pos_);
    pos_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  // Blanks and comments, also those that only some servers execute.
  void SkipBlanks() {
    while (pos_ < text_.size()) {
      if (kSqlBlanks.find(text_[pos_]) != std::string_view::npos) {
        ++pos_;
      } else if (text_[pos_] == '#' || Rest().starts_with("--")) {
        SkipTo("\n");
      } else if (Rest().starts_with("/*")) {
        pos_ += 2;
        SkipTo("*/");
      } else {
        return;
      }
    }
  }

  bool Take(char c) {
    SkipBlanks();
    if (Peek() != c) return false;
    ++pos_;
    return true;
  }

  // A keyword, in any case.
  bool TakeWord(std::string_view word) {
    SkipBlanks();
    const std::string_view found = Rest().substr(0, word.size());
    if (AsciiUpper(found) != word) return false;
    if (Rest().size() > word.size() && IsSqlName(Rest()[word.size()])) return false;
    pos_ += word.size();
    return true;
  }

  std::string_view TakePlainName() {
    const size_t begin = pos_;
    while (pos_ < text_.size() && IsSqlName(text_[pos_])) ++pos_;
    return text_.substr(begin, pos_ - begin);
  }

  // A name with or without quotes, in lower case. "" if there is none.
  std::string TakeName() {
    SkipBlanks();
    const char quote = Peek();
    if (quote != '`' && quote != '"') return SqlLower(TakePlainName());
    ++pos_;
    const size_t begin = pos_;
    SkipTo(std::string_view(&quote, 1));
    return SqlLower(text_.substr(begin, pos_ == begin ? 0 : pos_ - begin - 1));
  }

  // The name of a table, without that of its database.
  std::string TakeTable() {
    std::string name = TakeName();
    while (Take('.')) name = TakeName();
    return name;
  }

  // The text that begins with a quotation mark is skipped with it.
  void SkipQuoted() {
    const char quote = text_[pos_++];
    const std::array<char, 2> ends{quote, '\\'};
    const std::string_view stops(ends.data(), quote == '`' ? 1 : 2);
    while (pos_ < text_.size()) {
      pos_ = std::min(text_.find_first_of(stops, pos_), text_.size());
      if (pos_ == text_.size()) return;
      if (text_[pos_] == quote) {
        ++pos_;
        return;  // two of them: what follows begins another text
      }
      pos_ = std::min(pos_ + 2, text_.size());
    }
  }

  // Goes behind the next semicolon.
  void SkipStatement() {
    while (pos_ < text_.size()) {
      pos_ = std::min(text_.find_first_of("'\"`;#-/", pos_), text_.size());
      const char c = Peek();
      const size_t before = pos_;
      if (c == ';') {
        ++pos_;
        return;
      }
      if (c == '\'' || c == '"' || c == '`') {
        SkipQuoted();
      } else {
        SkipBlanks();
        if (pos_ == before) ++pos_;
      }
    }
  }

  // Goes behind the next comma of this depth, or to the bracket that ends it.
  void SkipItem() {
    int depth = 0;
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c == '\'' || c == '"' || c == '`') {
        SkipQuoted();
        continue;
      }
      if (depth == 0 && (c == ')' || c == ',')) return;
      if (c == '(') ++depth;
      if (c == ')') --depth;
      ++pos_;
    }
  }

  Status ReadCreate() {
    if (TakeWord("IF")) {
      TakeWord("NOT");
      TakeWord("EXISTS");
    }
    const auto table = tables_.find(TakeTable());
    if (table == tables_.end() || !Take('(')) return {};
    table->second.found = true;
    std::vector<std::string>& columns = columns_[table->first];
    columns.clear();
    constexpr std::array<std::string_view, 9> kNoColumns{"primary", "key",        "unique",
                                                         "index",   "constraint", "fulltext",
                                                         "spatial", "foreign",    "check"};
    while (pos_ < text_.size()) {
      SkipBlanks();
      const bool quoted = Peek() == '`' || Peek() == '"';
      std::string name = TakeName();
      const bool column =
          quoted || std::find(kNoColumns.begin(), kNoColumns.end(), name) == kNoColumns.end();
      if (column && !name.empty()) columns.push_back(std::move(name));
      SkipItem();
      if (!Take(',')) break;
    }
    return {};
  }

  Status ReadInsert() {
    while (TakeWord("LOW_PRIORITY") || TakeWord("DELAYED") || TakeWord("HIGH_PRIORITY") ||
           TakeWord("IGNORE") || TakeWord("INTO")) {
    }
    const auto table = tables_.find(TakeTable());
    if (table == tables_.end()) return {};
    table->second.found = true;
    std::vector<std::string> columns = columns_[table->first];
    if (Take('(')) {
      columns.clear();
      do {
        columns.push_back(TakeName());
      } while (Take(','));
      if (!Take(')')) return Fail("the list of columns is not closed");
    }
    if (columns.empty()) {
      return Fail(
          fmt::format("the columns of {} are not known: dump it with its definition, or "
                      "with --complete-insert",
                      table->first));
    }
    if (!TakeWord("VALUES") && !TakeWord("VALUE")) return Fail("VALUES is missing");
    do {
      CARILLON_TRY(ReadRow(columns, table->second));
    } while (Take(','));
    return {};
  }

  Status ReadRow(const std::vector<std::string>& columns, DumpTable& table) {
    if (!Take('(')) return Fail("a row in brackets is missing");
    DumpRow& row = table.rows.emplace_back();
    size_t count = 0;
    do {
      std::optional<std::string> value;
      const size_t begin = pos_;
      CARILLON_TRY(ReadValue(value));
      // now() of a script that fills the tables: it matters for no job when a row was written.
      if (Take('(')) {
        if (count >= columns.size() || !columns[count].ends_with("time")) {
          pos_ = begin;
          return Fail("cannot read a value that is computed: dump the tables of a server");
        }
        value.reset();
        do SkipItem();
        while (Take(','));
        if (!Take(')')) return Fail("a call is not closed");
      }
      if (count < columns.size()) row[columns[count]] = std::move(value);
      ++count;
    } while (Take(','));
    if (!Take(')')) return Fail("a row is not closed");
    if (count == columns.size()) return {};
    return Fail(fmt::format("a row has {} values for {} columns", count, columns.size()));
  }

  Status ReadValue(std::optional<std::string>& value) {
    SkipBlanks();
    if (Peek() == '\'' || Peek() == '"') return ReadQuoted(value.emplace());
    const size_t begin = pos_;
    if (Peek() == '-' || Peek() == '+') ++pos_;
    while (pos_ < text_.size() && (IsSqlName(text_[pos_]) || text_[pos_] == '.')) ++pos_;
    const std::string word = AsciiUpper(text_.substr(begin, pos_ - begin));
    if (word == "NULL") return {};
    if (word.starts_with("0X")) {
      value = FromHex(std::string_view(word).substr(2));
      return value ? Status() : Fail("a hexadecimal value is damaged");
    }
    SkipBlanks();
    const bool before_text = Peek() == '\'' || Peek() == '"';
    if (before_text && word == "X") {
      CARILLON_TRY(ReadQuoted(value.emplace()));
      value = FromHex(*value);
      return value ? Status() : Fail("a hexadecimal value is damaged");
    }
    // _binary'…', _binary 0x…, _utf8mb4'…', N'…', b'…'
    const bool before_hex = Peek() == '0' && word.starts_with("_");
    if (before_hex || (before_text && (word.starts_with("_") || word == "N" || word == "B"))) {
      return ReadValue(value);
    }
    if (word.empty() || before_text) return Fail("cannot read a value");
    value = word;
    return {};
  }

  // Two quotation marks are one; so are texts side by side.
  Status ReadQuoted(std::string& value) {
    const char quote = text_[pos_++];
    const std::array<char, 2> stops{quote, '\\'};
    while (pos_ < text_.size()) {
      const size_t end = text_.find_first_of(std::string_view(stops.data(), stops.size()), pos_);
      if (end == std::string_view::npos || end + 1 >= text_.size()) break;
      value += text_.substr(pos_, end - pos_);
      const char next = text_[end + 1];
      pos_ = end + 1;
      if (text_[end] == '\\') {
        // Before a wildcard the backslash stays.
        if (next == '%' || next == '_') value += '\\';
        value += Unescaped(next);
      } else if (next == quote) {
        value += quote;
      } else {
        return {};
      }
      ++pos_;
    }
    return Fail("a text in quotes is not closed");
  }

  const std::string_view text_;
  size_t pos_ = 0;
  std::map<std::string, DumpTable> tables_;
  std::map<std::string, std::vector<std::string>> columns_;
};

}  // namespace

Result<std::map<std::string, DumpTable>> ReadMysqlDump(std::string_view text,
                                                       const std::vector<std::string>& tables) {
  return DumpReader(text, tables).Read();
}

}  // namespace carillon
