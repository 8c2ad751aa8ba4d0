// Saves the progress and the checkpoints of attempts: looks at their files, sends what has changed
// to the owners, and holds back results until the last save is answered. Puts the checkpoints of
// earlier attempts into place.
//
// Place    Beside steps 8 and 9 of docs/life-of-a-run.md. When and what: checkpoint_tracker.h.
// Threads  One loop calls Step, which waits for the disk; everything else is thread-safe and never
//          waits. So a disk that hangs delays saves and ends, but neither heartbeats nor leases.
// Errors   A file that cannot be taken is reported in the log of its attempt. Nothing else depends
//          on it.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/loops/loop.h"
#include "common/base/mutex.h"
#include "common/ports/attempt_host.h"
#include "common/ports/executor_link.h"
#include "common/ports/run_files.h"
#include "executor/checkpoints/checkpoint_tracker.h"
#include "executor/report/result_sender.h"

namespace carillon::executor {

class CheckpointSender final : public Stepper {
 public:
  struct Ports {
    RunFiles* files = nullptr;  // null: results pass, and attempts have no files
    ExecutorLink& link;
    std::array<AttemptHost*, 2> hosts;  // of attempts with files: the warden, and the workers
    ResultSender& sender;
  };
  // More often than the 5 s that are promised, which also cover the way to the database.
  static constexpr Duration kLookEvery = 2s;
  static constexpr size_t kNamesPerLook = 1000;
  static constexpr size_t kHeldResultsMax = 8192;

  explicit CheckpointSender(const Ports& ports) : ports_(ports) {}

  SteadyTime Step(SteadyTime now) override;

  // `wake` wakes the loop of Step; `wake_core` that of the attempts, when a checkpoint is in place.
  void OnWork(const std::function<void()>& wake, const std::function<void()>& wake_core);

  bool enabled() const { return ports_.files != nullptr; }
  // The variables that name the files of the attempt.
  std::map<std::string, std::string> Variables(const HeldAttempt& held) const;

  // ---- the start of an attempt
  // From now on its files are looked at. `checkpoint`: left by an earlier attempt.
  void Watch(const HeldAttempt& held, const MemberId& member,
             const std::optional<std::string>& checkpoint = {});
  // The attempt itself does not write its files: its function has sent this content. The attempt
  // is watched.
  void Put(const HeldAttempt& held, RunFileKind kind, std::string content);
  // True once the checkpoint is in place. Not ok: it cannot be written.
  Result<bool> InPlace(const HeldAttempt& held);

  // Of the checkpoints that are not in place yet.
  size_t placing_bytes() const { return placing_bytes_.load(); }

  // ---- messages of members
  void Meet(const MemberId& member, bool takes_saves);
  void Own(const MemberId& member, const std::vector<HeldAttempt>& renewed);
  void Answered(const SaveAnswer& answer);

  // ---- the end of attempts
  // Passes results on to the sender: those whose attempts save after the last save, the others at
  // once. Those that do not fit stay in `results`.
  void Report(std::vector<ReportedResult>& results);
  void Forget(const std::vector<HeldAttempt>& attempts);
  // All attempts of an earlier daemon are known: files of others may be removed.
  void Recovered();

 private:
  struct Placing {
    HeldAttempt held;
    std::string checkpoint;
  };
  struct Owned {
    HeldAttempt held;
    MemberId member;
  };
  // Everything that other threads have said since the last Step.
  struct Inbox {
    std::vector<Owned> watched;
    std::vector<Owned> owned;
    std::vector<Placing> placings;
    std::map<RunFile, std::string> contents;  // of Put; only the latest of a file counts
    std::map<MemberId, bool> members;
    std::vector<SaveAnswer> answers;
    std::vector<ReportedResult> results;
    std::vector<HeldAttempt> forgotten;
  };

  void Wake();
  Inbox TakeInbox();
  void Place(const Placing& placing);
  void WriteContent(const RunFile& file, const std::string& content);
  size_t Sweep(const std::vector<RunFiles::Found>& found);
  void LookAt(const AttemptId& id);
  void LookAtAll();
  void LookAtEnded();
  // Returns false if nothing is to be saved now.
  bool SaveOne(SteadyTime now);
  // Returns false if the file cannot be read now. Without a content there is nothing to send.
  bool Read(const HeldAttempt& held, RunFileKind kind, std::optional<RunFiles::Content>* content);
  void Refuse(const HeldAttempt& held, const RunFile& file, const std::string& why);
  void PassOn(SteadyTime now);

  const Ports ports_;
  // Used by the loop of Step only.
  CheckpointTracker book_;
  std::vector<ReportedResult> released_;
  SteadyTime next_look_{};
  bool may_sweep_ = false;
  bool list_failed_ = false;

  std::atomic<size_t> placing_bytes_ = 0;
  Mutex mu_;
  Inbox inbox_ GUARDED_BY(mu_);
  std::map<AttemptId, Result<bool>> places_
      GUARDED_BY(mu_);                          // of the attempts that wait for a checkpoint
  size_t waiting_results_ GUARDED_BY(mu_) = 0;  // in the inbox, the book and released_
  bool recovered_ GUARDED_BY(mu_) = false;
  std::function<void()> wake_;
  std::function<void()> wake_core_;
};

}  // namespace carillon::executor
