// Table of the features that stop, wait or continue while a part of the installation is
// unavailable. The API, the console and docs/operations.md show it.
//
// Always   The meaning of a row's code never changes, because the console translates by code.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace carillon {

// A part of the installation that is unavailable.
enum class Outage {
  kStore,
  kStoreHeld,  // the store answers, but is not the trusted one
  kCoordinator,
  kStoreAndCoordinator,  // effects that need both outages
  kBus,
  kMember,      // one of several members
  kLastMember,  // the only member
  kExecutor,
  kLastExecutor,
  kWebhook,
  kMail,
};
std::string_view Name(Outage outage);  // "store_and_coordinator"

enum class Capability {
  kPlanning,  // future fires are planned
  kStarting,  // attempts are started
  kRunning,   // attempts already started continue to run
  kResults,   // results of runs are recorded
  kLogs,      // logs of attempts are recorded
  kTakeover,  // the segments of a failed member are taken over
  kSettings,  // live changes reach every process
  kReading,   // data is read through the API
  kChanging,  // data is changed through the API
  kNotices,   // notices are sent
};
std::string_view Name(Capability capability);

enum class OutageEffect {
  kStops,
  kDelayed,  // happens later, nothing is lost
  kGoesOn,
};
std::string_view Name(OutageEffect effect);

// Points in time at which an effect begins or ends, counted from the beginning of the outage.
enum class OutageBound {
  kAtOnce,
  kSession,       // the session of a member expires
  kExecutorLost,  // an executor gets no new attempts
  kLease,         // a lease that is not renewed ends
  kAttemptLost,   // the attempt is considered lost
  kDay,           // a notice is given up
  kReturn,        // the part is available again
};

// The effect of one outage on one capability.
struct OutageRow {
  Outage outage;
  Capability capability;
  OutageEffect effect;
  OutageBound after = OutageBound::kAtOnce;  // when the effect begins
  OutageBound until = OutageBound::kReturn;  // when the effect ends
  std::string_view sentence;                 // in English, for users
};

// In the order of docs/operations.md.
const std::vector<OutageRow>& OutageTable();
std::vector<OutageRow> RowsOf(Outage outage);
// "store.planning.stops": unique in the table.
std::string CodeOf(const OutageRow& row);

// Returns the combined effects of several outages, in the order of the table. A row with kGoesOn is
// left out if another of these outages stops or delays its capability.
std::vector<OutageRow> ImpactOf(std::set<Outage> outages);

// The durations of the bounds in this installation.
struct OutageBounds {
  Duration session = 6s;
  Duration executor_lost = 10s;
  Duration lease = 20s;
  Duration takeover_margin = 6s;

  // Not defined for kReturn.
  Duration Of(OutageBound bound) const;
};

}  // namespace carillon
