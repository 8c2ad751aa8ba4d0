// Table of the features that stop, wait or continue when a part of the installation is away: for
// the API, the console and docs/operations.md.
//
// Always   A row's code never changes its meaning: the console translates by it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace carillon {

enum class Outage {
  kStore,
  kStoreHeld,  // it answers and is not the trusted one
  kCoordinator,
  kStoreAndCoordinator,  // what neither costs alone
  kBus,
  kMember,      // one of several
  kLastMember,  // nobody else is there
  kExecutor,
  kLastExecutor,
  kWebhook,
  kMail,
};
std::string_view Name(Outage outage);  // "store_and_coordinator"

enum class Capability {
  kPlanning,  // of fires that are to come
  kStarting,  // of attempts
  kRunning,   // of attempts that were started
  kResults,   // are recorded
  kLogs,      // likewise
  kTakeover,  // of segments whose member is away
  kSettings,  // reach every process while it runs
  kReading,   // through the API
  kChanging,  // likewise
  kNotices,   // are sent
};
std::string_view Name(Capability capability);

enum class OutageEffect {
  kStops,
  kDelayed,  // done later, nothing of it is lost
  kGoesOn,
};
std::string_view Name(OutageEffect effect);

// How long after the outage began.
enum class OutageBound {
  kAtOnce,
  kSession,       // a member is taken for gone
  kExecutorLost,  // an executor gets nothing new
  kLease,         // a lease nobody renews is over
  kAttemptLost,   // its attempt is given up
  kDay,           // a notice is given up
  kReturn,        // when the part is back
};

struct OutageRow {
  Outage outage;
  Capability capability;
  OutageEffect effect;
  OutageBound after = OutageBound::kAtOnce;  // it begins
  OutageBound until = OutageBound::kReturn;  // it ends
  std::string_view sentence;                 // English, for a person
};

// In the order of docs/operations.md.
const std::vector<OutageRow>& OutageTable();
std::vector<OutageRow> RowsOf(Outage outage);
// "store.planning.stops": unique in the table.
std::string CodeOf(const OutageRow& row);

// What all these together cost: of each capability the worst that some of them does to it. What
// goes on is left out where another outage keeps it from that.
std::vector<OutageRow> ImpactOf(std::set<Outage> outages);

// What the bounds are in this installation.
struct OutageBounds {
  Duration session = 6s;
  Duration executor_lost = 10s;
  Duration lease = 20s;
  Duration takeover_margin = 6s;

  // Not for kReturn.
  Duration Of(OutageBound bound) const;
};

}  // namespace carillon
