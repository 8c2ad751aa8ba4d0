// Serves a table of files with content type, encoding and ETag. Nothing outside the table is read.
//
// Place    The console's files (scheduler/api/server/console_pages.h).
// Threads  Immutable after construction.
// Owns     An index; the bytes are part of the program (embedded_file.h) and outlive it.
// Always   "x.js.br" and "x.js.gz" beside a file "x.js" are its encoded forms. They are not files
//          of their own, but are sent in place of "x.js" to clients that accept them. Every
//          encoding has its own ETag. The caller handles If-None-Match and HEAD.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/adapters/http/http_message.h"
#include "common/base/embedded_file.h"

namespace carillon {

class StaticFiles {
 public:
  explicit StaticFiles(EmbeddedFiles files);

  bool empty() const { return files_.empty(); }
  // The file without encoding, or null.
  const EmbeddedFile* Find(std::string_view path) const;
  // 200 with the file in the best encoding that `request` accepts; nullopt if there is no
  // such file.
  std::optional<HttpResponse> Answer(std::string_view path, const HttpRequest& request) const;

 private:
  struct Forms {
    const EmbeddedFile* plain = nullptr;
    const EmbeddedFile* gzip = nullptr;
    const EmbeddedFile* brotli = nullptr;
  };
  std::map<std::string_view, Forms> files_;
};

// The content type for the extension of `path`; "application/octet-stream" if it is unknown.
std::string_view ContentTypeOf(std::string_view path);
// True if an Accept-Encoding header (null: not sent) names `coding` with a weight above 0.
bool AcceptsEncoding(const std::string* header, std::string_view coding);

}  // namespace carillon
