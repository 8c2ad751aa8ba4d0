#include "scheduler/api/jobs/namespace_routes.h"

#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {

Reply ListNamespaces(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"page_size", "page_token"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "namespaces"));
  if (!page.cursor().empty() && !IsNamespace(page.cursor())) return BadPageToken();
  CARILLON_ASSIGN_OR_RETURN(const auto names,
                            call.stores.jobs.ListNamespaces(page.cursor(), page.size() + 1));
  for (const std::string& name : names) {
    if (!page.Add({{"namespace", name}}, name)) break;
  }
  return page.Finish(false, [&] { return call.stores.jobs.CountNamespaces(); });
}

}  // namespace carillon::scheduler
