#include "scheduler/api/accounts/role_routes.h"

#include <algorithm>

#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {

Reply ListRoles(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"page_size", "page_token"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "roles"));
  auto next = kRoles.begin();
  if (!page.cursor().empty()) {
    next = std::find(kRoles.begin(), kRoles.end(), page.cursor());
    if (next == kRoles.end()) return BadPageToken();
    ++next;
  }
  for (; next != kRoles.end(); ++next) {
    const std::string name(*next);
    if (!page.Add({{"role", name}, {"permissions", PermissionsOf(name)}}, name)) break;
  }
  return page.Finish(false, [] { return CountOf(kRoles.size()); });
}

}  // namespace carillon::scheduler
