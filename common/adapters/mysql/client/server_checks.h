// Checks that a server makes commits durable and is the only server that accepts writes.
//
// Errors   kConflict: this server could not keep the guarantees of docs/semantics.md; the message
//          names the setting to change.
#pragma once

#include <map>
#include <string>

#include "common/adapters/mysql/client/session.h"

namespace carillon::mysql {

// Global variables by name, as the server prints them. Variables unknown to the server are absent.
using ServerVariables = std::map<std::string, std::string>;

// Pure. Refuses the first variable whose value is unsuitable.
Status JudgeServer(const ServerVariables& variables);

// Reads the variables of the server and calls JudgeServer.
Status CheckServer(Session& session);

}  // namespace carillon::mysql
