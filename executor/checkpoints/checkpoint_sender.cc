#include "executor/checkpoints/checkpoint_sender.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/wire/json/progress_text.h"

namespace carillon::executor {
namespace {

constexpr Duration kIdle = 1s;
constexpr Duration kSenderFull = 100ms;
constexpr int kSavesPerStep = 64;
constexpr Duration kSweepOn = 100ms;  // while there are many names to remove
constexpr std::array kKinds = {RunFileKind::kProgress, RunFileKind::kCheckpoint};

RunFile FileOf(const HeldAttempt& held, RunFileKind kind) {
  return {.key = held.key, .attempt = held.attempt, .kind = kind};
}

RunSave SaveOf(const CheckpointTracker::Order& order) {
  return {.key = order.held.key,
          .segment = order.held.segment,
          .job_no = order.held.job_no,
          .attempt = order.held.attempt,
          .token = order.held.token,
          .seq = order.seq};
}

}  // namespace

void CheckpointSender::OnWork(const std::function<void()>& wake,
                              const std::function<void()>& wake_core) {
  wake_ = wake;
  wake_core_ = wake_core;
}

void CheckpointSender::Wake() {
  if (wake_) wake_();
}

std::map<std::string, std::string> CheckpointSender::Variables(const HeldAttempt& held) const {
  if (!enabled()) return {};
  return {{kProgressFileVariable, ports_.files->PathOf(FileOf(held, RunFileKind::kProgress))},
          {kCheckpointFileVariable, ports_.files->PathOf(FileOf(held, RunFileKind::kCheckpoint))}};
}

void CheckpointSender::Watch(const HeldAttempt& held, const MemberId& member,
                             const std::optional<std::string>& checkpoint) {
  if (!enabled()) return;
  {
    MutexLock lock(mu_);
    inbox_.watched.push_back({held, member});
    if (!checkpoint) return;
    inbox_.placings.push_back({held, *checkpoint});
    placing_bytes_ += checkpoint->size();
    places_.insert_or_assign(IdOf(held), Result<bool>(false));
  }
  Wake();
}

void CheckpointSender::Put(const HeldAttempt& held, RunFileKind kind, std::string content) {
  if (!enabled()) return;
  {
    MutexLock lock(mu_);
    inbox_.contents.insert_or_assign(FileOf(held, kind), std::move(content));
  }
  Wake();
}

Result<bool> CheckpointSender::InPlace(const HeldAttempt& held) {
  MutexLock lock(mu_);
  const auto place = places_.find(IdOf(held));
  if (place == places_.end()) return true;
  const Result<bool> state = place->second;
  if (!state.ok() || *state) places_.erase(place);
  return state;
}

void CheckpointSender::Meet(const MemberId& member, bool takes_saves) {
  if (!enabled()) return;
  MutexLock lock(mu_);
  inbox_.members[member] = takes_saves;
}

void CheckpointSender::Own(const MemberId& member, const std::vector<HeldAttempt>& renewed) {
  if (!enabled()) return;
  MutexLock lock(mu_);
  for (const HeldAttempt& held : renewed) inbox_.owned.push_back({held, member});
}

void CheckpointSender::Answered(const SaveAnswer& answer) {
  if (!enabled()) return;
  {
    MutexLock lock(mu_);
    inbox_.answers.push_back(answer);
  }
  Wake();
}

void CheckpointSender::Report(std::vector<ReportedResult>& results) {
  if (results.empty()) return;
  std::vector<ReportedResult> at_once;
  std::vector<ReportedResult> left;
  bool woken = false;
  {
    MutexLock lock(mu_);
    for (ReportedResult& result : results) {
      const bool waits = enabled() && result.saves;
      if (waits && waiting_results_ >= kHeldResultsMax) {
        left.push_back(std::move(result));
      } else if (waits) {
        inbox_.results.push_back(std::move(result));
        ++waiting_results_;
        woken = true;
      } else {
        at_once.push_back(std::move(result));
      }
    }
  }
  ports_.sender.Report(at_once);
  results = std::move(at_once);
  results.insert(results.end(), std::make_move_iterator(left.begin()),
                 std::make_move_iterator(left.end()));
  if (woken) Wake();
}

void CheckpointSender::Forget(const std::vector<HeldAttempt>& attempts) {
  if (!enabled()) return;
  MutexLock lock(mu_);
  inbox_.forgotten.insert(inbox_.forgotten.end(), attempts.begin(), attempts.end());
  for (const HeldAttempt& held : attempts) places_.erase(IdOf(held));
}

void CheckpointSender::Recovered() {
  MutexLock lock(mu_);
  recovered_ = true;
}

CheckpointSender::Inbox CheckpointSender::TakeInbox() {
  MutexLock lock(mu_);
  may_sweep_ = recovered_;
  return std::exchange(inbox_, {});
}

SteadyTime CheckpointSender::Step(SteadyTime now) {
  if (!enabled()) return SteadyTime::max();
  // Names are listed before the inbox is taken: then the attempt of every file among them is known,
  // because it was watched before its process began.
  const bool looks = now >= next_look_;
  Result<std::vector<RunFiles::Found>> found{std::vector<RunFiles::Found>{}};
  if (looks) {
    found = ports_.files->ListNext(kNamesPerLook);
    next_look_ = now + kLookEvery;
  }
  Inbox inbox = TakeInbox();
  for (const auto& [member, takes] : inbox.members) book_.Meet(member, takes);
  for (const Owned& watched : inbox.watched) book_.Watch(watched.held, watched.member);
  for (const Owned& owned : inbox.owned) book_.Own(owned.held, owned.member);
  for (const Placing& placing : inbox.placings) Place(placing);
  for (const auto& [file, content] : inbox.contents) WriteContent(file, content);
  for (const SaveAnswer& answer : inbox.answers) book_.Answered(answer.attempt, answer.seq);
  for (ReportedResult& result : inbox.results) book_.Hold(std::move(result), now);
  for (const HeldAttempt& held : inbox.forgotten) book_.Forget(held);
  if (!found.ok() && !list_failed_) log::Error("checkpoint", "{}", found.error().message);
  list_failed_ = !found.ok();
  const size_t removed = found.ok() ? Sweep(*found) : 0;
  if (removed == kNamesPerLook) next_look_ = now + kSweepOn;
  if (looks) LookAtAll();
  LookAtEnded();
  for (int i = 0; i < kSavesPerStep && SaveOne(now); ++i) {
  }
  PassOn(now);
  if (!released_.empty()) return now + kSenderFull;
  return std::min(next_look_, std::max(book_.NextDue(now), now));
}

void CheckpointSender::Place(const Placing& placing) {
  const RunFile file = FileOf(placing.held, RunFileKind::kCheckpoint);
  const Status written = ports_.files->Write(file, placing.checkpoint);
  placing_bytes_ -= placing.checkpoint.size();
  const auto mark = written.ok() ? ports_.files->Look(file) : std::nullopt;
  if (mark) book_.Placed(IdOf(placing.held), *mark);
  {
    MutexLock lock(mu_);
    const auto place = places_.find(IdOf(placing.held));
    if (place != places_.end()) {
      place->second = written.ok() ? Result<bool>(true) : Result<bool>(written.error());
    }
  }
  if (wake_core_) wake_core_();
}

void CheckpointSender::WriteContent(const RunFile& file, const std::string& content) {
  const Status written = ports_.files->Write(file, content);
  if (!written.ok()) return log::Error("checkpoint", "{}", written.error().message);
  if (const auto mark = ports_.files->Look(file)) book_.Found(file, *mark);
}

// Returns how many it has removed.
size_t CheckpointSender::Sweep(const std::vector<RunFiles::Found>& found) {
  if (!may_sweep_) return 0;
  size_t count = 0;
  std::optional<Error> failed;
  for (const RunFiles::Found& entry : found) {
    const bool known = entry.attempt && book_.Knows({entry.attempt->first, entry.attempt->second});
    // A name that tells no attempt is removed when nothing runs that may have written it.
    if (known || (!entry.attempt && !book_.empty())) continue;
    const Status removed = ports_.files->Remove(entry.name);
    if (removed.ok()) ++count;
    if (!removed.ok()) failed = removed.error();
  }
  if (failed) log::Warn("checkpoint", "{}", failed->message);
  return count;
}

void CheckpointSender::LookAt(const AttemptId& id) {
  for (const RunFileKind kind : kKinds) {
    const RunFile file{.key = id.key, .attempt = id.attempt, .kind = kind};
    if (const auto mark = ports_.files->Look(file)) book_.Found(file, *mark);
  }
}

// By their names, not in a list, which anybody can make long.
void CheckpointSender::LookAtAll() {
  for (const AttemptId& id : book_.All()) LookAt(id);
}

void CheckpointSender::LookAtEnded() {
  for (const AttemptId& id : book_.Unlooked()) {
    LookAt(id);
    book_.Looked(id);
  }
}

bool CheckpointSender::SaveOne(SteadyTime now) {
  const std::optional<CheckpointTracker::Order> order = book_.Next(now);
  if (!order) return false;
  std::optional<RunFiles::Content> progress;
  std::optional<RunFiles::Content> checkpoint;
  const bool read =
      (!order->progress || Read(order->held, RunFileKind::kProgress, &progress)) &&
      (!order->checkpoint || Read(order->held, RunFileKind::kCheckpoint, &checkpoint));
  if (!read) {
    book_.Failed(*order, now);
    return true;
  }
  RunSave save = SaveOf(*order);
  CheckpointTracker::Marks marks;
  if (progress) {
    auto parsed = ParseProgress(progress->bytes);
    if (parsed.ok()) {
      save.progress = *std::move(parsed);
      marks[static_cast<size_t>(RunFileKind::kProgress)] = progress->mark;
    } else {
      Refuse(order->held, FileOf(order->held, RunFileKind::kProgress), parsed.error().message);
    }
  }
  const size_t bytes = checkpoint ? checkpoint->bytes.size() : 0;
  if (checkpoint) {
    save.checkpoint = std::move(checkpoint->bytes);
    marks[static_cast<size_t>(RunFileKind::kCheckpoint)] = checkpoint->mark;
  }
  if (!save.progress && !save.checkpoint) return true;
  const Status sent = ports_.link.Send(order->member, AttemptSave{std::move(save)});
  if (sent.ok()) {
    book_.Sent(*order, marks, bytes, now);
  } else {
    book_.Failed(*order, now);
  }
  return true;
}

bool CheckpointSender::Read(const HeldAttempt& held, RunFileKind kind,
                            std::optional<RunFiles::Content>* content) {
  const RunFile file = FileOf(held, kind);
  auto read = ports_.files->Read(file);
  if (read.ok()) {
    *content = *std::move(read);
    if (!*content) book_.Gone(file);
    return true;
  }
  if (read.code() != ErrorCode::kInvalid) return false;
  Refuse(held, file, read.error().message);
  return true;
}

void CheckpointSender::Refuse(const HeldAttempt& held, const RunFile& file,
                              const std::string& why) {
  const bool progress = file.kind == RunFileKind::kProgress;
  const std::string text =
      fmt::format("the {} file is not saved: {}", progress ? "progress" : "checkpoint", why);
  if (!book_.Refuse(file, text)) return;
  log::Warn("checkpoint", "run {} attempt {}: {}", EncodeRunId(held.key), held.attempt, text);
  for (AttemptHost* host : ports_.hosts) {  // one of them runs the attempt; the other ignores it
    const Status noted = host->Note(held, text);
    if (!noted.ok()) log::Debug("checkpoint", "note: {}", noted.error().message);
  }
}

void CheckpointSender::PassOn(SteadyTime now) {
  std::vector<ReportedResult> released = book_.Release(now);
  released_.insert(released_.end(), std::make_move_iterator(released.begin()),
                   std::make_move_iterator(released.end()));
  const size_t before = released_.size();
  ports_.sender.Report(released_);
  MutexLock lock(mu_);
  waiting_results_ -= before - released_.size();
}

}  // namespace carillon::executor
