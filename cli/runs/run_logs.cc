#include "cli/runs/run_logs.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/core.h>

#include "cli/runs/node_text.h"
#include "cli/runs/run_wait.h"
#include "common/domain/run/reasons.h"
#include "common/domain/run/run.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr Duration kFollowEvery = 250ms;
constexpr Duration kFollowOthersEvery = 1s;  // a run whose log is in those of other runs
// The last parts of a log may arrive in the database until this long after the end of the attempt.
// The server waits equally long.
constexpr Duration kPieceGrace = 10s;
constexpr size_t kFailedNodesMax = 20;  // whose logs are shown together

std::string MemberText(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string HeaderOf(const ApiResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return {};
}

// Returns the length of the escape sequence at the front of `text` if it sets a colour, such as
// "ESC [ 1 ; 31 m". 0 for any other sequence.
size_t ColourAt(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  const size_t end = text.find_first_not_of("0123456789;:", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// Returns the text for a terminal. Of all escape sequences only colours are kept: other sequences
// could set the clipboard or the title, or overwrite earlier output.
std::string ForTerminal(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    size_t kept = 1;
    if (byte == 0x1b) {
      kept = ColourAt(text);
    } else if ((byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7f) {
      kept = 0;
    } else if (byte == 0xc2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xa0) {
      text.remove_prefix(2);  // U+0080 to U+009F: control characters of a terminal
      continue;
    }
    shown += text.substr(0, kept);
    text.remove_prefix(std::max<size_t>(kept, 1));
  }
  return shown;
}

class LogReader {
 public:
  LogReader(Session& session, const LogFlags& flags, std::optional<WallTime> since)
      : session_(session), flags_(flags), since_(since), attempt_(flags.attempt) {}

  // Reads everything that is stored. The server returns a long log in several parts.
  Outcome<ExitCode> ReadAll() {
    for (;;) {
      const std::string before = offset_;
      CARILLON_TRY(ReadPart());
      if (IsElsewhere()) return ExitCode::kDone;
      if (complete_) return ExitCode::kDone;
      if (offset_.empty()) {
        if (printed_) return ExitCode::kDone;
        CARILLON_TRY(IsOver());
        SayWhyEmpty();
        return ExitCode::kDone;
      }
      if (offset_ != before) continue;
      // The log has no end yet. If the attempt has ended, its last lines may still be on their way
      // to the database.
      CARILLON_ASSIGN_OR_RETURN(const bool over, IsOver());
      if (over)
        session_.Say("The end of this log has not arrived yet; the output above is incomplete.");
      return ExitCode::kDone;
    }
  }

  Outcome<ExitCode> Follow() {
    heard_ = Now();
    for (;;) {
      auto done = Look();
      if (done.ok()) {
        heard_ = Now();
        if (*done) return ExitCode::kDone;
      } else if (done.error().exit != ExitCode::kUnreachable || Now() - heard_ >= kPatience) {
        return done.error();
      }
      session_.host().wait(elsewhere_.empty() ? kFollowEvery : kFollowOthersEvery);
    }
  }

  bool IsInNodes() const { return elsewhere_ == "nodes"; }

 private:
  SteadyTime Now() const { return session_.host().clock.Steady(); }

  Outcome<bool> IsOver() {
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse run,
                              session_.Call({.path = "/api/runs/" + Escape(flags_.run_id)}));
    run_ = run.body.is_object() ? run.body : json::object();
    const auto state = ParseRunState(MemberText(run_, "state"));
    if (!state.ok())
      return Failure{.message = "unexpected answer from the server: no state",
                     .code = "bad_answer"};
    state_ = *state;
    latest_ = run_.value("attempt", 1);
    if (attempt_ == 0) attempt_ = latest_;
    return latest_ > attempt_ || HasEnded();
  }

  bool HasEnded() const { return IsFinal(state_) || state_ == RunState::kHeld; }

  // Says why nothing was printed, if nothing has run. A run that did may have printed nothing.
  void SayWhyEmpty() {
    if (printed_ || removed_ || latest_ > attempt_) return;
    const std::string reason = MemberText(run_, "reason");
    if (state_ == RunState::kPending) {
      session_.Say(fmt::format("This run is PENDING; its attempt {} has not begun.", attempt_));
    } else if (state_ == RunState::kCompleted && reason == reason::kZeroShards) {
      session_.Say("This run had no shards, and so has no log.");
    } else if (IsFinal(state_) && MemberText(run_, "executor_id").empty() &&
               MemberText(run_, "claimed_at").empty()) {
      session_.Say(fmt::format("This run was {} before it began{}, and so has no log.",
                               Name(state_), reason.empty() ? "" : " (" + reason + ")"));
    }
  }

  // Prints what is new. True if there is nothing more to follow. The run is read before its log: if
  // the run has ended, the log is then read after the end and misses nothing that has arrived.
  Outcome<bool> Look() {
    CARILLON_ASSIGN_OR_RETURN(const bool over, IsOver());
    if (elsewhere_.empty()) {
      CARILLON_TRY(ReadPart());
    }
    if (IsElsewhere()) return flags_.attempt > 0 ? over : HasEnded();
    if (state_ == RunState::kPending && !std::exchange(said_waits_, true)) SayWhyEmpty();
    if (!over) return false;
    if (!over_since_) over_since_ = Now();
    // An empty offset means that the server has no log, only the output. The output has
    // been printed.
    if (!complete_ && !offset_.empty() && Now() - *over_since_ < kPieceGrace) return false;
    if (!complete_ && !offset_.empty())
      session_.Say("The end of this log did not arrive; the output above is incomplete.");
    if (latest_ > attempt_ && flags_.attempt == 0) return NextAttempt();
    SayWhyEmpty();
    return true;
  }

  // True for a run without a log of its own; says once which runs have one.
  bool IsElsewhere() {
    if (elsewhere_.empty() || std::exchange(said_where_, true)) return !elsewhere_.empty();
    if (elsewhere_ == "shards") {
      session_.Say(fmt::format(
          "This run fans out, and each of its parts has its own log: `carillon run logs {0} "
          "--shard N`. `carillon run shards {0}` lists them, with --state FAILED those that "
          "failed.",
          flags_.run_id));
    } else if (elsewhere_ == "nodes") {
      session_.Say(fmt::format(
          "This is the run of a workflow, and each of its nodes has its own log: `carillon run "
          "logs {0} --node NODE`. `carillon run nodes {0}` lists them.",
          flags_.run_id));
    }
    return true;
  }

  Outcome<bool> NextAttempt() {
    ++attempt_;
    session_.Say(fmt::format("attempt {}", attempt_));
    offset_.clear();
    complete_ = false;
    output_printed_ = false;
    over_since_.reset();
    return false;
  }

  Outcome<bool> ReadPart() {
    ApiRequest request{.path = "/api/runs/" + Escape(flags_.run_id) + "/logs"};
    if (attempt_ > 0) request.query.emplace_back("attempt", std::to_string(attempt_));
    if (flags_.stream != "all") request.query.emplace_back("stream", flags_.stream);
    if (!offset_.empty()) {
      request.query.emplace_back("offset", offset_);
    } else if (flags_.tail > 0) {
      request.query.emplace_back("tail", std::to_string(flags_.tail));
    }
    const bool lines = flags_.times || since_ || session_.Print().form() != Form::kTable;
    if (lines) request.headers.emplace_back("Accept", "application/x-ndjson");
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse log, session_.Call(request));
    elsewhere_ = HeaderOf(log, "x-log-in");
    const std::string last = HeaderOf(log, "x-log-last-seq");
    if (last.empty()) {
      removed_ = HeaderOf(log, "x-log-removed") == "true";
      if (removed_) {
        session_.Say("The log of this run was removed by the retention; this is its last output.");
      }
      return PrintOutput(log.text, lines);
    }
    offset_ = last;
    complete_ = HeaderOf(log, "x-log-complete") == "true";
    Print(log.text, lines);
    return true;
  }

  // Prints the output of an attempt without a log. The server has the output only when it
  // is complete.
  Outcome<bool> PrintOutput(const std::string& text, bool lines) {
    if (!output_printed_) Print(text, lines);
    output_printed_ = !text.empty();
    return true;
  }

  // True if --since includes the entry. An entry without a time is included, because it may have
  // been written after the time of --since.
  bool IsWanted(const json& entry) const {
    if (!since_ || !entry.is_object()) return true;
    const auto time = entry.find("t");
    if (time == entry.end() || !time->is_string()) return true;
    return ParseRfc3339(time->get<std::string>()).value_or(*since_) >= *since_;
  }

  std::string Shown(const std::string& text) const {
    return session_.host().out_is_tty ? ForTerminal(text) : text;
  }

  void PrintEntry(const json& entry) {
    std::ostream& out = session_.host().out;
    const auto time = entry.find("t");
    if (flags_.times) {
      out << (time != entry.end() && time->is_string() ? time->get<std::string>() : "-") << " "
          << entry.value("stream", "") << " ";
    }
    out << Shown(entry.value("line", "")) << "\n";
  }

  void Print(const std::string& text, bool lines) {
    std::ostream& out = session_.host().out;
    const bool as_it_is = session_.Print().form() != Form::kTable;
    printed_ = printed_ || !text.empty();
    if (!lines || (as_it_is && !since_)) {
      out << Shown(text) << std::flush;
      return;
    }
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      const json entry = json::parse(line, nullptr, false);
      if (!IsWanted(entry)) continue;
      if (as_it_is) {
        out << line << "\n";
      } else if (entry.is_object()) {
        PrintEntry(entry);
      }
    }
    out << std::flush;
  }

  Session& session_;
  const LogFlags& flags_;
  const std::optional<WallTime> since_;
  int attempt_;
  // The number of the latest attempt when the run was last read.
  int latest_ = 0;
  json run_ = json::object();  // as it was last read
  RunState state_ = RunState::kPending;
  // The position after the last printed entry, as sent by the server.
  std::string offset_;
  bool complete_ = false;
  std::string elsewhere_;  // the kind of runs that have the log; empty = this one
  bool output_printed_ = false;
  bool printed_ = false;  // anything, of any attempt
  bool removed_ = false;  // by the retention
  bool said_where_ = false;
  bool said_waits_ = false;
  SteadyTime heard_;
  std::optional<SteadyTime> over_since_;
};

Outcome<std::string> RunOfShard(Session& session, const LogFlags& flags) {
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse answer,
      session.Call({.path = "/api/runs/" + Escape(flags.run_id) + "/shards"}));
  const json shards =
      answer.body.is_object() ? answer.body.value("shards", json::array()) : json::array();
  for (const json& shard : shards) {
    if (!shard.is_object() || shard.value("index", json()) != json(flags.shard)) continue;
    return shard.value("run_id", std::string());
  }
  return Failure{
      .exit = ExitCode::kNotFound,
      .message = fmt::format("run {} has no shard {}; they count from 0, and there are {}",
                             flags.run_id, flags.shard, shards.size()),
      .code = "not_found"};
}

Outcome<json> NodesOfRun(Session& session, const std::string& run_id) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse answer,
                            session.Call({.path = "/api/runs/" + Escape(run_id) + "/nodes"}));
  return NodesOf(answer.body);
}

Outcome<std::string> RunOfNode(Session& session, const LogFlags& flags) {
  CARILLON_ASSIGN_OR_RETURN(const json nodes, NodesOfRun(session, flags.run_id));
  for (const json& node : nodes) {
    if (node.is_object() && MemberText(node, "id") == flags.node) return MemberText(node, "run_id");
  }
  return Failure{.exit = ExitCode::kNotFound,
                 .message = fmt::format("run {} has no node '{}'", flags.run_id, flags.node),
                 .code = "not_found"};
}

// Shows the log of each failed node below a line that names it.
Outcome<ExitCode> ShowFailedNodes(Session& session, const LogFlags& flags) {
  CARILLON_ASSIGN_OR_RETURN(const json nodes, NodesOfRun(session, flags.run_id));
  size_t shown = 0;
  for (const json& node : nodes) {
    if (!node.is_object() || !HasFailed(node)) continue;
    if (shown++ == kFailedNodesMax) {
      session.Say("More nodes have failed: `carillon run nodes " + flags.run_id + " --failed`.");
      break;
    }
    LogFlags of_node = flags;
    of_node.run_id = MemberText(node, "run_id");
    of_node.node.clear();
    of_node.follow = false;
    session.Print().Line(fmt::format("==> {} (run {}, {}) <==", MemberText(node, "id"),
                                     of_node.run_id, MemberText(node, "state")));
    CARILLON_TRY(ShowLogs(session, of_node));
  }
  return ExitCode::kDone;
}

}  // namespace

void AddLogFlags(CLI::App* verb, LogFlags& flags) {
  verb->add_option("run", flags.run_id, "Run ID")->required();
  verb->add_option("--attempt", flags.attempt, "Attempt number (default: the latest)")
      ->check(CLI::PositiveNumber);
  CLI::Option* shard =
      verb->add_option("--shard", flags.shard, "Part of a run that fans out: its index, from 0 on");
  shard->check(CLI::NonNegativeNumber);
  verb->add_option("--node", flags.node, "Node of a workflow run (default: those that have failed)")
      ->check(NotEmpty)
      ->excludes(shard);
  verb->add_option("--tail", flags.tail, "Start with the last N lines")
      ->check(CLI::Range(int64_t{1}, Session::kLimitMax));
  verb->add_option("--since", flags.since, "Only lines since: RFC 3339, or 5m for 5 minutes ago");
  verb->add_option("--stream", flags.stream, "Stream: all, stdout or stderr")
      ->check(CLI::IsMember({"all", "stdout", "stderr"}));
  verb->add_flag("-f,--follow", flags.follow,
                 "Follow the log until the run has ended, including retries");
  verb->add_flag("-t,--timestamps", flags.times, "Print the time and stream of each line");
}

Outcome<ExitCode> ShowLogs(Session& session, const LogFlags& given) {
  LogFlags flags = given;
  if (flags.shard >= 0) {
    CARILLON_ASSIGN_OR_RETURN(flags.run_id, RunOfShard(session, flags));
  }
  if (!flags.node.empty()) {
    CARILLON_ASSIGN_OR_RETURN(flags.run_id, RunOfNode(session, flags));
  }
  std::optional<WallTime> since;
  if (!flags.since.empty()) {
    CARILLON_ASSIGN_OR_RETURN(since, ParseWhen(flags.since, session.host().clock.Wall()));
  }
  LogReader reader(session, flags, since);
  CARILLON_ASSIGN_OR_RETURN(const ExitCode exit, flags.follow ? reader.Follow() : reader.ReadAll());
  const bool for_a_person = session.Print().form() == Form::kTable && !session.flags().quiet;
  if (!reader.IsInNodes() || !for_a_person || flags.attempt > 0) return exit;
  return ShowFailedNodes(session, flags);
}

}  // namespace carillon::cli
