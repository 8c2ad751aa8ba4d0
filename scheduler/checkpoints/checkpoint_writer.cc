#include "scheduler/checkpoints/checkpoint_writer.h"

#include <iterator>
#include <utility>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kIdleSaves = 1s;

std::string_view LabelOfSave(SaveVerdict verdict) {
  switch (verdict) {
    case SaveVerdict::kKept: return "kept";
    case SaveVerdict::kKeptBefore: return "kept_before";
    case SaveVerdict::kRefused: break;
  }
  return "refused";
}

}  // namespace

SteadyTime CheckpointWriter::Step(SteadyTime now) {
  std::vector<SaveArrival> arrivals = ports_.progress.PopUpTo(kProgressPerStep);
  std::vector<SaveArrival> large = ports_.checkpoints.PopUpTo(kCheckpointsPerStep);
  if (arrivals.empty() && large.empty()) return now + kIdleSaves;
  arrivals.insert(arrivals.end(), std::make_move_iterator(large.begin()),
                  std::make_move_iterator(large.end()));
  Write(std::move(arrivals));
  return ports_.clock.Steady();
}

void CheckpointWriter::Write(std::vector<SaveArrival> arrivals) {
  const auto view = ports_.segments.View();
  const auto cluster_now = ports_.cluster.Now();
  if (!cluster_now) return;
  std::erase_if(arrivals, [&](const SaveArrival& arrival) {
    return view->Find(arrival.save.segment) == nullptr;
  });
  if (arrivals.empty()) return;
  std::vector<RunSave> saves;
  std::vector<SegmentId> segments;
  for (SaveArrival& arrival : arrivals) {
    segments.push_back(arrival.save.segment);
    saves.push_back(std::move(arrival.save));
    // The answer needs only the names.
    arrival.save = {.key = saves.back().key,
                    .segment = saves.back().segment,
                    .job_no = saves.back().job_no,
                    .attempt = saves.back().attempt,
                    .token = saves.back().token,
                    .seq = saves.back().seq};
  }
  const Fence fence = view->FenceFor(std::move(segments));
  const auto verdicts = ports_.fences.RunAside(
      "save", fence, [&] { return ports_.store.Save(saves, fence, *cluster_now); });
  if (!verdicts.ok()) return;
  for (size_t i = 0; i < arrivals.size(); ++i) Answer(arrivals[i], (*verdicts)[i]);
}

void CheckpointWriter::Answer(const SaveArrival& arrival, SaveVerdict verdict) {
  ports_.metrics.counter("carillon_checkpoints_total", LabelOfSave(verdict)).Add();
  const RunSave& save = arrival.save;
  const Status sent = ports_.hub.Send(arrival.from.executor, arrival.from.incarnation,
                                      SaveAnswer{.attempt = {.key = save.key,
                                                             .segment = save.segment,
                                                             .job_no = save.job_no,
                                                             .attempt = save.attempt,
                                                             .token = save.token},
                                                 .seq = save.seq,
                                                 .kept = verdict != SaveVerdict::kRefused});
  // If the stream broke, the executor sends its content again over the next one.
  if (!sent.ok()) log::Debug("saves", "answer: {}", sent.error().message);
}

}  // namespace carillon::scheduler
