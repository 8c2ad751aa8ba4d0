#include "common/link_bus/carrying_hub.h"

#include <utility>

#include "common/base/log.h"
#include "common/wire/messages/record_sender.h"
#include "common/wire/messages/signature.h"

namespace carillon::link_bus {

std::vector<ExecutorMessage> CarryingHub::Receive(size_t max) {
  std::vector<ExecutorMessage> others;
  bool more = true;
  for (size_t records = 0; more && others.size() < max && records < kRecordsPerReceive;) {
    const size_t asked = max - others.size();
    std::vector<ExecutorMessage> received = hub_.Receive(asked);
    more = received.size() == asked;
    for (ExecutorMessage& message : received) {
      if (auto* carried = std::get_if<CarriedRecord>(&message.message)) {
        ++records;
        Take(message, std::move(*carried));
      } else {
        if (auto* registering = std::get_if<Register>(&message.message)) {
          registering->carries_records = false;  // here they are taken
        }
        others.push_back(std::move(message));
      }
    }
  }
  // The caller takes fewer messages than it asked for as a sign that none are left.
  if (more && others.size() < max) {
    std::function<void()> wake;
    {
      MutexLock lock(mu_);
      wake = wake_;
    }
    if (wake) wake();
  }
  return others;
}

Status CarryingHub::Send(const ExecutorId& executor, const Incarnation& incarnation,
                         ToExecutor message) {
  const auto* registered = std::get_if<Registered>(&message);
  const auto* reply = std::get_if<HeartbeatReply>(&message);
  if (registered != nullptr || (reply != nullptr && !reply->registered)) {
    MutexLock lock(mu_);
    if (registered != nullptr && registered->accepted) {
      accepted_[executor] = incarnation;
    } else if (const auto found = accepted_.find(executor);
               found != accepted_.end() && found->second == incarnation) {
      accepted_.erase(found);
    }
  }
  return hub_.Send(executor, incarnation, std::move(message));
}

void CarryingHub::Take(const ExecutorMessage& from, CarriedRecord carried) {
  const bool accepted = [&] {
    MutexLock lock(mu_);
    const auto found = accepted_.find(from.executor);
    return found != accepted_.end() && found->second == from.incarnation;
  }();
  if (!accepted) {
    // After a restart of the member it comes once more when the executor has registered.
    metrics_.counter("carillon_rejected_messages_total", "unregistered").Add();
    return;
  }
  if (carried.topic != kResultsTopic && carried.topic != kLogsTopic) {
    metrics_.counter("carillon_rejected_messages_total", "topic").Add();
    log::Warn("link", "a record of topic {} is refused executor_id={}", carried.topic,
              from.executor.value());
    return;
  }
  SetSender(carried.record, from.executor);
  const Status kept = local_.Send(carried.topic, carried.partition_key, std::move(carried.record));
  if (!kept.ok()) metrics_.counter("carillon_queue_rejections_total", "bus").Add();
}

void CarryingHub::OnReadable(std::function<void()> wake) {
  {
    MutexLock lock(mu_);
    wake_ = wake;
  }
  hub_.OnReadable(std::move(wake));
}

Status HubProducer::Send(std::string_view topic, uint64_t partition_key, BusRecord record,
                         Delivered delivered) {
  const auto send_local = [&] {
    return local_.Send(topic, partition_key, std::move(record), std::move(delivered));
  };
  if (topic != kTasksTopic) return send_local();
  const auto target = TargetOf(record);
  if (!target) return {ErrorCode::kInvalid, "link: a task without a target"};
  const ExecutorProcess to{target->executor, target->incarnation};
  if (to == inside_) return send_local();
  // An error here would stop all dispatch for a moment, also to executors that can be reached.
  const Status sent =
      hub_.Send(to.executor, to.incarnation,
                CarriedRecord{std::string(topic), partition_key, std::move(record)});
  if (!sent.ok()) log::Debug("link", "a task is lost: {}", sent.error().message);
  return {};
}

Status JoinedHubs::Send(const ExecutorId& executor, const Incarnation& incarnation,
                        ToExecutor message) {
  const bool inside = ExecutorProcess{executor, incarnation} == inside_;
  return (inside ? inner_ : outer_).Send(executor, incarnation, std::move(message));
}

// The inner hub has the messages of one executor, so it cannot starve the outer one.
std::vector<ExecutorMessage> JoinedHubs::Receive(size_t max) {
  std::vector<ExecutorMessage> taken = inner_.Receive(max);
  std::vector<ExecutorMessage> outer = outer_.Receive(max - taken.size());
  taken.insert(taken.end(), std::make_move_iterator(outer.begin()),
               std::make_move_iterator(outer.end()));
  return taken;
}

std::vector<ExecutorProcess> JoinedHubs::TakeEnded() {
  std::vector<ExecutorProcess> ended = inner_.TakeEnded();
  for (ExecutorProcess& process : outer_.TakeEnded()) ended.push_back(std::move(process));
  return ended;
}

void JoinedHubs::Close(const ExecutorProcess& process) {
  (process == inside_ ? inner_ : outer_).Close(process);
}

void JoinedHubs::OnReadable(std::function<void()> wake) {
  inner_.OnReadable(wake);
  outer_.OnReadable(std::move(wake));
}

}  // namespace carillon::link_bus
