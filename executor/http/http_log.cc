#include "executor/http/http_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/lower_case.h"
#include "common/domain/job_text.h"

namespace carillon::executor {
namespace {

constexpr std::string_view kMasked = "***";
constexpr std::array<std::string_view, 7> kCredentialHeaders = {
    "set-cookie",         "set-cookie2",        "cookie", "www-authenticate", "authorization",
    "proxy-authenticate", "authentication-info"};
// Parts of names, of headers and of parameters in URLs.
constexpr std::array<std::string_view, 7> kCredentialWords = {
    "token", "secret", "key", "password", "session", "credential", "authorization"};

bool HasCredentialWord(std::string_view name) {
  return std::ranges::any_of(kCredentialWords, [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

}  // namespace

bool IsCredentialHeader(std::string_view name) {
  return std::ranges::find(kCredentialHeaders, name) != kCredentialHeaders.end() ||
         HasCredentialWord(name);
}

std::string ShownUrl(std::string_view url) {
  size_t at = url.find('?');
  if (at == std::string_view::npos) return std::string(url);
  std::string shown(url.substr(0, at));
  while (at < url.size()) {
    shown += url[at++];  // ? or &
    const std::string_view pair = url.substr(at, url.find('&', at) - at);
    at += pair.size();
    const size_t equals = pair.find('=');
    const std::string name = LowerCase(pair.substr(0, equals));
    const bool hides =
        equals != std::string_view::npos && equals + 1 < pair.size() &&
        (HasCredentialWord(name) || name.find("signature") != std::string::npos || name == "sig");
    shown += hides ? pair.substr(0, equals + 1) : pair;
    if (hides) shown += kMasked;
  }
  return shown;
}

HttpLog::HttpLog(const std::vector<std::string>& masked, const Clock& clock) : clock_(clock) {
  if (!masked.empty()) patterns_ = std::make_shared<SecretPatterns>(masked);
}

std::string HttpLog::Mask(std::string_view text) const { return Masked(patterns_, text); }

void HttpLog::Note(const std::string& line) {
  std::string text = Mask(line).substr(0, kLogEntryBytesMax - 1);
  std::replace_if(text.begin(), text.end(), IsControl, ' ');
  Add(LogStream::kStderr, text + "\n");
}

void HttpLog::NoteHeader(const std::string& name, const std::string& value) {
  if (IsCredentialHeader(name)) return Note(fmt::format("< {}: {}", name, kMasked));
  const bool is_url = name == "location" || name == "content-location";
  Note(fmt::format("< {}: {}", name, is_url ? ShownUrl(value) : value));
}

void HttpLog::NoteBody(std::string_view body) {
  while (!body.empty()) {
    const size_t newline = std::min(body.find('\n'), body.size() - 1);
    const std::string_view line = body.substr(0, std::min(newline + 1, kLogEntryBytesMax - 1));
    body.remove_prefix(line.size());
    std::string text(line);
    if (body.empty() && text.back() != '\n') text += '\n';
    Add(LogStream::kStdout, std::move(text));
  }
}

// One chunk has room for all headers and the kept part of a body; short lines may need more.
void HttpLog::Add(LogStream stream, std::string text) {
  if (chunk_.entries.size() > kLogChunkBytesMax - 2 * kLogEntryBytesMax) return;
  AppendEntry(chunk_.entries, {.time = clock_.Wall(), .stream = stream, .text = std::move(text)});
  ++chunk_.count;
}

std::optional<LogChunk> HttpLog::Take(bool last) {
  const bool first = chunk_.first_seq == 1;
  if (chunk_.count == 0 && (first || !last)) return std::nullopt;
  LogChunk taken = std::move(chunk_);
  taken.last = last;
  chunk_ = {.first_seq = taken.first_seq + taken.count};
  return taken;
}

}  // namespace carillon::executor
