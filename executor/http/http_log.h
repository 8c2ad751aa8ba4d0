// The log of one request: lines about what was sent and what came back, and the body.
//
// Threads  One owner.
// Always   Values of secrets, of headers with credentials and of such parameters in URLs are ***.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/domain/run/run_log.h"
#include "executor/output/secret_masker.h"

namespace carillon::executor {

// Headers that let whoever reads the log act as the caller. `name` is in lower case.
bool IsCredentialHeader(std::string_view name);
// `url` with *** for the values of parameters such as token and signature, in its query.
std::string ShownUrl(std::string_view url);

class HttpLog {
 public:
  // `masked`: values that must not be shown.
  HttpLog(const std::vector<std::string>& masked, const Clock& clock);

  void Note(const std::string& line);
  // A header of a response.
  void NoteHeader(const std::string& name, const std::string& value);
  // `body` is masked.
  void NoteBody(std::string_view body);
  std::string Mask(std::string_view text) const;

  // What was added since the last call; nullopt = nothing.
  std::optional<LogChunk> Take(bool last);

 private:
  void Add(LogStream stream, std::string text);

  const Clock& clock_;
  std::shared_ptr<const SecretPatterns> patterns_;  // null: nothing to mask
  LogChunk chunk_;
};

}  // namespace carillon::executor
