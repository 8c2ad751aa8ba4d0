// Chooses the executor of a run. Pure: (credits, request) -> executor; policies are registered by
// name, so that another one is one function and one line in the table.
//
// Place    Step 5 of docs/life-of-a-run.md.
// Threads  Not thread-safe; the firing loop owns it.
// Always   Never an executor without credit, which one that is disabled, draining or lost has not.
#pragma once

#include <optional>
#include <string_view>

#include "scheduler/route/credit_book.h"

namespace carillon::scheduler {

struct RouteRequest {
  SlotClass slots = SlotClass::kProcess;
  ExecutorId pinned = {};  // empty = any
  CreditBook::Index avoid =
      CreditBook::kNone;  // it let this run time out; only if it is the only one
};

// What a policy may remember between two choices.
struct RouteMemory {
  CreditBook::Index next = 0;
};

// nullopt: nobody has room.
using RoutePolicy = std::optional<CreditBook::Index> (*)(const CreditBook& credits,
                                                         const RouteRequest& request,
                                                         RouteMemory& memory);

// nullptr for an unknown name. Known: "round_robin".
RoutePolicy FindRoutePolicy(std::string_view name);

class Router {
 public:
  explicit Router(RoutePolicy policy) : policy_(policy) {}
  std::optional<CreditBook::Index> Pick(const CreditBook& credits, const RouteRequest& request);

 private:
  const RoutePolicy policy_;
  RouteMemory memory_;
};

}  // namespace carillon::scheduler
