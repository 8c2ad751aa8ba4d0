// Serves a table of files: type, encoding, entity tag. Nothing outside the table is ever read.
//
// Place    The console's files (scheduler/api/server/console_pages.h).
// Threads  Immutable after construction.
// Owns     An index; the bytes are the program's (embedded_file.h) and outlive it.
// Always   A file "x.js" may have the encoded forms "x.js.br" and "x.js.gz" beside it: they are
//          sent in its place to who takes them, and are no files of their own. Answers carry an
//          ETag each encoding its own; If-None-Match and HEAD are whoever calls it to see to.
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
  // The file as it is, or null.
  const EmbeddedFile* Find(std::string_view path) const;
  // 200 with the file in the best encoding that `request` accepts; nullopt: there is none.
  std::optional<HttpResponse> Answer(std::string_view path, const HttpRequest& request) const;

 private:
  struct Forms {
    const EmbeddedFile* plain = nullptr;
    const EmbeddedFile* gzip = nullptr;
    const EmbeddedFile* brotli = nullptr;
  };
  std::map<std::string_view, Forms> files_;
};

// Of the path's ending; "application/octet-stream" for those that no console has.
std::string_view ContentTypeOf(std::string_view path);
// Whether an Accept-Encoding header (null: none was sent) names `coding` with a weight above 0.
bool AcceptsEncoding(const std::string* header, std::string_view coding);

}  // namespace carillon
