#include "common/adapters/mysql/backup/dump_scan.h"

namespace carillon::mysql {
namespace {

constexpr std::string_view kInsert = "INSERT INTO `";
constexpr std::string_view kValues = " VALUES";
constexpr std::string_view kDefiner = "/*!50013 DEFINER=";
constexpr std::string_view kSecurity = " SQL SECURITY ";
constexpr std::string_view kComplete = "-- Dump completed";

// Returns the position of the closing quote of the string that begins at `at`.
size_t EndOfText(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '\'') {
      return at;
    }
  }
  return text.size();
}

}  // namespace

void DumpScan::Feed(std::string_view bytes, std::string* out) {
  for (;;) {
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) break;
    if (pending_.empty()) {
      out->append(Line(bytes.substr(0, end)));
    } else {
      pending_ += bytes.substr(0, end);
      out->append(Line(pending_));
      pending_.clear();
    }
    *out += '\n';
    bytes.remove_prefix(end + 1);
  }
  pending_ += bytes;
}

bool DumpScan::complete() const { return pending_.empty() && last_.starts_with(kComplete); }

std::string_view DumpScan::Line(std::string_view line) {
  if (inserted_ != nullptr) {
    CountRows(line);
    return line;
  }
  if (!line.empty()) last_ = line.substr(0, 2 * kComplete.size());
  if (line.starts_with(kDefiner)) {
    const size_t security = line.find(kSecurity);
    if (security == std::string_view::npos) return line;
    replaced_ = "/*!50013" + std::string(line.substr(security));
    return replaced_;
  }
  if (!line.starts_with(kInsert)) return line;
  const size_t end = line.find('`', kInsert.size());
  const size_t values = line.find(kValues, end);
  if (values == std::string_view::npos) return line;
  inserted_ = &rows_[std::string(line.substr(kInsert.size(), end - kInsert.size()))];
  CountRows(line.substr(values + kValues.size()));
  return line;
}

// The dump tools escape line breaks in strings as \n, so no string continues on the next line.
void DumpScan::CountRows(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '\'': at = EndOfText(text, at); break;
      case '(':
        if (depth_++ == 0) ++*inserted_;
        break;
      case ')': --depth_; break;
      case ';':
        if (depth_ == 0) inserted_ = nullptr;
        if (depth_ == 0) return;
        break;
      default: break;
    }
  }
}

}  // namespace carillon::mysql
