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

void AddEventDocumentFlags(CLI::App* verb, EventDocumentFlags& flags);

// Returns the event as JSON. Without an id it gets `drawn_id`. The data stays as it was typed, as
// far as its numbers are concerned.
Outcome<std::string> EventDocumentOf(Session& session, const EventDocumentFlags& flags,
                                     const std::string& drawn_id);

}  // namespace carillon::cli
