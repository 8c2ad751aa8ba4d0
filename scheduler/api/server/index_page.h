// The answer to GET / if the program was built without the console. The page says how to build the
// console. It needs no authentication, and shows only the version of the program.
#pragma once

#include <string>

#include "common/adapters/http/http_message.h"

namespace carillon::scheduler {

HttpResponse IndexPage(const std::string& version);

}  // namespace carillon::scheduler
