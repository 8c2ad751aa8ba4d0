#include "scheduler/claims/checkpoint_answers.h"

#include "common/base/log.h"

namespace carillon::scheduler {

SteadyTime CheckpointAnswers::Step(SteadyTime now) {
  while (!sent_until_.empty() && sent_until_.front().first <= now) {
    sent_.erase(sent_until_.front().second);
    sent_until_.pop_front();
  }
  std::vector<CheckpointAnswer> answers = ports_.queue.PopUpTo(kReadsPerStep);
  for (CheckpointAnswer& answer : answers) {
    if (!sent_.contains(answer.reply.items[0].token)) Send(std::move(answer), now);
  }
  return answers.size() == kReadsPerStep ? now : SteadyTime::max();
}

void CheckpointAnswers::Send(CheckpointAnswer answer, SteadyTime now) {
  ClaimBatchReply::Item& item = answer.reply.items[0];
  auto read = ports_.store.ReadCheckpoint(item.key);
  if (!read.ok()) return log::Warn("claims", "checkpoint: {}", read.error().message);
  item.checkpoint = *std::move(read);
  const ClaimToken token = item.token;
  const Status sent =
      ports_.hub.Send(answer.to.executor, answer.to.incarnation, std::move(answer.reply));
  if (!sent.ok()) return log::Debug("claims", "answer: {}", sent.error().message);
  sent_.insert(token);
  sent_until_.emplace_back(now + kAgainAfter, token);
}

}  // namespace carillon::scheduler
