#include "common/domain/outage.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/domain/notice.h"

namespace carillon {
namespace {

bool Harms(const OutageRow& row) { return row.effect != OutageEffect::kGoesOn; }

std::vector<OutageRow> MakeTable() {
  using enum Outage;
  using enum Capability;
  using enum OutageEffect;
  using enum OutageBound;
  return {
      {kStore, kPlanning, kStops, kAtOnce, kReturn,
       "No fires are planned. Fires that become due meanwhile follow the misfire policy of their "
       "job."},
      {kStore, kStarting, kStops, kAtOnce, kReturn,
       "No runs start, because every start is claimed in the store."},
      {kStore, kRunning, kGoesOn, kAtOnce, kReturn,
       "Active runs continue for as long as the coordinator confirms their owner."},
      {kStore, kResults, kDelayed, kAtOnce, kReturn, "Results are kept on the executors' disks."},
      {kStore, kLogs, kDelayed, kAtOnce, kReturn, "Job logs are kept on the executors."},
      {kStore, kTakeover, kDelayed, kAtOnce, kReturn,
       "Segments of a member that fails now are taken over when the store is back."},
      {kStore, kReading, kStops, kAtOnce, kReturn,
       "The API and the console show only the state of the system."},
      {kStore, kChanging, kStops, kAtOnce, kReturn,
       "Nothing can be changed, cancelled or started manually."},
      {kStore, kNotices, kDelayed, kAtOnce, kReturn, "Notifications are kept in the store."},

      {kStoreHeld, kPlanning, kStops, kAtOnce, kReturn, "No fires are planned."},
      {kStoreHeld, kStarting, kStops, kAtOnce, kReturn, "No runs start."},
      {kStoreHeld, kRunning, kGoesOn, kAtOnce, kReturn,
       "Active runs continue for as long as the coordinator confirms their owner."},
      {kStoreHeld, kResults, kDelayed, kAtOnce, kReturn,
       "Results are kept on the executors' disks."},
      {kStoreHeld, kLogs, kDelayed, kAtOnce, kReturn, "Job logs are kept on the executors."},
      {kStoreHeld, kChanging, kStops, kAtOnce, kReturn,
       "Nothing can be changed, cancelled or started manually."},
      {kStoreHeld, kNotices, kDelayed, kAtOnce, kReturn, "Notifications are kept in the store."},

      {kCoordinator, kStarting, kGoesOn, kAtOnce, kReturn,
       "Members continue to plan and start runs in the segments they own."},
      {kCoordinator, kRunning, kGoesOn, kAtOnce, kReturn,
       "Active runs continue: their owner renews the leases by its writes to the store."},
      {kCoordinator, kTakeover, kStops, kAtOnce, kReturn,
       "No member can join, leave or become leader. Segments of a member that fails now are not "
       "taken over."},
      {kCoordinator, kSettings, kDelayed, kAtOnce, kReturn,
       "Changed settings do not reach the other members."},

      {kStoreAndCoordinator, kRunning, kStops, kLease, kReturn,
       "Leases cannot be renewed. Active runs end when their lease expires, unless on_lost of "
       "their job is hold or fail."},

      {kBus, kPlanning, kGoesOn, kAtOnce, kReturn, "Fires are planned."},
      {kBus, kStarting, kDelayed, kAtOnce, kReturn,
       "Tasks are delayed. Runs that start too late follow the misfire policy of their job."},
      {kBus, kRunning, kGoesOn, kAtOnce, kReturn,
       "Active runs continue: leases and cancels use a separate link."},
      {kBus, kResults, kDelayed, kAtOnce, kReturn, "Results are kept on the executors' disks."},
      {kBus, kLogs, kDelayed, kAtOnce, kReturn, "Job logs are kept on the executors."},

      {kMember, kPlanning, kDelayed, kAtOnce, kSession,
       "Its segments wait until the other members have taken them over."},
      {kMember, kStarting, kDelayed, kAtOnce, kSession,
       "Runs that are due in its segments start when another member has taken them over."},
      {kMember, kRunning, kGoesOn, kAtOnce, kReturn,
       "Active runs continue: the next owner renews the leases."},

      {kLastMember, kPlanning, kStops, kAtOnce, kReturn,
       "No fires are planned. Fires that become due meanwhile follow the misfire policy of their "
       "job."},
      {kLastMember, kStarting, kStops, kAtOnce, kReturn, "No runs start."},
      {kLastMember, kRunning, kStops, kLease, kReturn,
       "Leases are not renewed. Active runs end when their lease expires, unless on_lost of their "
       "job is hold or fail."},
      {kLastMember, kResults, kDelayed, kAtOnce, kReturn,
       "Results are kept on the executors' disks."},
      {kLastMember, kLogs, kDelayed, kAtOnce, kReturn, "Job logs are kept on the executors."},
      {kLastMember, kReading, kStops, kAtOnce, kReturn, "The API and the console are unavailable."},
      {kLastMember, kChanging, kStops, kAtOnce, kReturn,
       "Nothing can be changed, cancelled or started manually."},
      {kLastMember, kNotices, kDelayed, kAtOnce, kReturn, "Notifications are kept in the store."},

      {kExecutor, kStarting, kDelayed, kAtOnce, kExecutorLost,
       "Runs go to other executors. Runs that only this executor may run wait for it."},
      {kExecutor, kRunning, kStops, kAttemptLost, kReturn,
       "Active runs on it are lost. What follows depends on on_lost and retry_count of their job."},

      {kLastExecutor, kStarting, kStops, kAtOnce, kReturn,
       "No runs start. Runs that start too late follow the misfire policy of their job."},
      {kLastExecutor, kRunning, kStops, kAttemptLost, kReturn,
       "Active runs on it are lost. What follows depends on on_lost and retry_count of their job."},

      {kWebhook, kNotices, kDelayed, kAtOnce, kDay, "Notifications to the webhook are retried."},
      {kWebhook, kNotices, kStops, kDay, kReturn,
       "Older notifications to the webhook are no longer retried."},
      {kMail, kNotices, kDelayed, kAtOnce, kDay, "Mails are retried."},
      {kMail, kNotices, kStops, kDay, kReturn, "Older mails are no longer retried."},
  };
}

}  // namespace

std::string_view Name(Outage outage) {
  switch (outage) {
    case Outage::kStore: return "store";
    case Outage::kStoreHeld: return "store_held";
    case Outage::kCoordinator: return "coordinator";
    case Outage::kStoreAndCoordinator: return "store_and_coordinator";
    case Outage::kBus: return "bus";
    case Outage::kMember: return "member";
    case Outage::kLastMember: return "last_member";
    case Outage::kExecutor: return "executor";
    case Outage::kLastExecutor: return "last_executor";
    case Outage::kWebhook: return "webhook";
    case Outage::kMail: return "mail";
  }
  return "unknown";
}

std::string_view Name(Capability capability) {
  switch (capability) {
    case Capability::kPlanning: return "planning";
    case Capability::kStarting: return "starting";
    case Capability::kRunning: return "running";
    case Capability::kResults: return "results";
    case Capability::kLogs: return "logs";
    case Capability::kTakeover: return "takeover";
    case Capability::kSettings: return "settings";
    case Capability::kReading: return "reading";
    case Capability::kChanging: return "changing";
    case Capability::kNotices: return "notices";
  }
  return "unknown";
}

std::string_view Name(OutageEffect effect) {
  switch (effect) {
    case OutageEffect::kStops: return "stops";
    case OutageEffect::kDelayed: return "delayed";
    case OutageEffect::kGoesOn: return "goes_on";
  }
  return "unknown";
}

const std::vector<OutageRow>& OutageTable() {
  static const std::vector<OutageRow> table = MakeTable();
  return table;
}

std::vector<OutageRow> RowsOf(Outage outage) {
  std::vector<OutageRow> rows;
  for (const OutageRow& row : OutageTable()) {
    if (row.outage == outage) rows.push_back(row);
  }
  return rows;
}

std::string CodeOf(const OutageRow& row) {
  return std::string(Name(row.outage)) + "." + std::string(Name(row.capability)) + "." +
         std::string(Name(row.effect));
}

std::vector<OutageRow> ImpactOf(std::set<Outage> outages) {
  const bool no_store = outages.contains(Outage::kStore) || outages.contains(Outage::kStoreHeld);
  if (no_store && outages.contains(Outage::kCoordinator)) {
    outages.insert(Outage::kStoreAndCoordinator);
  }
  std::vector<OutageRow> impact;
  std::set<Capability> harmed;
  for (const OutageRow& row : OutageTable()) {
    if (!outages.contains(row.outage)) continue;
    impact.push_back(row);
    if (Harms(row)) harmed.insert(row.capability);
  }
  std::erase_if(impact, [&harmed](const OutageRow& row) {
    return !Harms(row) && harmed.contains(row.capability);
  });
  return impact;
}

Duration OutageBounds::Of(OutageBound bound) const {
  switch (bound) {
    case OutageBound::kAtOnce: return Duration::zero();
    case OutageBound::kSession: return session;
    case OutageBound::kExecutorLost: return executor_lost;
    case OutageBound::kLease: return lease;
    case OutageBound::kAttemptLost: return lease + takeover_margin;
    case OutageBound::kDay: return kDeliveryTriedFor;
    case OutageBound::kReturn: break;
  }
  CARILLON_CHECK(false, "no bound: it lasts");
  return {};
}

}  // namespace carillon
