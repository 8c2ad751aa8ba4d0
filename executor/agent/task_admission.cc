#include "executor/agent/task_admission.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/log.h"

namespace carillon::executor {
namespace {

constexpr Duration kClockTolerance = 10s;

size_t BytesIn(const SecretText& text) {
  size_t bytes = 0;
  for (const SecretPiece& piece : text)
    bytes += sizeof(piece) + piece.text.size() + piece.secret.size();
  return bytes;
}

size_t BytesIn(const SecretVariables& variables) {
  size_t bytes = 0;
  for (const auto& [name, text] : variables) bytes += name.size() + BytesIn(text);
  return bytes;
}

size_t BytesIn(const std::vector<std::string>& texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

}  // namespace

size_t TaskAdmission::BytesOf(const TaskMessage& task) {
  constexpr size_t kFixed = 512;
  size_t bytes = kFixed + task.command.size() + BytesIn(task.args) + BytesIn(task.secret_env);
  if (task.http) {
    bytes += task.http->url.size() + BytesIn(task.http->body) + BytesIn(task.http->headers) +
             BytesIn(task.http->client_certificate);
  }
  if (task.handler) bytes += task.handler->parameters_json.size();
  if (task.container) {
    bytes += task.container->image.size() + BytesIn(task.container->command) +
             BytesIn(task.container->args);
  }
  for (const auto& [name, value] : task.env) bytes += name.size() + value.size();
  return bytes;
}

TaskAdmission::TaskAdmission(const ExecutorDaemon::Ports& ports, const ExecutorOptions& options,
                             Rooms rooms)
    : ports_(ports),
      rooms_(rooms),
      intake_({.bus = ports.tasks, .metrics = ports.metrics, .public_keys = ports.public_keys},
              {.executor = options.executor_id, .incarnation = options.incarnation}) {}

void TaskAdmission::LearnTime(const std::optional<WallTime>& told, SteadyTime now) {
  if (!told) return;
  cluster_time_.Tell(*told, now);
  const Duration ahead = ports_.clock.Wall() - *told;
  const bool wrong = ahead > kClockTolerance || ahead < -kClockTolerance;
  if (wrong && !clock_logged_) {
    log::Warn("executor", "this host's clock is {} s {} cluster time: times of runs are wrong",
              (ahead < Duration{} ? -ahead : ahead) / 1s,
              ahead < Duration{} ? "behind" : "ahead of");
  }
  clock_logged_ = wrong;
}

bool TaskAdmission::TakeTasks(SteadyTime now) {
  const size_t records = std::min({kRecordsPerStep, rooms_.queues.room() / kBundleTasksMax,
                                   rooms_.queues.bytes_room() / kRecordBytesMax});
  if (records == 0) return false;  // the tasks wait on the bus
  const WallTime cluster_now = cluster_time_.At(now).value_or(ports_.clock.Wall());
  std::vector<TaskMessage> tasks = intake_.Take(records, cluster_now);
  for (TaskMessage& task : tasks) Admit(std::move(task), now);
  return !tasks.empty();
}

void TaskAdmission::Admit(TaskMessage task, SteadyTime now) {
  RunEntry* const known = rooms_.runs.Find({task.key, task.attempt});
  if (known == nullptr) return Enqueue(std::move(task), now);
  // The task was published again, for a newer version of the job or by the segment's new owner. An
  // open claim keeps its token and goes to the current owner; an accepted claim is not changed.
  if (known->stage == RunStage::kQueued) {
    // The task is of an older version and arrived late.
    if (task.def_version < known->task.def_version) return;
    // Every part of the new task may differ, even its lane.
    rooms_.queues.Of(known->lane()).Remove(known->id);
    rooms_.runs.Move(*known, RunStage::kGone);
    Enqueue(std::move(task), now);
  } else if (known->stage == RunStage::kClaiming && known->member != task.member &&
             known->task.def_version == task.def_version) {
    rooms_.claims.MoveTo(task.member, *known, now);
  }
}

void TaskAdmission::Enqueue(TaskMessage task, SteadyTime now) {
  const AttemptId id{task.key, task.attempt};
  const Runner runner = RunnerOf(task.type);
  const LaneQueues::Queue::Waiting waiting{.priority = task.priority,
                                           .arrived = now,
                                           .expires = now + kQueueWaitMax,
                                           .bytes = BytesOf(task)};
  if (rooms_.gate.draining() || !rooms_.queues.Of(LaneOf(runner)).Push(id, waiting).ok()) {
    ports_.metrics.counter("carillon_queue_rejections_total", "executor").Add();
    return;
  }
  RunEntry entry;
  entry.id = id;
  entry.held = {
      .key = task.key, .segment = task.segment, .job_no = task.job_no, .attempt = task.attempt};
  entry.runner = runner;
  if (task.handler) entry.handler = task.handler->name;
  entry.member = task.member;
  entry.since = now;
  entry.kill_at_lease_end = task.on_lost == OnLost::kRetry;
  entry.task = std::move(task);
  rooms_.runs.Insert(std::move(entry));
}

void TaskAdmission::DropExpired(SteadyTime now) {
  for (LaneQueues::Queue& queue : rooms_.queues.all()) {
    for (const AttemptId& id : queue.PopExpired(now)) {
      RunEntry* entry = rooms_.runs.Find(id);
      if (entry != nullptr) {
        rooms_.runs.Move(*entry, Next(entry->stage, RunEvent::kQueueExpired).stage);
      }
      ports_.metrics.counter("carillon_queue_rejections_total", "executor").Add();
    }
  }
}

}  // namespace carillon::executor
