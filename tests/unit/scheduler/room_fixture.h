// Base fixture for the parts of a member: a store with faults, ownership of all segments, cluster
// time, queues.
#pragma once

#include <gtest/gtest.h>

#include "common/base/live_settings.h"
#include "common/base/metrics/metrics.h"
#include "scheduler/assign/assigned_segments.h"
#include "scheduler/assign/calendar_cache.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/handover/signals.h"
#include "scheduler/liveness/applied_memory.h"
#include "scheduler/liveness/lease_table.h"
#include "tests/support/failpoint_on.h"
#include "tests/support/faults/fault_stores.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_stores.h"

namespace carillon::test {

inline constexpr uint32_t kSegments = 4;

struct FakeAssignment final : scheduler::AssignedSegments {
  bool Wants(SegmentId) const override { return wants; }
  int Members() const override { return members; }
  bool wants = true;
  int members = 1;
};

class RoomTest : public ::testing::Test {
 protected:
  RoomTest() {
    SampleClock();
    TakeAll();
  }
  ~RoomTest() override { failpoint::Reset(); }

  void SampleClock() { cluster_.AddSample(clock_.Steady(), clock_.Steady(), clock_.Wall()); }
  // Takes the segments that this member does not hold under a new generation, and recovers them.
  void TakeAll(const std::string& member = "m1") {
    std::vector<SegmentId> segments;
    for (uint32_t n = 0; n < kSegments; ++n) segments.push_back(SegmentId(n));
    const auto taken = stores_.segments.Take({.member = MemberId(member),
                                              .incarnation = Incarnation(member),
                                              .generation = Generation(++generation_),
                                              .segments = segments});
    ASSERT_TRUE(taken.ok());
    if (member != "m1") return;
    table_.Add(taken->fence, Generation(generation_), clock_.Steady(), clock_.Steady(), 0);
    table_.Activate(taken->fence);
  }
  // Pauses the whole cluster, or ends its pause.
  void Pause(bool paused = true) {
    ClusterSettings next{.version = settings_.version() + 1};
    if (paused) SetPause(next.values, ClusterPause{.since = "2026-03-01T00:00:00Z"});
    settings_.Adopt(next);
  }
  size_t owned() const { return table_.View()->all().size(); }
  StoredJob CreateJob(const std::string& id, JobDefinition job) {
    job.name = id;
    auto stored = stores_.jobs.CreateJob(JobId(id), job, {.now = clock_.Wall()});
    EXPECT_TRUE(stored.ok()) << (stored.ok() ? "" : stored.error().message);
    return *stored;
  }
  StoredJob CreateNoop(const std::string& id) {
    JobDefinition job;
    job.type = JobType::kNoop;
    return CreateJob(id, job);
  }
  StoredJob CreateRate(const std::string& id, Duration every) {
    JobDefinition job;
    job.type = JobType::kNoop;
    job.schedules = {{.kind = ScheduleKind::kRate, .every = every, .start = clock_.Wall()}};
    return CreateJob(id, job);
  }
  // Creates a PENDING run of the job, due now.
  RunRow Execute(const StoredJob& job) {
    const auto run = stores_.runs.ExecuteJob({.job_id = job.job_id}, {.now = clock_.Wall()});
    EXPECT_TRUE(run.ok());
    clock_.Advance(1ms);  // otherwise the next manual run would be a microsecond later
    return Row(run->key);
  }
  RunRow Row(const RunKey& key) {
    auto run = stores_.runs.GetRun(key);
    EXPECT_TRUE(run.ok());
    return run->row;
  }
  ClaimRequest ClaimOf(const RunRow& row, uint64_t token) {
    return {.key = row.key,
            .segment = row.segment,
            .job_no = row.job_no,
            .attempt = row.attempt,
            .def_version = row.def_version,
            .token = {1, token},
            .executor = ExecutorId("x1"),
            .incarnation = Incarnation("e1")};
  }
  // Claims the run directly in the store.
  HeldAttempt Claim(const RunRow& row, uint64_t token) {
    const auto replies = stores_.firing.Claim(
        {ClaimOf(row, token)}, table_.View()->FenceFor({row.segment}), clock_.Wall());
    EXPECT_TRUE(replies.ok());
    EXPECT_EQ(replies->at(0).verdict, ClaimVerdict::kAccepted);
    return {row.key, row.segment, row.job_no, row.attempt, {1, token}};
  }
  Epoch EpochOf(SegmentId segment) { return table_.View()->Find(segment)->epoch; }

  ManualClock clock_;
  memory::MemoryStores stores_{clock_, {.segment_count = kSegments}};
  PlannedStores faults_{stores_.Ports()};
  scheduler::CalendarCache calendars_{stores_.calendars};
  Metrics metrics_;
  LiveSettings settings_;
  FakeAssignment assigned_;
  scheduler::MemberSignals signals_;
  scheduler::ClusterClock cluster_{clock_};
  scheduler::SegmentTable table_{4s};
  scheduler::FencedWriter fences_{clock_, stores_.segments, table_, metrics_};
  scheduler::LeaseTable leases_{{}, table_};
  scheduler::AppliedMemory applied_{1000};
  scheduler::RunFeed feed_{"feed", 64};
  scheduler::RunEventQueue events_{"events", 64};
  uint64_t generation_ = 0;
};

}  // namespace carillon::test
