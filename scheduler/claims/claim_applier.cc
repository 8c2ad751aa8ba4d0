#include "scheduler/claims/claim_applier.h"

#include <algorithm>
#include <iterator>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/domain/run/returns.h"
#include "scheduler/assign/bisect.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kArrivalsPerStep = 256;
constexpr Duration kIdle = 1s;
constexpr size_t kEarlyMax = 10'000;
// The most bytes of secrets in one message. A longer answer is sent in several
// messages, because the control link limits the size of a message.
constexpr size_t kBytesPerReply = size_t{4} << 20;
constexpr Duration kLateAsked = 1s;  // a start later than this may require a notification

bool Accepted(const ClaimReply& reply) {
  return reply.verdict == ClaimVerdict::kAccepted || reply.verdict == ClaimVerdict::kAcceptedAgain;
}

RunEvent::What EventOf(const ClaimReply& reply) {
  if (Accepted(reply)) return RunEvent::What::kClaimed;
  switch (reply.reason) {
    case ClaimReason::kVersionMoved:
    case ClaimReason::kNotDue: return RunEvent::What::kStale;
    case ClaimReason::kExecutorDisabled:
    case ClaimReason::kWrongExecutor: return RunEvent::What::kReturned;
    default: return RunEvent::What::kRefused;
  }
}

std::string_view LabelOf(const ClaimReply& reply) {
  if (reply.verdict == ClaimVerdict::kAccepted) return "accepted";
  if (reply.verdict == ClaimVerdict::kAcceptedAgain) return "accepted_again";
  return Name(reply.reason);
}

HeldAttempt HeldOf(const ClaimRequest& request) {
  return {.key = request.key,
          .segment = request.segment,
          .job_no = request.job_no,
          .attempt = request.attempt,
          .token = request.token};
}

}  // namespace

ClaimApplier::ClaimApplier(const Ports& ports, Options options)
    : ports_(ports),
      options_(std::move(options)),
      demands_(ports_.store, ports_.definitions, ports_.executors),
      pace_(options_.interval) {}

SteadyTime ClaimApplier::Step(SteadyTime now) {
  Gather();
  const SteadyTime next_early = TakeEarly(now);
  if (arrivals_.empty()) return std::min(next_early, now + kIdle);
  const SteadyTime next = has_early_ ? pace_.soonest() : pace_.next();
  if (gathered_ < options_.full_rows && now < next) return std::min(next, next_early);
  pace_.Began(now, gathered_, ports_.assigned.Members());
  has_early_ = false;
  std::vector<Item> items;
  size_t taken = 0;
  while (taken < arrivals_.size()) {
    const ClaimArrival& arrival = arrivals_[taken];
    if (!items.empty() && items.size() + arrival.batch.requests.size() > kBatchRowsMax) break;
    for (const ClaimRequest& request : arrival.batch.requests) {
      Item item{.arrival = taken, .request = request};
      // The link has authenticated the executor; the identity in the message is not trusted.
      item.request.executor = arrival.from.executor;
      item.request.incarnation = arrival.from.incarnation;
      items.push_back(std::move(item));
    }
    ++taken;
  }
  gathered_ -= std::min(gathered_, items.size());
  Apply(std::move(items));
  arrivals_.erase(arrivals_.begin(), arrivals_.begin() + static_cast<long>(taken));
  return ports_.clock.Steady();
}

void ClaimApplier::Gather() {
  if (arrivals_.size() >= kArrivalsPerStep) return;
  for (ClaimArrival& arrival : ports_.claims.PopUpTo(kArrivalsPerStep - arrivals_.size())) {
    gathered_ += arrival.batch.requests.size();
    arrivals_.push_back(std::move(arrival));
  }
}

SteadyTime ClaimApplier::TakeEarly(SteadyTime now) {
  // Rounded up: a claim a little before its time would have to be read once more.
  constexpr Duration kAfter = 100us;
  SteadyTime next = SteadyTime::max();
  std::vector<ClaimArrival> ready;
  std::erase_if(early_, [&](EarlyClaim& claim) {
    const auto at = ports_.cluster.ToSteady(claim.at + kAfter);
    if (at && *at > now) {
      next = std::min(next, *at);
      return false;
    }
    ready.push_back(std::move(claim.arrival));
    return true;
  });
  gathered_ += ready.size();
  has_early_ = has_early_ || !ready.empty();
  arrivals_.insert(arrivals_.begin(), std::make_move_iterator(ready.begin()),
                   std::make_move_iterator(ready.end()));
  return next;
}

// Its executor asks again if it hears nothing for long, so that a claim may be forgotten here.
void ClaimApplier::KeepEarly(std::vector<Item>& items) {
  const auto cluster_now = ports_.cluster.Now();
  for (Item& item : items) {
    if (!item.decided || !item.reply.not_before || !cluster_now) continue;
    item.decided = false;
    if (early_.size() >= kEarlyMax) continue;
    const ClaimArrival& arrival = arrivals_[item.arrival];
    early_.push_back({.at = std::min(*item.reply.not_before, *cluster_now + kGroupLead),
                      .arrival = {.from = arrival.from,
                                  .received = arrival.received,
                                  .batch = {.sent_us = arrival.batch.sent_us,
                                            .batch_id = arrival.batch.batch_id,
                                            .requests = {item.request}}}});
  }
}

void ClaimApplier::ForgetSpent() {
  const SteadyTime now = ports_.clock.Steady();
  while (!spent_until_.empty() && spent_until_.front().first <= now) {
    spent_.erase(spent_until_.front().second);
    spent_until_.pop_front();
  }
}

void ClaimApplier::Apply(std::vector<Item> items) {
  const auto view = ports_.segments.View();
  ForgetSpent();
  Screen(items, *view);
  std::vector<Item*> open;
  for (Item& item : items) {
    if (!item.decided && item.epoch != Epoch{}) open.push_back(&item);
  }
  Place(open);
  for (size_t from = 0; from < open.size(); from += kBatchRowsMax) {
    const auto begin = open.begin() + static_cast<long>(from);
    const auto count = static_cast<long>(std::min(open.size() - from, kBatchRowsMax));
    Decide(std::span<Item*>(begin, begin + count), *view);
  }
  KeepEarly(items);
  File(items);
  HandSecrets(items);
  FindCheckpoints(items);
  Answer(items);
}

// Decides the claims for which the run's row is not needed; the store decides the other
// claims. A loss is checked first, because it is final. After any other answer the claim may
// still be accepted.
void ClaimApplier::Screen(std::vector<Item>& items, const OwnedView& view) {
  size_t room = ports_.leases.Room();
  const bool paused = ports_.settings.paused() && !failpoint::Broken("pause.claim");
  for (Item& item : items) {
    const OwnedSegment* owned = view.Find(item.request.segment);
    if (owned != nullptr) item.epoch = owned->epoch;
    const bool foreign = owned == nullptr && !ports_.assigned.Wants(item.request.segment);
    // A claim with the token of a lost attempt is refused for good.
    if (ports_.leases.IsLost(item.request.key, item.request.token)) {
      item.decided = true;
      item.reply = {ClaimVerdict::kRefused, ClaimReason::kGone};
      continue;
    }
    if (spent_.contains(item.request.token)) {
      item.decided = true;
      item.reply = {ClaimVerdict::kRefused, ClaimReason::kNotDue};
      continue;
    }
    // This refusal decides nothing about the run. The claim may have been accepted here before the
    // segment moved, and only the present owner knows that.
    if (foreign) {
      item.decided = true;
      item.reply = {ClaimVerdict::kRefused, ClaimReason::kNotOwner};
      continue;
    }
    // During a pause the store refuses the claim unless it was accepted before. Only the row shows
    // whether it was accepted. The lease table cannot rule it out: the segment may have moved
    // meanwhile, or may not be recovered yet.
    if (paused) {
      item.request.hold_back = ClaimReason::kClusterPaused;
      continue;
    }
    if (ports_.leases.Knows(item.request.key)) {
      item.request.repeated = true;
      continue;
    }
    // If there is no room for a lease, a new claim is refused. The run stays PENDING and is
    // dispatched again. If the claim were accepted, the run would stay RUNNING for ever, because it
    // has no lease.
    if (room == 0) {
      item.request.hold_back = ClaimReason::kNoLease;
      continue;
    }
    --room;
  }
}

void ClaimApplier::Place(std::vector<Item*>& items) {
  if (items.empty()) return;
  std::vector<ClaimRequest*> requests;
  for (Item* item : items) requests.push_back(&item->request);
  const auto complete = demands_.Complete(requests);
  if (!complete.ok()) log::Warn("claims", "definitions: {}", complete.error().message);
  size_t at = 0;
  std::erase_if(items, [&](const Item*) { return !complete.ok() || !(*complete)[at++]; });
}

void ClaimApplier::Decide(std::span<Item*> items, const OwnedView& view) {
  // The refusal of a claim is final, so the request itself must be bad. After any other error the
  // claims get no answer, and the executors repeat them.
  const Status decided = Bisect(
      items,
      [&](std::span<Item*> some) -> Status {
        const Status claimed = Claim(some, view);
        if (!claimed.ok() && ItemIsBad(claimed.code())) return claimed;
        return {};
      },
      [](Item* item, const Error& error) {
        log::Error("claims", "run {} refused by the store: {}", EncodeRunId(item->request.key),
                   error.message);
        item->decided = true;
        item->reply = {ClaimVerdict::kRefused, ClaimReason::kGone};
      });
  CARILLON_CHECK(decided.ok(), "an error of the store was not handled");
}

Status ClaimApplier::Claim(std::span<Item*> items, const OwnedView& view) {
  const auto cluster_now = ports_.cluster.Now();
  if (!cluster_now) return {ErrorCode::kUnavailable, "no cluster time"};
  std::vector<ClaimRequest> requests;
  std::vector<SegmentId> segments;
  for (const Item* item : items) {
    requests.push_back(item->request);
    ClaimRequest& request = requests.back();
    request.late_after = {};
    // The store knows whether the run was given back until then, and so is late.
    const bool first = request.attempt <= 1 + kReturnsMax;
    // A run is never due before its fire, so it is not late if it is in time for its fire.
    const Duration since_fire = *cluster_now - request.key.fire;
    if (first && since_fire > kLateAsked) {
      const Duration limit = ports_.late_after(request);
      if (since_fire > limit) request.late_after = limit;
    }
    segments.push_back(item->request.segment);
  }
  const Fence fence = view.FenceFor(std::move(segments));
  const auto replies = ports_.fences.Run(
      "claim", fence, [&] { return ports_.store.Claim(requests, fence, *cluster_now); });
  if (!replies.ok()) return replies.error();
  for (size_t i = 0; i < items.size(); ++i) {
    items[i]->decided = true;
    items[i]->reply = (*replies)[i];
  }
  return {};
}

void ClaimApplier::File(std::vector<Item>& items) {
  std::map<size_t, std::vector<Item*>> by_arrival;
  for (Item& item : items) {
    if (item.decided) by_arrival[item.arrival].push_back(&item);
  }
  for (auto& [arrival, decided] : by_arrival) FileOf(arrivals_[arrival].from, decided);
}

void ClaimApplier::Grant(const LeaseHolder& holder, const std::vector<Item*>& items) {
  std::vector<LeaseTable::GrantItem> grants;
  std::vector<Item*> accepted;
  for (Item* item : items) {
    if (!Accepted(item->reply)) continue;
    grants.push_back({HeldOf(item->request), item->epoch});
    accepted.push_back(item);
  }
  const auto answers = ports_.leases.GrantAll(holder, grants, ports_.clock.Steady());
  std::vector<HeldAttempt> again;
  for (size_t i = 0; i < accepted.size(); ++i) {
    if (accepted[i]->reply.verdict == ClaimVerdict::kAcceptedAgain) again.push_back(grants[i].held);
    if (answers[i] == LeaseTable::Grant::kGranted) continue;
    // Either the attempt was lost meanwhile and must not start, or its segment is no longer owned.
    // If the segment is no longer owned, no answer is sent, because the next owner decides.
    accepted[i]->decided = answers[i] != LeaseTable::Grant::kNotOwned;
    accepted[i]->reply = {ClaimVerdict::kRefused, ClaimReason::kNotPending};
  }
  // If the result of a run was applied before its repeated claim was granted, the new lease must
  // be removed again.
  ports_.leases.Erase(ports_.applied.Among(again));
}

void ClaimApplier::FileOf(const LeaseHolder& holder, const std::vector<Item*>& items) {
  Grant(holder, items);
  RunEvents events{.executor = holder.executor};
  std::map<std::string_view, uint64_t> counts;
  bool in_timed_group = false;
  for (const Item* item : items) {
    if (!item->decided) continue;
    ++counts[LabelOf(item->reply)];
    events.events.push_back({EventOf(item->reply), item->request.key, item->request.attempt});
    if (item->reply.reason == ClaimReason::kWaitsForSlot &&
        spent_.insert(item->request.token).second) {
      spent_until_.emplace_back(ports_.clock.Steady() + options_.lease, item->request.token);
    }
    in_timed_group = in_timed_group || item->reply.in_timed_group;
    if (item->reply.verdict == ClaimVerdict::kSkipped) {
      ports_.metrics.counter("carillon_runs_total", Name(RunState::kSkipped)).Add();
    }
  }
  for (const auto& [label, count] : counts) {
    ports_.metrics.counter("carillon_claims_total", label).Add(count);
  }
  if (in_timed_group) ports_.queued_in_timed_group();
  ports_.events.Push(std::move(events));
}

// The definition named in the run's row determines the secrets. The executor's claim does not.
void ClaimApplier::HandSecrets(std::vector<Item>& items) {
  std::vector<Item*> asking;
  std::vector<RunDefinitionKey> keys;
  for (Item& item : items) {
    if (!item.decided || !Accepted(item.reply) || !item.request.wants_secrets) continue;
    asking.push_back(&item);
    keys.push_back(DefinitionKeyOf({item.reply.job_no, item.reply.def_version}, item.request.key,
                                   item.request.rules.value_or(std::string())));
  }
  if (asking.empty()) return;
  const auto handed = Handed(keys);
  for (size_t i = 0; i < asking.size(); ++i) {
    if (handed.ok()) {
      asking[i]->secrets = (*handed)[i];
    } else {
      asking[i]->silent = true;
    }
  }
  if (!handed.ok()) log::Warn("claims", "secrets: {}", handed.error().message);
}

Result<std::vector<HandedSecrets>> ClaimApplier::Handed(const std::vector<RunDefinitionKey>& keys) {
  if (ports_.secrets == nullptr) {
    const HandedSecrets none{.failure = std::string(reason::kSecretUnreadable),
                             .error = "this member cannot provide secrets"};
    return std::vector<HandedSecrets>(keys.size(), none);
  }
  CARILLON_ASSIGN_OR_RETURN(const auto found, ports_.definitions.Load(keys));
  std::vector<WantedSecrets> wanted;
  for (const RunDefinitionKey& key : keys) {
    WantedSecrets& one = wanted.emplace_back();
    const auto at = found.definitions.find(key);
    if (at == found.definitions.end()) continue;
    one.owner = at->second->job().user_id;
    for (const auto& [name, variable] : at->second->secrets()) one.names.insert(name);
  }
  CARILLON_ASSIGN_OR_RETURN(std::vector<HandedSecrets> handed, ports_.secrets->Hand(wanted));
  for (size_t i = 0; i < keys.size(); ++i) {
    if (found.definitions.contains(keys[i])) continue;
    handed[i] = {.failure = std::string(reason::kSecretUnreadable),
                 .error = "the secrets of the job cannot be read"};
  }
  return handed;
}

// Only a later attempt has a checkpoint to continue from, so that a first one costs no read. An
// attempt must not begin anew only because its executor has not yet said what it takes.
void ClaimApplier::FindCheckpoints(std::vector<Item>& items) {
  std::vector<Item*> asking;
  std::vector<RunKey> keys;
  for (Item& item : items) {
    if (!item.decided || item.silent || !Accepted(item.reply) || item.request.attempt == 1)
      continue;
    asking.push_back(&item);
    keys.push_back(item.request.key);
  }
  if (asking.empty()) return;
  const auto found = ports_.checkpoints.WithCheckpoint(keys);
  if (!found.ok()) log::Warn("claims", "checkpoints: {}", found.error().message);
  for (Item* item : asking) {
    item->silent = !found.ok();
    if (!found.ok() || !found->contains(item->request.key)) continue;
    const auto executor = ports_.executors.Find(item->request.executor);
    const bool known = executor && executor->features;
    item->silent = !known;
    item->has_checkpoint = known && executor->features->Has(Feature::kCheckpoints);
  }
}

void ClaimApplier::Answer(std::vector<Item>& items) {
  std::map<size_t, ClaimBatchReply> replies;
  size_t bytes = 0;
  for (Item& item : items) {
    if (!item.decided || item.silent) continue;
    ClaimBatchReply::Item answer{.key = item.request.key,
                                 .token = item.request.token,
                                 .verdict = item.reply.verdict,
                                 .reason = item.reply.reason,
                                 .secrets = std::move(item.secrets.values),
                                 .secret_failure = std::move(item.secrets.failure),
                                 .secret_error = std::move(item.secrets.error)};
    if (item.has_checkpoint) {
      const ClaimArrival& arrival = arrivals_[item.arrival];
      const Status passed = ports_.checkpoint_answers.Push(
          {.to = arrival.from, .reply = Addressed(arrival, {.items = {std::move(answer)}})});
      // The executor repeats the claim.
      if (!passed.ok()) log::Debug("claims", "answer: {}", passed.error().message);
      continue;
    }
    for (const auto& [name, value] : answer.secrets) bytes += value.size();
    replies[item.arrival].items.push_back(std::move(answer));
    if (bytes < kBytesPerReply) continue;
    SendAll(std::exchange(replies, {}));
    bytes = 0;
  }
  SendAll(std::move(replies));
}

ClaimBatchReply ClaimApplier::Addressed(const ClaimArrival& arrival, ClaimBatchReply reply) const {
  reply.batch_id = arrival.batch.batch_id;
  reply.sent_us = arrival.batch.sent_us;
  reply.lease = options_.lease;
  return reply;
}

void ClaimApplier::SendAll(std::map<size_t, ClaimBatchReply> replies) {
  for (auto& [at, reply] : replies) {
    const ClaimArrival& arrival = arrivals_[at];
    const Status sent = ports_.hub.Send(arrival.from.executor, arrival.from.incarnation,
                                        Addressed(arrival, std::move(reply)));
    // A lost answer does no harm. The executor repeats the claim, and it is accepted again.
    if (!sent.ok()) log::Debug("claims", "answer: {}", sent.error().message);
  }
}

}  // namespace carillon::scheduler
