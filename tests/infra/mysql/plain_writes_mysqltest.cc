// Batches that are written without reading their rows (the plain path). The statement checks every
// fact, and the tables end as if the rows had been read, decided on and written.
#include "common/adapters/mysql/database/plain_writes.h"

#include <functional>

#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/base/rng.h"
#include "tests/contract/mysql/mysql_handle.h"
#include "tests/support/failpoint_on.h"

namespace carillon::test {
namespace {

const WallTime kNow = kT0 + 1h;

struct Stored {
  RunRow row;
  bool readable = true;
  bool slot_taken = false;

  PlainRow plain() const { return {row, readable, slot_taken}; }
};

Stored Pending(uint64_t number) {
  Stored run;
  run.row = {.key = {kNow - 1min, ScheduleId(number), 0},
             .job_no = JobNo(number),
             .segment = SegmentId(static_cast<uint32_t>(number % kSegments)),
             .due = kNow,
             .def_version = 3};
  return run;
}

Stored Running(uint64_t number) {
  Stored run = Pending(number);
  run.row.state = RunState::kRunning;
  run.row.claim_token = {7, number};
  run.row.claimed = kNow - 1s;
  return run;
}

ClaimRequest ClaimOf(const RunRow& row) {
  return StoreDriver::ClaimOf(row, row.key.schedule_id.value());
}

// Returns a report that may be plain. Its facts about the run are true until the test
// changes the run.
ResultReport ResultOf(const RunRow& row) {
  ResultReport report = StoreDriver::ReportOf(row, RunState::kCompleted, kNow - 1ms);
  report.executor = ExecutorId("e1");
  return report;
}

void Spoil(ClaimFact fact, Stored& run) {
  switch (fact) {
    case ClaimFact::kReadable: run.readable = false; break;
    case ClaimFact::kState: run.row.state = RunState::kRunning; break;
    case ClaimFact::kAttempt: run.row.attempt = 2; break;
    case ClaimFact::kCancel: run.row.cancel_requested = CancelMode::kGraceful; break;
    case ClaimFact::kJob: run.row.job_no = JobNo(run.row.job_no.value() + 10'000); break;
    case ClaimFact::kVersion: run.row.def_version = 4; break;
    case ClaimFact::kSegment:
      run.row.segment = SegmentId((run.row.segment.value() + 1) % kSegments);
      break;
    case ClaimFact::kDue: run.row.due = kNow + Duration(1); break;
    case ClaimFact::kPin: run.row.pinned_executor = ExecutorId("e2"); break;
    case ClaimFact::kGroup: run.row.group = GroupNo(7); break;
    case ClaimFact::kOnBehalf: run.row.flags = run_flag::kOnBehalf; break;
  }
}

void Spoil(ResultFact fact, Stored& run) {
  switch (fact) {
    case ResultFact::kReadable: run.readable = false; break;
    case ResultFact::kState: run.row.state = RunState::kPending; break;
    case ResultFact::kAttempt: run.row.attempt = 2; break;
    case ResultFact::kToken: run.row.claim_token.low += 10'000; break;
    case ResultFact::kCancel: run.row.cancel_requested = CancelMode::kGraceful; break;
    case ResultFact::kJob: run.row.job_no = JobNo(run.row.job_no.value() + 10'000); break;
    case ResultFact::kSegment:
      run.row.segment = SegmentId((run.row.segment.value() + 1) % kSegments);
      break;
    case ResultFact::kSlot: run.slot_taken = true; break;
    case ResultFact::kGroup: run.row.group = GroupNo(7); break;
    case ResultFact::kAwaited: run.row.flags = run_flag::kDelay; break;
  }
}

enum class Path { kPlain, kRead };

struct Outcome {
  std::vector<std::string> answers;
  std::string tables;  // the contents of the tables afterwards
  uint64_t held = 0;   // plain writes whose facts were all true
  uint64_t missed = 0;

  // Compares everything but the path.
  bool SameAs(const Outcome& other) const {
    return answers == other.answers && tables == other.tables;
  }
};

class PlainWritesTest : public ::testing::Test {
 protected:
  PlainWritesTest() { Run("SET SESSION sql_mode = ''"); }  // permits an invalid kind
  ~PlainWritesTest() override { failpoint::Reset(); }

  void Run(const std::string& statement) { ASSERT_OK(session_->Run(statement)); }

  void Store(const std::vector<Stored>& runs) {
    for (const char* table : {"job_runs", "run_slots", "run_waits", "run_cancels", "run_attempts",
                              "dead_letters", "notices"}) {
      Run(fmt::format("DELETE FROM {}", table));
    }
    for (const Stored& run : runs) {
      const RunRow& row = run.row;
      const std::string key = fmt::format("{}, {}, {}", ToUnixMicros(row.key.fire),
                                          row.key.schedule_id.value(), row.key.shard);
      const bool open = !IsFinal(row.state);
      Run(fmt::format(
          "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
          "state, attempt, due_us, def_version, token_high, token_low, claimed_us, "
          "cancel_requested, slot_taken, pinned_executor, flags, group_no, group_slot) VALUES ({}, "
          "{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, '{}', {}, {}, {})",
          key, row.job_no.value(), row.segment.value(),
          open ? std::to_string(row.segment.value()) : "NULL",
          run.readable ? mysql::NumberOf(row.kind) : 0, mysql::NumberOf(row.state), row.attempt,
          ToUnixMicros(row.due), row.def_version, row.claim_token.high, row.claim_token.low,
          ToUnixMicros(row.claimed), row.cancel_requested ? 1 : 0, run.slot_taken ? 1 : 0,
          row.pinned_executor.value(), row.flags, row.group.value(),
          row.group == GroupNo{} ? 0 : 1));
      if (run.slot_taken) {
        Run(
            fmt::format("INSERT INTO run_slots (job_no, slot_no, fire_us, schedule_id, shard) "
                        "VALUES ({}, 0, {})",
                        row.job_no.value(), key));
      }
      if (row.cancel_requested) {
        Run(
            fmt::format("INSERT INTO run_cancels (segment, fire_us, schedule_id, shard) VALUES "
                        "({}, {})",
                        row.segment.value(), key));
      }
    }
  }

  std::string Tables() {
    std::string all;
    EXPECT_OK(
        session_->Run("SET SESSION group_concat_max_len = 100000"));  // MySQL's own limit is low
    for (const char* table : {"job_runs", "run_slots", "run_waits", "run_cancels", "run_attempts",
                              "dead_letters", "notices"}) {
      auto columns = StoreDriver::v(session_->Ask(fmt::format(
          "SELECT GROUP_CONCAT('COALESCE(HEX(', column_name, '), ''-'')' ORDER BY "
          "ordinal_position) FROM information_schema.columns WHERE table_schema = DATABASE() AND "
          "table_name = '{}' AND column_name <> 'id'",
          table)));
      columns.Next();
      auto rows = StoreDriver::v(session_->Ask(
          fmt::format("SELECT CONCAT_WS(' ', {}) x FROM {} ORDER BY x", columns.Text(1), table)));
      while (rows.Next()) all += fmt::format("{} {}\n", table, rows.Text(1));
    }
    return all;
  }

  // `rule`: the fact that is not checked; empty = all facts are checked.
  template <typename Send>
  Outcome After(const std::vector<Stored>& runs, Path path, std::string_view rule, Send send) {
    Store(runs);
    failpoint::Reset();
    failpoint::Break("fast.memory");
    if (path == Path::kRead) failpoint::Break("fast.never");
    if (!rule.empty()) failpoint::Break(std::string(rule));
    Outcome outcome{.answers = send(), .tables = Tables()};
    outcome.held = failpoint::Reached("plain.held");
    outcome.missed = failpoint::Reached("plain.missed");
    failpoint::Reset();
    return outcome;
  }
  Outcome AfterClaims(const std::vector<Stored>& runs, const std::vector<ClaimRequest>& requests,
                      Path path, std::string_view rule = "") {
    return After(runs, path, rule, [&] {
      std::vector<std::string> answers;
      for (const ClaimReply& reply : s.v(s.firing.Claim(requests, fence_, kNow))) {
        answers.push_back(
            fmt::format("{} {}", static_cast<int>(reply.verdict), Name(reply.reason)));
      }
      return answers;
    });
  }
  Outcome AfterResults(const std::vector<Stored>& runs, const std::vector<ResultReport>& reports,
                       Path path, std::string_view rule = "") {
    return After(runs, path, rule, [&] {
      std::vector<std::string> answers;
      for (const RunEffect& effect : s.v(s.firing.ApplyResults(reports, fence_, kNow))) {
        answers.push_back(fmt::format("{} {} {} {}", EncodeRunId(effect.key),
                                      static_cast<int>(effect.verdict), Name(effect.state),
                                      effect.again.has_value()));
      }
      return answers;
    });
  }

  MariadbDatabase database_;
  MysqlHandle handle_{StoreDriver::v(mysql::MysqlStores::Open(database_.Options(kSegments)))};
  StoreDriver s{handle_};
  std::unique_ptr<mysql::Session> session_ = database_.Connect();
  Fence fence_ = s.Take();
};

// Five claims, not in the order of their keys. Four may be plain; the one with an overlap policy is
// never plain.
struct Claims {
  std::vector<Stored> runs;
  std::vector<ClaimRequest> requests;

  Claims() {
    for (uint64_t number : {4, 1, 5, 2, 3}) {
      runs.push_back(Pending(number));
      requests.push_back(ClaimOf(runs.back().row));
    }
    requests[2].overlap.policy = OverlapPolicy::kSkip;
  }
};

TEST_F(PlainWritesTest, PlainClaimsLeaveWhatReadOnesLeave) {
  Claims claims;
  claims.runs[0].slot_taken = true;  // the run waited for a retry, and its job was edited
  const Outcome read = AfterClaims(claims.runs, claims.requests, Path::kRead);
  const Outcome plain = AfterClaims(claims.runs, claims.requests, Path::kPlain);
  EXPECT_EQ(plain.answers, read.answers);
  EXPECT_EQ(plain.tables, read.tables);
  EXPECT_EQ(plain.held, 1u);
  EXPECT_EQ(read.held + read.missed, 0u);
}

TEST_F(PlainWritesTest, EachFactOfAClaimIsInTheStatement) {
  for (const ClaimFact fact : kClaimFacts) {
    SCOPED_TRACE(RuleOf(fact));
    Claims claims;
    Spoil(fact, claims.runs[1]);
    const Outcome read = AfterClaims(claims.runs, claims.requests, Path::kRead);
    const Outcome plain = AfterClaims(claims.runs, claims.requests, Path::kPlain);
    EXPECT_EQ(plain.answers, read.answers);
    EXPECT_EQ(plain.tables, read.tables);
    EXPECT_EQ(plain.missed, 1u);
    const Outcome broken = AfterClaims(claims.runs, claims.requests, Path::kPlain, RuleOf(fact));
    EXPECT_EQ(broken.missed, 0u);
    // Nobody stands behind a run of no job, so that it starts; run_rights_contract.h has the
    // others.
    if (fact != ClaimFact::kOnBehalf) {
      EXPECT_FALSE(broken.SameAs(read));
    }
  }
}

// One run of a kind that the statement does not know would make its whole batch be read.
TEST_F(PlainWritesTest, ClaimsOfEveryKindThatIsReadArePlain) {
  for (int64_t number = 1; number < 32; ++number) {
    const std::optional<RunKind> kind = mysql::KindOf(number);
    if (!kind) continue;
    SCOPED_TRACE(Name(*kind));
    Claims claims;
    claims.runs[1].row.kind = *kind;
    const Outcome plain = AfterClaims(claims.runs, claims.requests, Path::kPlain);
    EXPECT_EQ(plain.held, 1u);
    EXPECT_EQ(plain.missed, 0u);
    EXPECT_TRUE(plain.SameAs(AfterClaims(claims.runs, claims.requests, Path::kRead)));
  }
}

TEST_F(PlainWritesTest, ClaimsOfOneRunAreDecidedOneAfterTheOther) {
  Claims claims;
  claims.requests.push_back(claims.requests[0]);
  claims.requests.push_back(claims.requests[1]);
  claims.requests.back().token = {8, 8};
  const Outcome read = AfterClaims(claims.runs, claims.requests, Path::kRead);
  const Outcome plain = AfterClaims(claims.runs, claims.requests, Path::kPlain);
  EXPECT_EQ(plain.answers, read.answers);
  EXPECT_EQ(plain.tables, read.tables);
  EXPECT_EQ(plain.held, 1u);
}

// Five results: three plain ones, a failure, and one with output.
struct Results {
  std::vector<Stored> runs;
  std::vector<ResultReport> reports;

  Results() {
    for (uint64_t number : {4, 1, 5, 2, 3}) {
      runs.push_back(Running(number));
      reports.push_back(ResultOf(runs.back().row));
    }
    reports[0].result.exit_code.reset();
    reports[3].result.output_truncated = true;
    reports[2].result = {.state = RunState::kFailed, .reason = "exit_code", .ended = kNow};
    reports[4].result.output = "out";
  }
};

TEST_F(PlainWritesTest, ResultsOfEveryKindThatIsReadArePlain) {
  for (const RunKind kind : kRunKinds) {
    SCOPED_TRACE(Name(kind));
    Results results;
    results.runs[0].row.kind = kind;
    const Outcome plain = AfterResults(results.runs, results.reports, Path::kPlain);
    EXPECT_EQ(plain.held, 1u);
    EXPECT_EQ(plain.missed, 0u);
    EXPECT_TRUE(plain.SameAs(AfterResults(results.runs, results.reports, Path::kRead)));
  }
}

TEST_F(PlainWritesTest, PlainResultsLeaveWhatReadOnesLeave) {
  const Results results;
  const Outcome read = AfterResults(results.runs, results.reports, Path::kRead);
  const Outcome plain = AfterResults(results.runs, results.reports, Path::kPlain);
  EXPECT_EQ(plain.answers, read.answers);
  EXPECT_EQ(plain.tables, read.tables);
  EXPECT_EQ(plain.held, 1u);
  EXPECT_EQ(read.held + read.missed, 0u);
}

TEST_F(PlainWritesTest, EachFactOfAResultIsInTheStatement) {
  for (const ResultFact fact : kResultFacts) {
    SCOPED_TRACE(RuleOf(fact));
    Results results;
    Spoil(fact, results.runs[1]);
    const Outcome read = AfterResults(results.runs, results.reports, Path::kRead);
    const Outcome plain = AfterResults(results.runs, results.reports, Path::kPlain);
    EXPECT_EQ(plain.answers, read.answers);
    EXPECT_EQ(plain.tables, read.tables);
    EXPECT_EQ(plain.missed, 1u);
    const Outcome broken = AfterResults(results.runs, results.reports, Path::kPlain, RuleOf(fact));
    EXPECT_EQ(broken.missed, 0u);
    if (fact != ResultFact::kAwaited) {
      EXPECT_FALSE(broken.SameAs(read));
    }
  }
}

TEST_F(PlainWritesTest, RandomRunsAreTakenAsThePredicatesSay) {
  Rng rng(3);
  std::vector<Stored> pending;
  std::vector<ClaimRequest> requests;
  std::vector<Stored> running;
  std::vector<ResultReport> reports;
  for (uint64_t number = 1; number <= 150; ++number) {
    pending.push_back(Pending(number));
    requests.push_back(ClaimOf(pending.back().row));
    running.push_back(Running(number));
    reports.push_back(ResultOf(running.back().row));
    pending.back().slot_taken = rng.Below(8) == 0;
    for (Stored* run : {&pending.back(), &running.back()}) {
      run->row.kind = static_cast<RunKind>(rng.Below(4));
      if (rng.Below(6) == 0) run->row.state = static_cast<RunState>(rng.Below(9));
    }
    for (const ClaimFact fact : kClaimFacts) {
      if (rng.Below(16) == 0) Spoil(fact, pending.back());
    }
    for (const ResultFact fact : kResultFacts) {
      if (rng.Below(16) == 0) Spoil(fact, running.back());
    }
  }
  size_t held = 0;
  for (size_t i = 0; i < pending.size(); ++i) {
    const bool claim = IsPlain(pending[i].plain(), requests[i], kNow);
    const Outcome claimed = AfterClaims({pending[i]}, {requests[i]}, Path::kPlain);
    EXPECT_EQ(claimed.held, claim ? 1u : 0u) << i;
    EXPECT_EQ(claimed.missed, claim ? 0u : 1u) << i;
    const bool result = IsPlain(running[i].plain(), reports[i]);
    const Outcome ended = AfterResults({running[i]}, {reports[i]}, Path::kPlain);
    EXPECT_EQ(ended.held, result ? 1u : 0u) << i;
    held += (claim ? 1u : 0u) + (result ? 1u : 0u);
  }
  EXPECT_GT(held, 50u);
  EXPECT_LT(held, 250u);
  EXPECT_TRUE(AfterClaims(pending, requests, Path::kPlain)
                  .SameAs(AfterClaims(pending, requests, Path::kRead)));
  EXPECT_TRUE(AfterResults(running, reports, Path::kPlain)
                  .SameAs(AfterResults(running, reports, Path::kRead)));
}

// A batch that missed is tried again with another check of the fence, because the segment may have
// been taken over between the two tries.
TEST_F(PlainWritesTest, MissTakesTheFenceAnew) {
  Claims claims;
  Spoil(ClaimFact::kVersion, claims.runs[0]);
  Store(claims.runs);
  int fences = 0;
  failpoint::Arm("mysql.after_fence", [&] { return ++fences, false; });
  EXPECT_OK(s.firing.Claim(claims.requests, fence_, kNow));
  EXPECT_EQ(fences, 2);
  s.Take(2, "m2", "i2");
  EXPECT_CODE(s.firing.Claim(claims.requests, fence_, kNow), ErrorCode::kFenced);
}

TEST(PlainPathTest, MissesKeepTheNextBatchesFromTrying) {
  mysql::PlainPath path;
  const auto left_out = [&] {
    path.Note(mysql::Facts::kMissed);
    int count = 0;
    while (!path.Try()) ++count;
    return count;
  };
  EXPECT_TRUE(path.Try());
  for (const int expected : {1, 2, 4, 8, 16, 32, 64, 64}) EXPECT_EQ(left_out(), expected);
  path.Note(mysql::Facts::kHeld);
  EXPECT_TRUE(path.Try());
  EXPECT_EQ(left_out(), 1);
}

TEST_F(PlainWritesTest, JobWithSlotsMissesOnce) {
  std::vector<Stored> runs = {Running(1), Running(2)};
  runs[0].slot_taken = true;
  const auto apply = [&] {
    Store(runs);
    s.v(s.firing.ApplyResults({ResultOf(runs[0].row), ResultOf(runs[1].row)}, fence_, kNow));
  };
  failpoint::Reset();
  apply();
  EXPECT_EQ(failpoint::Reached("plain.missed"), 1u);
  apply();  // does not try the plain path, because the last try missed
  apply();
  EXPECT_EQ(failpoint::Reached("plain.missed"), 1u);
  EXPECT_EQ(failpoint::Reached("plain.held"), 1u);
}

}  // namespace
}  // namespace carillon::test
