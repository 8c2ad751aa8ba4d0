// Reads the status of the member in this process, for GET /api/system/status.
#pragma once

#include "scheduler/explain/status_source.h"
#include "scheduler/member/member_status.h"

namespace carillon::scheduler {

class MemberStatusSource final : public StatusSource {
 public:
  explicit MemberStatusSource(const MemberView& member) : member_(member) {}

  ClusterView Read() override {
    const MemberStatus seen = member_.GetStatus();
    ClusterView view{.self = seen.self,
                     .ready = member_.ready(),
                     .leader = seen.leader,
                     .executors = seen.executors,
                     .oldest_overdue = seen.oldest_overdue,
                     .unplanned_jobs = seen.unplanned_jobs,
                     .late_p50 = seen.late_p50,
                     .late_p99 = seen.late_p99,
                     .topics = seen.topics,
                     .session = seen.session,
                     .overload = seen.overload};
    for (const MemberInfo& info : seen.members) {
      ClusterMember entry{.id = info.id,
                          .address = info.rest_url,
                          .version = info.version,
                          .ops_url = info.ops_url,
                          .schema = info.schema,
                          .paused = info.paused};
      if (info.id == seen.self && seen.clock_trusted) entry.clock_offset = seen.clock_offset;
      if (info.id == seen.self) entry.paused = seen.paused;
      view.members.push_back(std::move(entry));
    }
    return view;
  }

 private:
  const MemberView& member_;
};

}  // namespace carillon::scheduler
