#include "common/base/metrics.h"

namespace carillon {

const std::vector<MetricSpec>& MetricTable() {
  using enum MetricKind;
  static const std::vector<MetricSpec> table = {
      {"carillon_build_info", kGauge, "version", "1, with the version as a label."},
      {"carillon_is_leader", kGauge, "", "1 on the member that assigns segments, else 0."},
      {"carillon_config_version", kGauge, "", "Version of the live settings in force here."},
      {"carillon_owned_segments", kGauge, "", "Segments this member owns."},
      {"carillon_fires_total", kCounter, "kind", "Runs planned, by the kind of schedule."},
      {"carillon_gaps_total", kCounter, "reason", "Fires recorded in gaps instead of run."},
      {"carillon_misfires_total", kCounter, "policy", "Fires later than misfire_grace, by policy."},
      {"carillon_runs_total", kCounter, "state", "Runs that reached a final state."},
      {"carillon_retries_total", kCounter, "cause",
       "Runs put back to PENDING for another attempt."},
      {"carillon_fire_lateness_seconds", kHistogram, "",
       "Start minus nominal fire time, attempt 1."},
      {"carillon_dispatch_delay_seconds", kHistogram, "", "Publish minus due time."},
      {"carillon_run_duration_seconds", kHistogram, "", "End minus start of an attempt."},
      {"carillon_claims_total", kCounter, "result", "Claims decided."},
      {"carillon_results_total", kCounter, "result", "Results applied, by what they did."},
      {"carillon_fenced_writes_total", kCounter, "op",
       "Writes refused because the epoch was over."},
      {"carillon_store_errors_total", kCounter, "code", "Store operations that failed."},
      {"carillon_store_held", kGauge, "",
       "1 while the store that answers is not the trusted one, or lacks what was committed."},
      {"carillon_unreadable_rows_total", kCounter, "table",
       "Readings of rows that hold what this version cannot read; they are left out."},
      {"carillon_rejected_messages_total", kCounter, "reason", "Bus messages never acted on."},
      {"carillon_oldest_overdue_seconds", kGauge, "",
       "Age of the oldest run that is due and not claimed."},
      {"carillon_unplanned_overdue_seconds", kGauge, "",
       "Age of the oldest fire that is due and not planned."},
      {"carillon_queue_depth", kGauge, "queue", "Items waiting in a bounded queue."},
      {"carillon_queue_rejections_total", kCounter, "queue",
       "Items a full queue refused (left in the store)."},
      {"carillon_bus_undelivered_total", kCounter, "topic",
       "Records that no broker took in time; whoever waits for their effect sends again."},
      {"carillon_executors", kGauge, "state", "Executors by state."},
      {"carillon_executor_slots", kGauge, "state", "Slots of this executor: used and free."},
      {"carillon_schedules_set_aside_total", kCounter, "code",
       "Schedules that cannot be planned, left out for a while."},
      {"carillon_runs_waiting_total", kCounter, "cause",
       "Due runs put off because of something that a person has to mend."},
      {"carillon_dispatch_timeouts_total", kCounter, "",
       "Tasks published and not claimed in time, published again."},
      {"carillon_leases_lost_total", kCounter, "", "Attempts declared LOST after their lease."},
      {"carillon_retention_behind", kGauge, "",
       "1 while more old rows wait for their deletion than one call takes."},
      {"carillon_clock_offset_seconds", kGauge, "",
       "This member's wall clock minus the database's."},
      {"carillon_http_request_duration_seconds", kHistogram, "route,method,code",
       "Time to answer a request."},
      {"carillon_http_requests_total", kCounter, "code", "Requests answered, by status code."},
      {"carillon_warden_restarts_total", kCounter, "", "Wardens this executor had to start again."},
      {"carillon_spool_entries", kGauge, "",
       "Results on disk that the scheduler has not applied yet."},
  };
  return table;
}

}  // namespace carillon
