// Logs of runs: the whole log, parts of it, and following it.
#include <gtest/gtest.h>

#include "scheduler/api/logs/log_follower.h"
#include "tests/support/process_wait.h"
#include "tests/unit/common/adapters/http/raw_socket.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using scheduler::LogFollower;

class LogRoutesTest : public ApiEnv {
 protected:
  LogRoutesTest() : run_id_(Execute(Create()["job_id"])) {}

  struct Line {
    LogStream stream;
    std::string text;
  };
  // Appends entries from `first_seq` on. The first has the time 2026-03-01T00:00:00, each next one
  // is a microsecond later.
  void Append(uint64_t first_seq, const std::vector<Line>& lines, bool last = false,
              int attempt = 1) {
    LogRecord record{.key = *DecodeRunId(run_id_), .attempt = attempt};
    record.chunk = {
        .first_seq = first_seq, .count = static_cast<uint32_t>(lines.size()), .last = last};
    for (size_t i = 0; i < lines.size(); ++i) {
      AppendEntry(record.chunk.entries,
                  {.time = FromUnixMicros(1'772'323'200'000'000) + Duration(first_seq + i),
                   .stream = lines[i].stream,
                   .text = lines[i].text});
    }
    ASSERT_TRUE(stores_.logs.AppendLogs({record}).ok());
  }
  void AppendSample(bool last) {
    Append(1, {{kOut, "one\n"}, {kErr, "bad <b>\n"}, {kOut, "no end"}});
    Append(4, {{kOut, ", it was\n"}, {kMarker, "7 bytes are missing here\n"}}, last);
  }
  Answer Logs(const std::string& query = "", const std::string& accept = "") {
    HttpHeaders headers;
    if (!accept.empty()) headers.emplace_back("Accept", accept);
    return Send("GET", "/api/runs/" + run_id_ + "/logs" + query, "", std::move(headers));
  }
  std::string Stream(const std::string& query, const std::string& headers) {
    return "GET /api/runs/" + run_id_ + "/logs/stream" + query +
           " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token_ + "\r\n" + headers + "\r\n";
  }
  static std::string BodyOf(const std::string& answer) {
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }

  static constexpr LogStream kOut = LogStream::kStdout;
  static constexpr LogStream kErr = LogStream::kStderr;
  static constexpr LogStream kMarker = LogStream::kCarillon;
  const std::string run_id_;
};

TEST_F(LogRoutesTest, TextIsWhatWasWritten) {
  AppendSample(true);
  const Answer all = Logs();
  EXPECT_EQ(all.status, 200);
  EXPECT_EQ(all.header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(all.text, "one\nbad <b>\nno end, it was\n[carillon: 7 bytes are missing here]\n");
  EXPECT_EQ(all.header("x-log-last-seq"), "5");
  EXPECT_EQ(all.header("x-log-complete"), "true");
  EXPECT_EQ(all.header("x-output-truncated"), "true");
  EXPECT_EQ(Logs("?stream=stdout").text, "one\nno end, it was\n");
  EXPECT_EQ(Logs("?stream=stderr").text, "bad <b>\n");
}

TEST_F(LogRoutesTest, UnfinishedLinesOfTwoStreamsAreNotJoined) {
  Append(1, {{kErr, "Password: "}, {kOut, "x"}, {kOut, "y"}, {kErr, "z"}, {kMarker, "over\n"}},
         true);
  EXPECT_EQ(Logs().text, "Password: \nxy\nz\n[carillon: over]\n");
  EXPECT_EQ(Logs("?stream=stderr").text, "Password: z");
}

TEST_F(LogRoutesTest, OnlyEntriesAboutMissingOutputSayThatItIsTruncated) {
  Append(1, {{kOut, "missing\n"},
             {kMarker,
              "1 process was still running when the command ended and was stopped: "
              "missing\n"}});
  EXPECT_EQ(Logs().header("x-output-truncated"), "false");
  Append(3, {{kMarker, "the log has reached its limit of 9 bytes: the rest is not stored\n"}});
  EXPECT_EQ(Logs().header("x-output-truncated"), "true");
}

TEST_F(LogRoutesTest, LinesHaveNumbersTimesAndStreams) {
  AppendSample(false);
  const Answer lines = Logs("", "application/x-ndjson");
  EXPECT_EQ(lines.header("content-type"), "application/x-ndjson");
  EXPECT_EQ(lines.header("x-log-complete"), "false");
  std::vector<json> parsed;
  std::istringstream in(lines.text);
  for (std::string line; std::getline(in, line);) parsed.push_back(ParseJson(line));
  ASSERT_EQ(parsed.size(), 5u);
  EXPECT_EQ(parsed[0], (json{{"seq", 1},
                             {"t", "2026-03-01T00:00:00.000001Z"},
                             {"stream", "stdout"},
                             {"line", "one"}}));
  EXPECT_EQ(parsed[2]["partial"], true);
  EXPECT_EQ(parsed[4]["stream"], "carillon");
}

TEST_F(LogRoutesTest, PartsAreAskedForBySeq) {
  AppendSample(true);
  EXPECT_EQ(Logs("?offset=3").text, ", it was\n[carillon: 7 bytes are missing here]\n");
  const Answer two = Logs("?offset=1&limit=2");
  EXPECT_EQ(two.text, "bad <b>\nno end");
  EXPECT_EQ(two.header("x-log-last-seq"), "3");
  EXPECT_EQ(two.header("x-log-complete"), "false");
  EXPECT_EQ(Logs("?tail=1").text, "[carillon: 7 bytes are missing here]\n");
  EXPECT_EQ(Logs("?tail=99").text, Logs().text);
  EXPECT_EQ(Logs("?offset=99").text, "");
}

TEST_F(LogRoutesTest, BadQuestionsAreRefused) {
  EXPECT_EQ(Logs("?stream=stdin").pointer(), "?stream");
  EXPECT_EQ(Logs("?limit=0").pointer(), "?limit");
  EXPECT_EQ(Logs("?tail=0").pointer(), "?tail");
  EXPECT_EQ(Logs("?tail=1&offset=1").pointer(), "?tail");
  EXPECT_EQ(Logs("?attempt=2").code(), "not_found");
  EXPECT_EQ(Logs("?follow=true").status, 400);
  const std::string stream = "/api/runs/" + run_id_ + "/logs/stream";
  EXPECT_EQ(Get(stream + "?stream=x").pointer(), "?stream");
  EXPECT_EQ(Get(stream + "?attempt=2").code(), "not_found");
  EXPECT_EQ(Get("/api/runs/nonsense/logs/stream").code(), "bad_run_id");
}

TEST_F(LogRoutesTest, AttemptWithoutALogHasItsOutput) {
  Finish(run_id_, {.state = RunState::kCompleted, .output = "a\nb", .output_truncated = true});
  EXPECT_EQ(Logs().text, "a\nb");
  EXPECT_EQ(Logs().header("x-output-truncated"), "true");
  const Answer lines = Logs("", "application/x-ndjson");
  EXPECT_EQ(lines.text,
            "{\"line\":\"a\",\"seq\":1,\"stream\":\"output\",\"t\":null}\n"
            "{\"line\":\"b\",\"partial\":true,\"seq\":2,\"stream\":\"output\",\"t\":null}\n");
}

TEST_F(LogRoutesTest, NumbersThatARestartLeavesOutAreNoMissingEntries) {
  Append(1, {{kOut, "one\n"}});
  Append(34'274'535, {{kOut, "two\n"}});
  const std::string log =
      "one\n[carillon: the executor was restarted here; entries may be missing]\ntwo\n";
  EXPECT_EQ(Logs().text, log) << "also while the attempt goes on";
  Finish(run_id_, {.state = RunState::kCompleted});
  EXPECT_EQ(Logs().text, log);
}

TEST_F(LogRoutesTest, PieceThatIsLateIsNotPassedOver) {
  Append(1, {{kOut, "one\n"}});
  Append(3, {{kOut, "three\n"}}, true);
  const Answer early = Logs();
  EXPECT_EQ(early.text, "one\n");
  EXPECT_EQ(early.header("x-log-last-seq"), "1");
  EXPECT_EQ(early.header("x-log-complete"), "false");
  Finish(run_id_, {.state = RunState::kCompleted, .output = "x"});
  EXPECT_EQ(Logs().text, "one\n[carillon: 1 entries are missing]\nthree\n");
  Append(2, {{kErr, "two\n"}});
  EXPECT_EQ(Logs().text, "one\ntwo\nthree\n");
  EXPECT_EQ(Logs().header("x-log-complete"), "true");
}

TEST_F(LogRoutesTest, LongLogComesWhole) {
  std::vector<Line> lines(1000, {kOut, std::string(100, 'x') + "\n"});
  for (uint64_t i = 0; i < 100; ++i) Append(1 + i * 1000, lines);
  EXPECT_EQ(Logs().text.size(), 100'000u * 101);
  EXPECT_EQ(Logs("?tail=5").text.size(), 5u * 101);
}

TEST_F(LogRoutesTest, StreamTellsWhatComesAndEndsWithTheRun) {
  Append(1, {{kOut, "one\n"}});
  RawSocket socket(server_->port());
  ASSERT_TRUE(socket.Send(Stream("", "")));
  const std::string begin = socket.ReadUntil("\"seq\":1");
  EXPECT_NE(begin.find("Content-Type: text/event-stream"), std::string::npos);
  EXPECT_NE(begin.find("X-Accel-Buffering: no"), std::string::npos);
  EXPECT_NE(begin.find("retry: 1000\n\nid: 1\ndata: {"), std::string::npos) << begin;
  Append(2, {{kErr, "two\n"}}, true);
  socket.ReadUntil("\"seq\":2");
  Finish(run_id_, {.state = RunState::kFailed, .output = "one\ntwo\n"});
  const std::string end = socket.ReadToEnd();
  EXPECT_NE(end.find("event: end\ndata: {\"attempt\":1,\"complete\":true,\"run_id\":\"" + run_id_ +
                     "\",\"state\":\"FAILED\"}\n\n"),
            std::string::npos)
      << end;
}

TEST_F(LogRoutesTest, StreamGoesOnAfterTheLastEvent) {
  AppendSample(true);
  Finish(run_id_, {.state = RunState::kCompleted, .output = "x"});
  RawSocket resumed(server_->port());
  ASSERT_TRUE(resumed.Send(Stream("", "Last-Event-ID: 4\r\n")));
  const std::string rest = BodyOf(resumed.ReadToEnd());
  EXPECT_EQ(rest.find("id: 4\n"), std::string::npos);
  EXPECT_NE(rest.find("id: 5\n"), std::string::npos);
  EXPECT_NE(rest.find("event: end"), std::string::npos);
  RawSocket tail(server_->port());
  ASSERT_TRUE(tail.Send(Stream("?tail=2&stream=stdout", "")));
  const std::string stdout_only = BodyOf(tail.ReadToEnd());
  EXPECT_NE(stdout_only.find("id: 4\n"), std::string::npos);
  EXPECT_EQ(stdout_only.find("id: 5\n"), std::string::npos);
}

TEST_F(LogRoutesTest, StreamGoesOnWithTheAttemptOfTheLastEvent) {
  // The second attempt has begun before the listener to the first attempt reconnects.
  AppendSample(true);
  Finish(run_id_, {.state = RunState::kFailed, .output = "x"});
  ASSERT_EQ(Post("/api/runs/" + run_id_ + "/retry").status, 202);
  Append(1, {{kOut, "again\n"}}, true, 2);
  RawSocket first(server_->port());
  ASSERT_TRUE(first.Send(Stream("", "Last-Event-ID: 4\r\n")));
  const std::string rest = BodyOf(first.ReadToEnd());
  EXPECT_EQ(rest.find("id: 4\n"), std::string::npos);
  EXPECT_NE(rest.find("id: 5\n"), std::string::npos);
  EXPECT_NE(rest.find("\"attempt\":1"), std::string::npos);
  RawSocket second(server_->port());
  ASSERT_TRUE(second.Send(Stream("", "")));
  EXPECT_NE(second.ReadUntil("\"seq\":1").find("id: 2-1\n"), std::string::npos);
  RawSocket resumed(server_->port());
  ASSERT_TRUE(resumed.Send(Stream("", "Last-Event-ID: 2-0\r\n")));
  resumed.ReadUntil("id: 2-1\n");
}

TEST_F(LogRoutesTest, StreamOfAnEndedRunIsAnAnswerLikeOthers) {
  AppendSample(true);
  Finish(run_id_, {.state = RunState::kCompleted, .output = "x"});
  const Answer stream = Get("/api/runs/" + run_id_ + "/logs/stream");
  EXPECT_EQ(stream.status, 200);
  EXPECT_EQ(stream.header("content-type"), "text/event-stream");
  EXPECT_NE(stream.text.find("id: 5\n"), std::string::npos);
  EXPECT_NE(stream.text.find("event: end\n"), std::string::npos);
}

TEST_F(LogRoutesTest, StoppingTheServerEndsTheStream) {
  RawSocket socket(server_->port());
  ASSERT_TRUE(socket.Send(Stream("", "")));
  socket.ReadUntil("retry");
  server_->Stop();
  EXPECT_EQ(socket.ReadToEnd().find("event: end"), std::string::npos);
  EXPECT_TRUE(socket.closed());
}

// ---- ranges of bytes

class LogRangeTest : public LogRoutesTest {
 protected:
  Answer Range(const std::string& range, HttpHeaders headers = {}, const std::string& query = "") {
    headers.emplace_back("Range", range);
    return Send("GET", "/api/runs/" + run_id_ + "/logs" + query, "", std::move(headers));
  }
};

TEST_F(LogRangeTest, PartsOfAnEndedLogAreThoseOfTheWhole) {
  AppendSample(true);
  const std::string whole = Logs().text;
  const size_t n = whole.size();
  EXPECT_EQ(Logs().header("accept-ranges"), "bytes");
  const auto is = [&](const std::string& range, size_t first, size_t size) {
    const Answer part = Range(range);
    EXPECT_EQ(part.status, 206) << range;
    EXPECT_EQ(part.text, whole.substr(first, size)) << range;
    const std::string told = part.header("content-range");
    EXPECT_TRUE(told.starts_with("bytes " + std::to_string(first) + "-" +
                                 std::to_string(first + size - 1) + "/"))
        << range << told;
    return told.substr(told.find('/') + 1);
  };
  EXPECT_EQ(is("bytes=0-0", 0, 1), "*") << "what is behind it was not read";
  EXPECT_EQ(is("bytes=0-", 0, n), std::to_string(n));
  EXPECT_EQ(is("bytes=9-", 9, n - 9), std::to_string(n));
  EXPECT_EQ(is("bytes=2-12", 2, 11), "*");
  EXPECT_EQ(is("bytes=-5", n - 5, 5), std::to_string(n));
  EXPECT_EQ(is("bytes=-99999", 0, n), std::to_string(n));
  EXPECT_EQ(is("bytes=3-99999", 3, n - 3), std::to_string(n));
  EXPECT_EQ(is("bytes=3-99999999999999999999999", 3, n - 3), std::to_string(n));
  EXPECT_EQ(is("bytes=-99999999999999999999999", 0, n), std::to_string(n));
  EXPECT_EQ(is("Bytes= 0-0 ", 0, 1), "*");
  std::string all;
  for (size_t at = 0; at < n; at += 7) {
    all += Range("bytes=" + std::to_string(at) + "-" + std::to_string(at + 6)).text;
  }
  EXPECT_EQ(all, whole);
}

TEST_F(LogRangeTest, WhatIsOutsideIsRefusedWithTheLength) {
  AppendSample(true);
  const std::string n = std::to_string(Logs().text.size());
  for (const std::string& range :
       {"bytes=" + n + "-", "bytes=" + n + "-" + n, std::string("bytes=-0"),
        std::string("bytes=18446744073709551615-"),
        std::string("bytes=99999999999999999999999-")}) {
    const Answer refused = Range(range);
    EXPECT_EQ(refused.status, 416) << range;
    EXPECT_EQ(refused.code(), "range_not_satisfiable") << range;
    EXPECT_EQ(refused.header("content-range"), "bytes */" + n) << range;
  }
}

TEST_F(LogRangeTest, WhatIsNoSingleRangeIsPassedOver) {
  AppendSample(true);
  const std::string whole = Logs().text;
  for (const std::string range :
       {"bytes=", "bytes=-", "bytes=5-3", "bytes=0-1,3-4", "bytes=0-1, 0-1", "bytes=a-b",
        "bytes=1-2-3", "bytes=--5", "bytes=-+5", "bytes=1 -2", "bytes 0-1", "lines=0-1", "0-1",
        "bytes=0x1-2"}) {
    const Answer answer = Range(range);
    EXPECT_EQ(answer.status, 200) << range;
    EXPECT_EQ(answer.text, whole) << range;
  }
  const Answer lines = Range("bytes=0-1", {{"Accept", "application/x-ndjson"}});
  EXPECT_EQ(lines.status, 200);
  EXPECT_EQ(lines.header("accept-ranges"), "");
  const Answer head = Send("HEAD", "/api/runs/" + run_id_ + "/logs", "", {{"Range", "bytes=0-1"}});
  EXPECT_EQ(head.status, 200);
}

TEST_F(LogRangeTest, ALogThatGrowsHasNoTotalAndNoTag) {
  AppendSample(false);
  const Answer part = Range("bytes=4-");
  EXPECT_EQ(part.status, 206);
  EXPECT_TRUE(part.header("content-range").ends_with("/*")) << part.header("content-range");
  EXPECT_EQ(part.header("etag"), "");
  EXPECT_EQ(Logs().header("etag"), "");
  EXPECT_EQ(Range("bytes=4-", {{"If-Range", "\"x\""}}).status, 200);
}

TEST_F(LogRangeTest, AnEndedLogHasATagThatRangesMayAskFor) {
  AppendSample(true);
  const std::string tag = Logs().header("etag");
  ASSERT_TRUE(tag.starts_with('"')) << tag;
  EXPECT_EQ(Logs().header("etag"), tag);
  EXPECT_NE(Logs("?stream=stdout").header("etag"), tag);
  EXPECT_NE(Logs("?offset=1").header("etag"), tag);
  const Answer part = Range("bytes=4-", {{"If-Range", tag}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.header("etag"), tag);
  for (const std::string& other :
       {std::string("\"x\""), "W/" + tag, std::string("Sun, 01 Mar 2026 00:00:00 GMT")}) {
    EXPECT_EQ(Range("bytes=4-", {{"If-Range", other}}).status, 200) << other;
  }
  EXPECT_EQ(Range("bytes=4-", {{"If-None-Match", tag}}).status, 304);
}

TEST_F(LogRangeTest, ALogWithAHoleMayStillChange) {
  Append(1, {{kOut, "one\n"}});
  Append(3, {{kOut, "three\n"}}, true);
  Finish(run_id_, {.state = RunState::kCompleted, .output = "x"});
  EXPECT_EQ(Logs().header("etag"), "");
  EXPECT_TRUE(Range("bytes=0-").header("content-range").ends_with("/*"));
  Append(2, {{kErr, "two\n"}});
  EXPECT_NE(Logs().header("etag"), "");
}

TEST_F(LogRangeTest, CutCharactersAndBadBytesKeepTheirPlaces) {
  Append(1,
         {{kOut,
           "a\xff"
           "b\xe4\xb8"},
          {kOut, "\xad\xe2\x82\xac\xf0\x9f\n"}},
         true);
  const std::string whole = Logs().text;
  for (size_t first = 0; first < whole.size(); ++first) {
    for (size_t last = first; last < whole.size(); ++last) {
      const Answer part = Range("bytes=" + std::to_string(first) + "-" + std::to_string(last));
      EXPECT_EQ(part.text, whole.substr(first, last - first + 1)) << first << " " << last;
    }
  }
}

TEST_F(LogRangeTest, OfAPartOfTheLogAndOfAnOutputToo) {
  EXPECT_EQ(Range("bytes=0-").status, 416) << "there is nothing yet";
  AppendSample(true);
  EXPECT_EQ(Range("bytes=0-3", {}, "?stream=stderr").text, "bad ");
  EXPECT_EQ(Range("bytes=-4", {}, "?offset=1&limit=1").text, "<b>\n");
}

TEST_F(LogRangeTest, AnOutputWithoutALogHasRanges) {
  Finish(run_id_, {.state = RunState::kCompleted, .output = "0123456789"});
  const Answer part = Range("bytes=2-4");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.text, "234");
  EXPECT_EQ(part.header("etag"), "") << "its log may still come";
}

// ---- the follower alone, on a manual clock

class LogFollowerTest : public LogRoutesTest {
 protected:
  LogFollower Follow(uint64_t after = 0) {
    return LogFollower({.runs = stores_.runs,
                        .logs = stores_.logs,
                        .cluster_now = [this] { return stores_.segments.Now(); }},
                       {.key = *DecodeRunId(run_id_), .attempt = 1, .after_seq = after});
  }
  // Polls until no more text is available now.
  std::string Poll(LogFollower& follower) {
    std::string text;
    for (;;) {
      const auto piece = follower.Poll(clock_.Steady());
      text += piece.text;
      if (piece.end) return text + "END";
      if (!piece.more) return text;
    }
  }
  static size_t Events(const std::string& text) {
    size_t count = 0;
    for (size_t at = text.find("id: "); at != std::string::npos; at = text.find("id: ", at + 1)) {
      ++count;
    }
    return count;
  }
};

TEST_F(LogFollowerTest, PieceThatIsLateIsWaitedFor) {
  LogFollower follower = Follow();
  Append(3, {{kOut, "three\n"}}, true);
  EXPECT_EQ(Poll(follower), "");
  Finish(run_id_, {.state = RunState::kCompleted, .output = "x"});
  clock_.Advance(LogFollower::kLookEvery);
  EXPECT_EQ(Poll(follower), "");
  Append(1, {{kOut, "one\n"}, {kOut, "two\n"}});
  const std::string all = Poll(follower);
  EXPECT_LT(all.find("one"), all.find("three"));
  EXPECT_NE(all.find("\"complete\":true"), std::string::npos);
}

TEST_F(LogFollowerTest, OneStreamOfALongLogIsReadToItsEnd) {
  const std::vector<Line> quiet(2000, {kOut, std::string(100, 'x') + "\n"});
  for (uint64_t i = 0; i < 10; ++i) Append(1 + i * 2000, quiet);
  Append(20'001, {{kErr, "at last\n"}}, true);
  Finish(run_id_, {.state = RunState::kCompleted, .output = "x"});
  clock_.Advance(1h);
  LogFollower follower({.runs = stores_.runs,
                        .logs = stores_.logs,
                        .cluster_now = [this] { return stores_.segments.Now(); }},
                       {.key = *DecodeRunId(run_id_), .attempt = 1, .only = kErr});
  const std::string all = Poll(follower);
  EXPECT_EQ(Events(all), 1u);
  EXPECT_NE(all.find("at last"), std::string::npos);
  EXPECT_NE(all.find("\"complete\":true"), std::string::npos);
}

TEST_F(LogFollowerTest, PieceThatNeverComesIsSaid) {
  LogFollower follower = Follow();
  Append(1, {{kOut, "one\n"}});
  Append(4, {{kOut, "four\n"}});
  Finish(run_id_, {.state = RunState::kLost, .output = "x"});
  EXPECT_EQ(Events(Poll(follower)), 1u);
  clock_.Advance(LogFollower::kPieceGrace);
  const std::string rest = Poll(follower);
  EXPECT_NE(rest.find("2 entries are missing"), std::string::npos);
  EXPECT_NE(rest.find("four"), std::string::npos);
  EXPECT_NE(rest.find("\"complete\":false"), std::string::npos);
  EXPECT_TRUE(rest.ends_with("END"));
}

TEST_F(LogFollowerTest, RunThatSaidNothingEndsAtOnce) {
  LogFollower follower = Follow();
  EXPECT_EQ(Poll(follower), "");
  Finish(run_id_, {.state = RunState::kCompleted});
  clock_.Advance(LogFollower::kLookEvery);
  const std::string end = Poll(follower);
  EXPECT_NE(end.find("\"complete\":true"), std::string::npos);
  EXPECT_TRUE(end.ends_with("END"));
}

TEST_F(LogFollowerTest, OutputOfLongAgoNeedsNoPatience) {
  Finish(run_id_, {.state = RunState::kCompleted, .output = "a\nb\n"});
  clock_.Advance(1h);
  LogFollower follower = Follow();
  const std::string all = Poll(follower);
  EXPECT_EQ(Events(all), 2u);
  EXPECT_NE(all.find("\"complete\":true"), std::string::npos);
  LogFollower resumed = Follow(1);
  EXPECT_EQ(Events(Poll(resumed)), 1u);
}

TEST_F(LogFollowerTest, AttemptThatWasTriedAgainIsOver) {
  JobDefinition job;
  const std::string id = Create({{"retry_count", 1}, {"retry_interval", 60}})["job_id"];
  const std::string run = Execute(id);
  Finish(run, {.state = RunState::kFailed, .output = "first\n"});
  clock_.Advance(1h);
  LogFollower follower({.runs = stores_.runs,
                        .logs = stores_.logs,
                        .cluster_now = [this] { return stores_.segments.Now(); }},
                       {.key = *DecodeRunId(run), .attempt = 1});
  const std::string all = Poll(follower);
  EXPECT_NE(all.find("first"), std::string::npos);
  EXPECT_NE(all.find("\"state\":\"PENDING\""), std::string::npos) << "the run goes on";
}

}  // namespace
}  // namespace carillon::test
