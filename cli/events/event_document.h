// An event as its flags describe it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/terminal/session.h"

namespace carillon::cli {

// The values as typed; empty = not given.
struct EventDocumentFlags {
  std::string id;
  std::string source;
  std::string type;
  std::string subject;
  std::string data;  // JSON, "@FILE", or "-" for standard input
};

// Reads the JSON that the flag contains, or names as "@FILE" or "-". It is only checked, because a
// number with many digits would lose some.
Outcome<std::string> JsonOf(Session& session, const std::string& flag, const std::string& typed);

void AddEventDocumentFlags(CLI::App* verb, EventDocumentFlags& flags);

// Returns the event as JSON. Without an id it gets `drawn_id`. The data stays as it was typed, as
// far as its numbers are concerned.
Outcome<std::string> EventDocumentOf(Session& session, const EventDocumentFlags& flags,
                                     const std::string& drawn_id);

}  // namespace carillon::cli
