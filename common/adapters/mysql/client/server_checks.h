// Checks that a server makes commits durable and is the only one that writes.
//
// Errors   kConflict with the setting that cures it: what is promised could not be kept on such a
//          server.
#pragma once

#include <map>
#include <string>

#include "common/adapters/mysql/client/session.h"

namespace carillon::mysql {

// Global variables by name, as the server prints them; those it does not have are absent.
using ServerVariables = std::map<std::string, std::string>;

// Pure. The first variable that does not do.
Status JudgeServer(const ServerVariables& variables);

// Asks and judges.
Status CheckServer(Session& session);

}  // namespace carillon::mysql
