// Guesses about the user before the command of a crontab, who may be forgotten, or stand where none
// belongs. Pure. cron takes any word.
#pragma once

#include <string_view>

namespace carillon {

// True if the command of a user's crontab begins with a user, as in a system crontab.
bool StartsWithUser(std::string_view command);

// True if `word` of a system crontab may be a user before `command`. Accounts may have the name of
// a program ("node", "docker"): what follows tells them apart.
bool MayBeUser(std::string_view word, std::string_view command);

}  // namespace carillon
