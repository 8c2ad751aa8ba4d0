// Decides what the daemon saves of its attempts, and when: progress and checkpoints that changed go
// to the owner, and the result of an attempt waits for its last save. Pure.
//
// Time     Never reads a clock.
// Always   An attempt has at most one save that is not answered; the content of a later one
//          replaces those that were never sent. Checkpoints take at most kBytesPerSecond of the
//          link. None is sent while the members have not answered kUnansweredBytesMax of others: on
//          a slow line they follow at its pace. A result waits for kAnswerWithin at most.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/ports/run_files.h"
#include "executor/report/result_sender.h"

namespace carillon::executor {

class CheckpointTracker {
 public:
  static constexpr Duration kAnswerWithin = 5s;
  // A save is repeated after kAnswerWithin, then after twice as long, at most after this time.
  static constexpr Duration kAnswerWithinMax = 60s;
  static constexpr Duration kRetryAfter = 500ms;
  static constexpr size_t kBytesPerSecond = 1u << 20;
  static constexpr size_t kUnansweredBytesMax = 1u << 20;

  // ---- the attempts; Watch also repeats an attempt with its present member
  void Watch(const HeldAttempt& held, const MemberId& member);
  // The member that now renews the lease. An unanswered save is sent to it at once.
  void Own(const HeldAttempt& held, const MemberId& member);
  void Forget(const HeldAttempt& held) { attempts_.erase(IdOf(held)); }
  bool Knows(const AttemptId& id) const { return attempts_.contains(id); }
  bool empty() const { return attempts_.empty(); }
  std::vector<AttemptId> All() const;
  // The attempt has got a checkpoint of an earlier one, with this mark.
  void Placed(const AttemptId& id, const RunFileMark& mark);
  // Whether the member takes saves; nothing is sent to a member of which this is unknown.
  void Meet(const MemberId& member, bool takes);

  // ---- the files
  // A file with this mark is there.
  void Found(const RunFile& file, const RunFileMark& mark);
  void Gone(const RunFile& file);
  // The present content cannot be taken, as the sentence `why` says. True the first time. A result
  // that waits gets the sentence, because the log of its attempt has ended.
  bool Refuse(const RunFile& file, const std::string& why);

  // ---- saves
  struct Order {
    HeldAttempt held;
    MemberId member;
    uint64_t seq = 0;
    bool progress = false;    // read and send it
    bool checkpoint = false;  // likewise
  };
  // The next save to make now, the longest waiting first, but before all those for which a
  // result waits.
  std::optional<Order> Next(SteadyTime now);
  // The order was carried out. `marks`: of the contents that were sent, by kind; `bytes`: of
  // the checkpoint.
  using Marks = std::array<std::optional<RunFileMark>, 2>;
  void Sent(const Order& order, const Marks& marks, size_t bytes, SteadyTime now);
  // Nothing could be read or sent; it is tried again after kRetryAfter.
  void Failed(const Order& order, SteadyTime now);
  void Answered(const HeldAttempt& held, uint64_t seq);

  // ---- results
  // Looks at the files of these attempts must follow before the next Release.
  void Hold(ReportedResult result, SteadyTime now);
  size_t held() const { return held_; }
  std::vector<AttemptId> Unlooked() const;
  void Looked(const AttemptId& id);
  // The results that need not wait any more, with `saved`; those whose last save was not answered
  // say so.
  std::vector<ReportedResult> Release(SteadyTime now);

  // When Next or Release may have something again, if nothing happens before.
  SteadyTime NextDue(SteadyTime now) const;

 private:
  struct File {
    std::optional<RunFileMark> found;    // the present content
    std::optional<RunFileMark> sent;     // the content of the last save, answered or not
    std::optional<RunFileMark> refused;  // cannot be taken
    bool changed() const { return found && found != sent && found != refused; }
  };
  struct Unanswered {
    uint64_t seq = 0;
    SteadyTime again{};  // when it is given up
    size_t bytes = 0;    // of its checkpoint
    Marks before;        // what `sent` of the files was
  };
  struct Attempt {
    HeldAttempt held;
    MemberId member;
    std::array<File, 2> files;  // by kind
    uint64_t seq = 0;
    uint64_t turn = 0;        // when it was served last
    SteadyTime not_before{};  // after a failure
    std::optional<Unanswered> unanswered;
    Duration patience = kAnswerWithin;
    bool saved = false;  // something was sent, or placed
    std::optional<ReportedResult> result;
    bool looked = false;
    SteadyTime until{};  // the result waits until then

    bool changed() const { return files[0].changed() || files[1].changed(); }
  };

  Attempt* Find(const HeldAttempt& held);
  File* Find(const RunFile& file);
  bool MayPass(const Attempt& attempt) const;
  bool Takes(const MemberId& member) const { return takes_.contains(member); }
  static void SendAgain(Attempt& attempt);
  void GiveUpWaiting(SteadyTime now);
  bool LineIsFree() const;

  std::map<AttemptId, Attempt> attempts_;
  std::set<MemberId> takes_;
  uint64_t turns_ = 0;
  size_t held_ = 0;
  SteadyTime next_checkpoint_{};  // the link has room for one again
};

}  // namespace carillon::executor
