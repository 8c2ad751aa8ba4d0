#include "scheduler/ends/upstream_reader.h"

#include <functional>

#include <gtest/gtest.h>

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

using Names = std::vector<std::string>;

UpstreamTarget TargetOf(const std::string& name) { return {.job = JobId(name)}; }

// Answers for jobs that have a schedule each, and completed runs at the end of the span asked for.
class ScriptedStore final : public UpstreamStore {
 public:
  std::function<bool(const Names&)> refuses = [](const Names&) { return false; };
  std::map<std::string, WallTime> next = {};  // by job; otherwise kNever
  std::map<std::string, ScheduleId> schedules = {};
  std::map<std::string, SourceBackfill> backfills = {};
  size_t runs_each = 1;
  Duration known_for = kWeek;  // only the runs of so long before the end of a span are read
  std::vector<Names> reads = {};
  std::vector<Duration> spans = {};
  std::function<void()> after_runs = [] {};
  std::function<bool(const UpstreamSpan&)> refuses_span = [](const UpstreamSpan&) { return false; };

  static constexpr Duration kWeek = 7 * 24h;

  Result<std::vector<UpstreamSources>> ReadSources(
      const std::vector<UpstreamTarget>& targets) override {
    Names& names = reads.emplace_back();
    for (const UpstreamTarget& target : targets) names.push_back(target.job.value());
    if (refuses(names)) return Error{ErrorCode::kTimeout, "sources: no answer"};
    std::vector<UpstreamSources> all;
    for (const std::string& name : names) {
      const JobNo job_no = numbers_.try_emplace(name, JobNo(numbers_.size() + 1)).first->second;
      UpstreamSources& sources = all.emplace_back(UpstreamSources{.job_no = job_no});
      sources.jobs = {job_no};
      sources.schedules = {{.job_no = job_no,
                            .id = schedules.try_emplace(name, ScheduleId(7)).first->second,
                            .next = next.contains(name) ? next.at(name) : kNever}};
      if (backfills.contains(name)) sources.backfills = {backfills.at(name)};
    }
    return all;
  }
  Result<std::vector<UpstreamRuns>> ReadUpstreamRuns(
      const std::vector<UpstreamSpan>& asked) override {
    std::vector<UpstreamRuns> all;
    for (const UpstreamSpan& span : asked) {
      spans.push_back(span.to - span.from);
      if (refuses_span(span)) return Error{ErrorCode::kTimeout, "runs: no answer"};
      UpstreamRuns& found = all.emplace_back();
      found.known_from = span.to - known_for;
      for (size_t i = 0; i < runs_each; ++i) {
        found.runs.push_back({.key = {span.to - Duration(runs_each - i), ScheduleId(7), 0},
                              .job_no = span.sources.job_no,
                              .state = RunState::kCompleted});
      }
    }
    after_runs();
    return all;
  }
  Result<AwaitingPage> ScanAwaiting(const std::vector<SegmentId>&, WallTime, std::optional<RunKey>,
                                    size_t) override {
    return AwaitingPage{};
  }
  Result<std::vector<WaitEffect>> EndWaits(const std::vector<WaitItem>&, const Fence&,
                                           WallTime) override {
    return std::vector<WaitEffect>{};
  }
  Result<RunDetail> ReleaseRun(const RunKey&, const WriteContext&) override { return RunDetail{}; }

 private:
  std::map<std::string, JobNo> numbers_;
};

bool Contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class UpstreamReaderTest : public test::RoomTest {
 protected:
  static std::string NameOf(size_t number) { return "job-" + std::to_string(100 + number); }

  // Asks for `count` jobs, by one run each.
  void Ask(size_t count) {
    questions_ = {};
    for (size_t i = 0; i < count; ++i) Add({NameOf(i)});
  }
  void Add(const Names& jobs, Duration back = 1h, Duration ago = 0s) {
    AwaitingRun run;
    run.row.key = {clock_.Wall() - ago, ScheduleId(1), 0};
    WaitRules rules{.waits = {}, .limit_s = 3'600, .zone = "UTC"};
    for (const std::string& job : jobs) {
      rules.waits.push_back({.job = JobId(job), .window = {.back_s = back / 1s}});
    }
    questions_.Add(run, rules);
  }
  bool Read() { return reader_.Read(questions_, clock_.Steady()); }
  // Looks at the same questions until one of the looks can judge them. Returns how many it took.
  size_t ReadUntilJudged(size_t most = 50) {
    for (size_t looks = 1; looks <= most; ++looks) {
      store_.reads.clear();
      if (Read()) return looks;
      clock_.Advance(2s);
    }
    ADD_FAILURE() << "nothing was judged";
    return most;
  }
  Names LeftOut(size_t count) {
    Names names;
    for (size_t i = 0; i < count; ++i) {
      if (reader_.IsLeftOut(TargetOf(NameOf(i)))) names.push_back(NameOf(i));
    }
    return names;
  }
  void RefuseIf(std::function<bool(const std::string&)> is_bad) {
    store_.refuses = [is_bad](const Names& names) {
      return std::any_of(names.begin(), names.end(), is_bad);
    };
  }

  ScriptedStore store_;
  OwnerScan scan_{"waits", {cluster_, table_, fences_, settings_, signals_, metrics_}};
  UpstreamReader reader_{store_, scan_};
  WaitQuestions questions_;
};

TEST_F(UpstreamReaderTest, ManyTargetsAreReadAHundredAtATime) {
  Ask(250);
  ASSERT_TRUE(Read());
  ASSERT_EQ(store_.reads.size(), 3u);
  EXPECT_EQ(store_.reads[0].size(), UpstreamReader::kTargetsPerRead);
  EXPECT_EQ(store_.reads[2].size(), 50u);
  for (size_t i = 0; i < 250; ++i) EXPECT_EQ(questions_.Judge(i).verdict, WaitVerdict::kMet);
}

TEST_F(UpstreamReaderTest, OneThatCannotBeReadHoldsUpNoOther) {
  Ask(150);
  RefuseIf([](const std::string& name) { return name == NameOf(7); });
  EXPECT_LE(ReadUntilJudged(), 2u);
  EXPECT_EQ(LeftOut(150), Names{NameOf(7)});
  for (size_t i = 0; i < 150; ++i) {
    if (i != 7) {
      EXPECT_EQ(questions_.Judge(i).verdict, WaitVerdict::kMet) << i;
    }
  }
}

TEST_F(UpstreamReaderTest, OneWhoseRunsCannotBeReadIsSetAsideAsWell) {
  Ask(3);
  ASSERT_TRUE(Read());
  const JobNo bad(2);
  store_.refuses_span = [bad](const UpstreamSpan& span) { return span.sources.job_no == bad; };
  EXPECT_LE(ReadUntilJudged(), 2u);
  EXPECT_EQ(LeftOut(3), Names{NameOf(1)});
}

TEST_F(UpstreamReaderTest, OneSetAsideIsTriedMoreAndMoreSeldom) {
  Ask(3);
  RefuseIf([](const std::string& name) { return name == NameOf(1); });
  ReadUntilJudged();
  size_t tries = 0;
  store_.reads.clear();
  for (int look = 0; look < 300; ++look, clock_.Advance(2s)) EXPECT_TRUE(Read());
  for (const Names& names : store_.reads) tries += Contains(names, NameOf(1)) ? 1 : 0;
  EXPECT_GE(tries, 8u);
  EXPECT_LE(tries, 15u) << "in ten minutes";
}

TEST_F(UpstreamReaderTest, OneSetAsideComesBackOnceItIsRead) {
  Ask(3);
  RefuseIf([](const std::string& name) { return name == NameOf(1); });
  ReadUntilJudged();
  store_.refuses = [](const Names&) { return false; };
  EXPECT_TRUE(Read());
  EXPECT_EQ(LeftOut(3), Names{NameOf(1)}) << "its time has not come";
  clock_.Advance(UpstreamReader::kAsideFor);
  EXPECT_TRUE(Read());
  EXPECT_EQ(LeftOut(3), Names{NameOf(1)}) << "it was read alone, and later than the others";
  EXPECT_TRUE(Read());
  EXPECT_EQ(LeftOut(3), Names{});
}

TEST_F(UpstreamReaderTest, WhileTheStoreIsAwayFewAreTriedAndNoneIsSetAside) {
  Ask(150);
  store_.refuses = [](const Names&) { return true; };
  for (int look = 0; look < 5; ++look) {
    store_.reads.clear();
    EXPECT_FALSE(Read());
    EXPECT_EQ(store_.reads.size(), 1 + UpstreamReader::kFailuresPerLook);
  }
  store_.refuses = [](const Names&) { return false; };
  EXPECT_TRUE(Read());
  EXPECT_EQ(LeftOut(150), Names{});
}

TEST_F(UpstreamReaderTest, ManyThatCannotBeReadAreFoundAFewALook) {
  Ask(60);
  const auto is_bad = [](const std::string& name) { return name < NameOf(10); };
  RefuseIf(is_bad);
  EXPECT_LE(ReadUntilJudged(), 15u);
  for (size_t i = 10; i < 60; ++i) EXPECT_FALSE(reader_.IsLeftOut(TargetOf(NameOf(i)))) << i;
  size_t failures = 0;
  for (const Names& names : store_.reads) failures += store_.refuses(names) ? 1 : 0;
  EXPECT_LE(failures, UpstreamReader::kFailuresPerLook) << "of the last look";
}

TEST_F(UpstreamReaderTest, ABatchThatIsTooMuchAtOnceIsReadInParts) {
  Ask(80);
  store_.refuses = [](const Names& names) { return names.size() > 30; };
  EXPECT_LE(ReadUntilJudged(), 3u);
  EXPECT_EQ(LeftOut(80), Names{});
  for (const Names& names : store_.reads) EXPECT_LE(names.size(), 30u);
  EXPECT_LT(reader_.targets_max(), UpstreamReader::kReadsAtOnce * 30);
  store_.refuses = [](const Names&) { return false; };
  clock_.Advance(UpstreamReader::kMoreAfter);
  EXPECT_TRUE(Read());
  clock_.Advance(UpstreamReader::kMoreAfter);
  store_.reads.clear();
  EXPECT_TRUE(Read());
  EXPECT_EQ(store_.reads.size(), 1u);
}

TEST_F(UpstreamReaderTest, ABadOneIsFoundAlsoIfEachIsReadAlone) {
  Ask(4);
  const auto refuse_also = [this](const std::string& bad) {
    store_.refuses = [bad](const Names& names) { return names.size() > 1 || names[0] == bad; };
  };
  refuse_also("");
  ReadUntilJudged();
  for (size_t i = 0; i < 4; ++i) {  // one of them comes first
    refuse_also(NameOf(i));
    EXPECT_LE(ReadUntilJudged(), 3u);
    EXPECT_EQ(LeftOut(4), Names{NameOf(i)});
    refuse_also("");
    clock_.Advance(UpstreamReader::kAsideFor);
    EXPECT_TRUE(Read());
    EXPECT_TRUE(Read());
    EXPECT_EQ(LeftOut(4), Names{});
  }
}

TEST_F(UpstreamReaderTest, AfterVeryManyRunsFewerTargetsAreReadAtOnce) {
  const size_t usual = reader_.targets_max();
  store_.runs_each = UpstreamReader::kRunsPerRead / 50 + 1;
  Ask(50);
  ASSERT_TRUE(Read());
  EXPECT_EQ(reader_.targets_max(), UpstreamReader::kReadsAtOnce * 25);
  store_.reads.clear();
  ASSERT_TRUE(Read());
  EXPECT_EQ(store_.reads.size(), 2u);
  store_.runs_each = 1;
  for (int i = 0; i < 3; ++i, clock_.Advance(UpstreamReader::kMoreAfter)) ASSERT_TRUE(Read());
  EXPECT_EQ(reader_.targets_max(), usual);
}

TEST_F(UpstreamReaderTest, QuestionsWithTooManyRunsAreReadAlone) {
  store_.known_for = 2h;
  Add({NameOf(0)}, 1h, 24h);
  Add({NameOf(0)}, 1h);
  Add({NameOf(0)}, 1h, 48h);
  const auto is_alone = [](const UpstreamSpan& span) { return span.to - span.from <= 1h; };
  store_.refuses_span = is_alone;
  ASSERT_TRUE(Read());
  EXPECT_EQ(questions_.Judge(0).verdict, WaitVerdict::kUnknown);
  EXPECT_EQ(questions_.Judge(1).verdict, WaitVerdict::kMet) << "of this one all is known";
  store_.refuses_span = [](const UpstreamSpan&) { return false; };
  ASSERT_TRUE(Read());
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(questions_.Judge(i).verdict, WaitVerdict::kMet) << i;
}

// The plan writes the run of the fire, too, which was not read.
TEST_F(UpstreamReaderTest, AFireThatIsPlannedBetweenTheReadsIsNotMissed) {
  Ask(1);
  store_.next[NameOf(0)] = clock_.Wall();
  store_.after_runs = [this] { store_.next[NameOf(0)] = clock_.Wall() + 10s; };
  ASSERT_TRUE(Read());
  ASSERT_TRUE(reader_.Confirm({TargetOf(NameOf(0))}));
  EXPECT_EQ(LeftOut(1), Names{});
  EXPECT_EQ(questions_.Judge(0).verdict, WaitVerdict::kNotMet);
}

TEST_F(UpstreamReaderTest, ABackfillMayGoOnOrEndBetweenTheReads) {
  Ask(3);
  const WallTime now = clock_.Wall();
  const SourceBackfill open{.number = 1, .job_no = JobNo(1), .from = now - 9h, .until = now - 8h};
  for (size_t i = 0; i < 2; ++i) store_.backfills[NameOf(i)] = open;
  ASSERT_TRUE(Read());
  store_.backfills.erase(NameOf(0));
  store_.backfills[NameOf(1)].from += 30min;
  store_.backfills[NameOf(2)] = open;  // begun, perhaps before the runs were read
  std::set<UpstreamTarget> asked;
  for (size_t i = 0; i < 3; ++i) asked.insert(TargetOf(NameOf(i)));
  ASSERT_TRUE(reader_.Confirm(asked));
  EXPECT_EQ(LeftOut(3), Names{NameOf(2)});
  ASSERT_TRUE(Read());
  store_.backfills[NameOf(1)].number = 2;  // another one
  store_.backfills[NameOf(2)].until += 1us;
  ASSERT_TRUE(reader_.Confirm(asked));
  EXPECT_EQ(LeftOut(3), (Names{NameOf(1), NameOf(2)}));
}

TEST_F(UpstreamReaderTest, EditsBetweenTheReadsAreSeen) {
  Ask(3);
  for (size_t i = 0; i < 3; ++i) store_.next[NameOf(i)] = clock_.Wall() + 10s;
  ASSERT_TRUE(Read());
  store_.next[NameOf(0)] += 20s;                // planned further
  store_.next[NameOf(1)] -= 1us;                // paused
  store_.schedules[NameOf(2)] = ScheduleId(8);  // edited
  std::set<UpstreamTarget> asked;
  for (size_t i = 0; i < 3; ++i) asked.insert(TargetOf(NameOf(i)));
  ASSERT_TRUE(reader_.Confirm(asked));
  EXPECT_EQ(LeftOut(3), (Names{NameOf(1), NameOf(2)}));
  ASSERT_TRUE(Read());
  ASSERT_TRUE(reader_.Confirm(asked));
  EXPECT_EQ(LeftOut(3), Names{}) << "the next look knows them as they are";
  store_.refuses = [](const Names&) { return true; };
  EXPECT_FALSE(reader_.Confirm(asked));
}

}  // namespace
}  // namespace carillon::scheduler
