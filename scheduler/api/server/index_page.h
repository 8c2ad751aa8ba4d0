// The answer to GET / of a program that was built without the console: it says how to build it.
// Needs no authentication, and shows nothing of the system but its version.
#pragma once

#include <string>

#include "common/adapters/http/http_message.h"

namespace carillon::scheduler {

HttpResponse IndexPage(const std::string& version);

}  // namespace carillon::scheduler
