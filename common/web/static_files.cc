#include "common/web/static_files.h"

#include <array>
#include <utility>

#include "common/base/lower_case.h"

namespace carillon {
namespace {

constexpr std::string_view kGzipEnding = ".gz";
constexpr std::string_view kBrotliEnding = ".br";
constexpr size_t kTagDigits = 32;  // digits of the hash; enough to distinguish files

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// "q=0", "q=0.000": not accepted.
bool IsZeroWeight(std::string_view parameter) {
  if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) return false;
  return parameter.substr(2).find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

StaticFiles::StaticFiles(EmbeddedFiles files) {
  for (const EmbeddedFile& file : files) files_[file.path].plain = &file;
  for (const EmbeddedFile& file : files) {
    for (const auto& [ending, form] :
         {std::pair{kGzipEnding, &Forms::gzip}, std::pair{kBrotliEnding, &Forms::brotli}}) {
      if (!file.path.ends_with(ending)) continue;
      const auto of = files_.find(file.path.substr(0, file.path.size() - ending.size()));
      if (of == files_.end()) continue;
      of->second.*form = &file;
      files_.erase(file.path);
    }
  }
}

const EmbeddedFile* StaticFiles::Find(std::string_view path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : found->second.plain;
}

std::optional<HttpResponse> StaticFiles::Answer(std::string_view path,
                                                const HttpRequest& request) const {
  const auto found = files_.find(path);
  if (found == files_.end()) return std::nullopt;
  const Forms& forms = found->second;
  const std::string* accepted = request.Header("accept-encoding");
  const EmbeddedFile* chosen = forms.plain;
  std::string_view coding;
  if (forms.brotli != nullptr && AcceptsEncoding(accepted, "br")) {
    chosen = forms.brotli;
    coding = "br";
  } else if (forms.gzip != nullptr && AcceptsEncoding(accepted, "gzip")) {
    chosen = forms.gzip;
    coding = "gzip";
  }
  HttpResponse response{.status = 200};
  response.headers = {{"Content-Type", std::string(ContentTypeOf(path))},
                      {"ETag", "\"" + std::string(chosen->sha256.substr(0, kTagDigits)) + "\""},
                      {"Vary", "Accept-Encoding"}};
  if (!coding.empty()) response.headers.emplace_back("Content-Encoding", coding);
  response.body = std::string(chosen->bytes);
  return response;
}

std::string_view ContentTypeOf(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kTypes = {{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".txt", "text/plain; charset=utf-8"},
      {".webmanifest", "application/manifest+json"},
  }};
  for (const auto& [ending, type] : kTypes) {
    if (path.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

bool AcceptsEncoding(const std::string* header, std::string_view coding) {
  if (header == nullptr) return false;
  std::string_view rest = *header;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view entry = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const size_t semicolon = entry.find(';');
    if (LowerCase(Trimmed(entry.substr(0, semicolon))) != coding) continue;
    return semicolon == std::string_view::npos ||
           !IsZeroWeight(Trimmed(entry.substr(semicolon + 1)));
  }
  return false;
}

}  // namespace carillon
