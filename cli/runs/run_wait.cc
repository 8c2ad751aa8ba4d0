#include "cli/runs/run_wait.h"

#include <algorithm>
#include <utility>

#include "cli/runs/wait_text.h"
#include "common/domain/run/run.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr Duration kFirstPause = 50ms;
constexpr Duration kLongestPause = 1s;
constexpr Duration kAskWhyAfter = 2s;

std::string TextOf(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

ExitCode ExitCodeOf(RunState state) {
  switch (state) {
    case RunState::kCompleted: return ExitCode::kDone;
    case RunState::kCancelled: return ExitCode::kRunCancelled;
    default: return ExitCode::kRunFailed;
  }
}

// Describes the run's state in one line: "RUNNING on executor-1", "PENDING again: attempt 2".
std::string Describe(const std::string& run_id, const json& run) {
  const std::string executor = TextOf(run, "executor_id");
  const std::string reason = TextOf(run, "reason");
  const std::string error = TextOf(run, "error");
  std::string line = run_id + ": " + TextOf(run, "state");
  if (run.value("attempt", 1) > 1) line += ", attempt " + std::to_string(run.value("attempt", 1));
  if (!executor.empty()) line += " on " + executor;
  const std::string wait = WaitingText(run.value("waiting", json()));
  if (!wait.empty()) line += ", " + wait;
  if (!reason.empty()) line += " (" + reason + ")";
  if (!error.empty()) line += ": " + Cell(error);
  return line;
}

class Waiter {
 public:
  Waiter(Session& session, const std::string& run_id, const WaitOptions& options)
      : session_(session), run_id_(run_id), options_(options), clock_(session.host().clock) {}

  Outcome<ExitCode> Run() {
    const SteadyTime started = clock_.Steady();
    heard_ = started;
    Duration pause = kFirstPause;
    while (true) {
      CARILLON_ASSIGN_OR_RETURN(const bool ended, Look());
      if (ended) return Finish();
      if (state_ == RunState::kPending && clock_.Steady() - started >= kAskWhyAfter) PrintPause();
      Duration nap = pause;
      if (options_.longest) {
        const Duration left = *options_.longest - (clock_.Steady() - started);
        if (left <= Duration::zero()) {
          if (state_ == RunState::kPending) PrintPause();
          session_.Say(run_id_ + ": still " + TextOf(run_, "state"));
          return ExitCode::kWaitTimedOut;
        }
        nap = std::min(nap, left);
      }
      session_.host().wait(nap);
      pause = std::min(pause * 2, kLongestPause);
    }
  }

 private:
  // Reads the run and reports a change of its state. True if the run has ended.
  Outcome<bool> Look() {
    auto response = session_.Call({.path = "/api/runs/" + Escape(run_id_)});
    if (!response.ok()) {
      const bool patient = response.error().exit == ExitCode::kUnreachable &&
                           clock_.Steady() - heard_ < kPatience && !run_.is_null();
      if (!patient) return response.error();
      return false;
    }
    heard_ = clock_.Steady();
    run_ = response->body.is_object() ? std::move(response->body) : json::object();
    const auto state = ParseRunState(TextOf(run_, "state"));
    if (!state.ok())
      return Failure{.message = "unexpected answer from the server: no state",
                     .code = "bad_answer"};
    state_ = *state;
    const std::string line = Describe(run_id_, run_);
    if (line != said_) session_.Say(line);
    said_ = line;
    return IsFinal(state_);
  }

  // Reports once if the cluster is paused, because the run then does not start. If the status
  // cannot be read, reports nothing, and the wait continues.
  void PrintPause() {
    if (std::exchange(asked_why_, true)) return;
    const auto status = session_.Call({.path = "/api/system/status"});
    if (!status.ok() || !status->body.is_object()) return;
    const json pause = status->body.value("paused", json());
    if (!pause.is_object()) return;
    session_.Say("The cluster is paused (" + TextOf(pause, "reason") +
                 "): no run starts until `carillon system resume`.");
  }

  ExitCode Finish() {
    Printer print = session_.Print();
    if (print.form() != Form::kTable) {
      print.Object(run_, RunView());
    } else if (options_.show_output && !session_.flags().quiet) {
      session_.host().out << TextOf(run_, "output");
    }
    return ExitCodeOf(state_);
  }

  Session& session_;
  const std::string run_id_;
  const WaitOptions options_;
  const Clock& clock_;
  SteadyTime heard_;  // time of the last response
  json run_ = nullptr;
  RunState state_ = RunState::kPending;
  std::string said_;
  bool asked_why_ = false;
};

}  // namespace

Outcome<ExitCode> WaitForRun(Session& session, const std::string& run_id,
                             const WaitOptions& options) {
  return Waiter(session, run_id, options).Run();
}

}  // namespace carillon::cli
