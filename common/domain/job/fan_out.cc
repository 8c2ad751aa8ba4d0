#include "common/domain/job/fan_out.h"

#include <utility>

#include <fmt/format.h>

#include "common/domain/job/job.h"
#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr int64_t kBroadcastWaitMax = 604'800;

Error RefusedFanOut(std::string pointer, std::string why) {
  return {ErrorCode::kInvalid, std::move(why), std::move(pointer)};
}

Status CheckFanOutNumber(std::string_view pointer, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return {};
  return RefusedFanOut(std::string(pointer),
                       fmt::format("is {}; it must be from {} to {}", value, least, most));
}

Status CheckTotalFrom(const Shards& shards) {
  if (shards.alive) {
    return RefusedFanOut("/shards/total", "is either alive or a template, not both");
  }
  std::string fault = TextFault(shards.total_from, kTotalFromBytesMax);
  return fault.empty() ? Status() : RefusedFanOut("/shards/total", std::move(fault));
}

Status CheckHosts(const JobDefinition& job) {
  if (!job.executor_id.empty()) {
    return RefusedFanOut("/executor_id",
                         "cannot be combined with broadcast, which runs on every executor; omit "
                         "it, or use executor_selector");
  }
  if (job.routing != JobDefinition{}.routing) {
    return RefusedFanOut("/routing",
                         "has no effect with broadcast, which runs on every executor; omit it");
  }
  return {};
}

}  // namespace

bool IsTotalTemplate(std::string_view text) { return text.find("{{") != std::string_view::npos; }

bool FansOut(const JobDefinition& job) { return job.shards || job.broadcast; }

Status ValidateFanOut(const JobDefinition& job) {
  if (!FansOut(job)) return {};
  const std::string_view field = job.shards ? "shards" : "broadcast";
  if (job.shards && job.broadcast) {
    return RefusedFanOut("/broadcast", "cannot be combined with shards; omit one of the two");
  }
  if (job.type == JobType::kWorkflow) {
    return RefusedFanOut(fmt::format("/{}", field),
                         "has no effect on a workflow; set it on the jobs of its nodes");
  }
  if (EndsPrevious(job.overlap_policy)) {
    return RefusedFanOut("/overlap_policy", fmt::format("{} cannot be combined with {}",
                                                        Name(job.overlap_policy), field));
  }
  if (job.broadcast) {
    CARILLON_TRY(
        CheckFanOutNumber("/broadcast/wait_s", job.broadcast->wait_s, 0, kBroadcastWaitMax));
    return CheckHosts(job);
  }
  if (!job.shards->total_from.empty()) CARILLON_TRY(CheckTotalFrom(*job.shards));
  if (job.shards->alive || !job.shards->total_from.empty()) {
    return CheckFanOutNumber("/shards/max", job.shards->max, 1, kFanOutMax);
  }
  return CheckFanOutNumber("/shards/total", job.shards->total, 1, kFanOutMax);
}

}  // namespace carillon
