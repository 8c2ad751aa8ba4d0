#include "scheduler/letters/letter_publisher.h"

#include <algorithm>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/base/stable_hash.h"
#include "common/wire/json/letter_json.h"
#include "scheduler/settings/new_fields.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kIdle = 1h;

}  // namespace

SteadyTime LetterPublisher::Step(SteadyTime now) {
  if (topic_.empty()) return now + kIdle;
  if (!MayPublish()) {
    Forget();
    return now + kLookEvery;
  }
  Collect();
  if (sent_ > 0) {
    if (!open_.empty() && now < answer_by_) return answer_by_;  // woken by the answers
    if (now < next_) return next_;
    Finish(now);
    return next_;
  }
  if (now < next_) return next_;
  const Status sent = SendBatch(now);
  if (!sent.ok()) Failed(now, sent.error());
  return sent_ > 0 && !open_.empty() ? answer_by_ : next_;
}

bool LetterPublisher::MayPublish() const {
  return ports_.is_leader() && ports_.upgrade.FeatureOn(kFanOutMigration);
}

void LetterPublisher::Collect() {
  std::vector<Answer> answers;
  {
    MutexLock lock(answers_->mu);
    answers.swap(answers_->list);
  }
  for (const Answer& answer : answers) {
    // Of a batch that was given up, only the good news counts.
    if (answer.batch != batch_ && !answer.outcome.ok()) continue;
    const bool expected = open_.erase(answer.id) > 0;
    if (expected || answer.outcome.ok()) Judge(answer.id, answer.outcome);
  }
}

void LetterPublisher::Judge(uint64_t id, const Status& outcome) {
  if (outcome.ok()) {
    if (!in_bus_.insert(id).second) return;
    ports_.metrics.counter("carillon_dead_letters_published_total", "sent").Add();
  } else if (outcome.code() != ErrorCode::kInvalid) {
    failure_ = outcome.error();
  } else if (sent_ == 1) {
    Refuse(id, outcome.error());
  } else {
    ++alone_;  // perhaps because of a neighbour
  }
}

void LetterPublisher::Refuse(uint64_t id, const Error& error) {
  log::Error("letters", "dead letter {} is not published, topic {} refuses it: {}", id, topic_,
             error.message);
  ports_.metrics.counter("carillon_dead_letters_published_total", "refused").Add();
  in_bus_.insert(id);
}

void LetterPublisher::Finish(SteadyTime now) {
  if (!open_.empty() && !failure_) {
    failure_ = Error{ErrorCode::kTimeout, "no answer about letters that were sent"};
  }
  open_.clear();
  // What the bus has is marked before anything else is sent.
  if (const Status marked = Mark(); !marked.ok()) return Failed(now, marked.error());
  sent_ = 0;
  if (failure_) return Failed(now, *std::exchange(failure_, std::nullopt));
  if (!std::exchange(told_, "").empty()) {
    log::Info("letters", "topic {} takes letters again", topic_);
  }
  backoff_.Reset();
  next_ = more_ || alone_ > 0 ? now : now + kLookEvery;
}

Status LetterPublisher::Mark() {
  CARILLON_TRY(ports_.store.MarkPublished({in_bus_.begin(), in_bus_.end()}));
  waiting_ = std::max<int64_t>(0, waiting_ - static_cast<int64_t>(in_bus_.size()));
  ports_.metrics.gauge("carillon_dead_letters_unpublished").Set(static_cast<double>(waiting_));
  in_bus_.clear();
  return {};
}

Status LetterPublisher::SendBatch(SteadyTime now) {
  if (!in_bus_.empty()) CARILLON_TRY(Mark());  // answers that came late
  next_ = now + kLookEvery;
  if (!first_) {
    const std::optional<WallTime> time = ports_.cluster.SettledNow();
    if (!time) return {};
    CARILLON_ASSIGN_OR_RETURN(first_, ports_.store.BeginPublishing(*time));
  }
  const size_t limit = alone_ > 0 ? 1 : kLettersMax;
  CARILLON_ASSIGN_OR_RETURN(const LettersToPublish page,
                            ports_.store.ScanUnpublished(*first_, limit));
  waiting_ = page.waiting;
  ports_.metrics.gauge("carillon_dead_letters_unpublished").Set(static_cast<double>(waiting_));
  if (alone_ > 0) --alone_;
  if (page.letters.empty()) {
    alone_ = 0;
    told_.clear();
    backoff_.Reset();
    return {};
  }
  more_ = page.letters.size() == limit;
  answer_by_ = now + kAnswerWithin;
  next_ = now;
  Send(page.letters);
  Collect();
  return {};
}

void LetterPublisher::Send(const std::vector<LetterToPublish>& letters) {
  ++batch_;
  size_t bytes = 0;
  for (const LetterToPublish& letter : letters) {
    const uint64_t id = letter.letter.id;
    std::string text = LetterToText(letter);
    bytes += text.size();
    if (sent_ > 0 && bytes > kBytesMax) {
      more_ = true;
      return;
    }
    ++sent_;
    open_.insert(id);
    const Status sent = SendOne(letter, std::move(text));
    if (sent.ok() && failpoint::Broken("letters.mark_first")) in_bus_.insert(id);
    if (sent.ok()) continue;
    open_.erase(id);
    if (sent.code() == ErrorCode::kInvalid) {
      Refuse(id, sent.error());
      continue;
    }
    failure_ = sent.error();  // the rest would fare no better
    return;
  }
}

Status LetterPublisher::SendOne(const LetterToPublish& letter, std::string text) {
  const std::string& job = letter.letter.job_id.value();
  BusRecord record{.payload = std::move(text), .headers = {}, .key = job};
  return ports_.producer.Send(topic_, StableHash(job), std::move(record),
                              [answers = answers_, wake = ports_.wake, batch = batch_,
                               id = letter.letter.id](const Status& outcome) {
                                {
                                  MutexLock lock(answers->mu);
                                  answers->list.push_back({batch, id, outcome});
                                }
                                wake();
                              });
}

void LetterPublisher::Failed(SteadyTime now, const Error& error) {
  if (std::exchange(told_, error.message) != error.message) {
    log::Warn("letters", "dead letters are not published, and are tried again: {}", error.message);
  }
  next_ = now + backoff_.Next(rng_);
}

// Without a batch on its way, and without what was read as the leader.
void LetterPublisher::Forget() {
  if (sent_ == 0 && !first_) return;
  Collect();
  if (!in_bus_.empty()) static_cast<void>(Mark().ok());  // else the next leader sends them again
  in_bus_.clear();
  open_.clear();
  failure_.reset();
  first_.reset();
  sent_ = 0;
  alone_ = 0;
  told_.clear();
  backoff_.Reset();
  next_ = {};
  ports_.metrics.gauge("carillon_dead_letters_unpublished").Set(0);
}

}  // namespace carillon::scheduler
