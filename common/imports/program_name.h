// The program that a command line is about. Pure.
#pragma once

#include <string>
#include <string_view>

namespace carillon {

// The name of the first program that is not there only to prepare or wrap another: "backup.sh" of
// "cd /srv && flock -n /run/lock nice /usr/local/bin/backup.sh --full". Of an interpreter it is
// the script. A guess that only names things; "" if there is none.
std::string ProgramName(std::string_view command);

}  // namespace carillon
