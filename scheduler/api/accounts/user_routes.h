// Handlers of /api/users, for administrators.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListUsers(const Call& call);
Reply CreateUser(const Call& call);
Reply GetUser(const Call& call);
Reply PatchUser(const Call& call);
Reply DeleteUser(const Call& call);

}  // namespace carillon::scheduler
