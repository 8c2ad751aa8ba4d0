// Long logs: the reads of one request are limited.
#include "tests/unit/common/adapters/http/raw_socket.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class LongLogTest : public ApiEnv {
 protected:
  LongLogTest() : run_id_(Execute(Create()["job_id"])) {}

  // Lines from `first_seq` on.
  void Append(uint64_t first_seq, uint32_t count, bool last = false,
              const std::string& line = "a\n") {
    LogRecord record{.key = *DecodeRunId(run_id_), .attempt = 1};
    record.chunk = {.first_seq = first_seq, .count = count, .last = last};
    for (uint32_t i = 0; i < count; ++i) {
      AppendEntry(record.chunk.entries,
                  {.time = FromUnixMicros(1'772'323'200'000'000), .text = line});
    }
    ASSERT_TRUE(stores_.logs.AppendLogs({record}).ok());
  }
  Answer Logs(HttpHeaders headers = {}, const std::string& query = "") {
    return Send("GET", "/api/runs/" + run_id_ + "/logs" + query, "", std::move(headers));
  }

  const std::string run_id_;
};

TEST_F(LongLogTest, ComesWholeHoweverManyLinesItHas) {
  constexpr uint32_t kPart = 200'000;
  for (uint64_t i = 0; i < 6; ++i) Append(1 + i * kPart, kPart, i == 5);
  EXPECT_EQ(Logs().text.size(), 6 * kPart * 2);
  const Answer end = Logs({{"Range", "bytes=-100"}});
  EXPECT_EQ(end.status, 206);
  EXPECT_EQ(end.header("content-range"), "bytes 2399900-2399999/2400000");
}

// Downloads that are blocked in the store, so that each occupies a worker like a slow download.
class LogReadsTest : public LongLogTest {
 protected:
  // The log has few entries, with 448 KiB in all.
  LogReadsTest() {
    const std::string line(kLogEntryBytesMax, 'w');
    for (uint64_t i = 0; i < 4; ++i) Append(1 + i * 7, 7, i == 3, line);
  }

  std::string Request(const std::string& token) const {
    return "GET /api/runs/" + run_id_ + "/logs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
           token + "\r\n\r\n";
  }
  // Starts one more download.
  void Read(const std::string& token) {
    downloads_.push_back(std::make_unique<RawSocket>(server_->port()));
    ASSERT_TRUE(downloads_.back()->Send(Request(token)));
    ASSERT_TRUE(hang_.Await(static_cast<int>(downloads_.size())));
  }
  std::string StatusOf(const std::string& token) {
    RawSocket socket(server_->port());
    socket.Send(Request(token));
    return socket.ReadAnswer().substr(9, 3);
  }
  std::string NewToken(const std::string& name) {
    return Post("/api/tokens", {{"name", name}, {"role", "read_only"}}).body()["token"];
  }
  void ExpectAllAnswered() {
    hang_.Release();
    for (const auto& download : downloads_) {
      EXPECT_EQ(download->ReadAnswer().substr(9, 3), "200");
    }
  }

  Hang hang_{faults_.plan, "ReadLongLog"};
  std::vector<std::unique_ptr<RawSocket>> downloads_;
};

TEST_F(LogReadsTest, OneAccountReadsTwoAtATimeAndAllHalfOfTheWorkers) {
  const std::string second = NewToken("second");
  const std::string third = NewToken("third");
  Read(token_);
  Read(token_);
  const Answer refused = Logs();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.code(), "too_many_requests");
  EXPECT_EQ(refused.header("retry-after"), "1");
  Read(second);
  Read(second);
  EXPECT_EQ(StatusOf(third), "503");
  EXPECT_EQ(Get("/api/jobs").status, 200);
  ExpectAllAnswered();
  EXPECT_EQ(StatusOf(third), "200");
  EXPECT_EQ(Logs().status, 200);
}

TEST_F(LogReadsTest, ShortPartsAreReadBesideThem) {
  Read(token_);
  Read(token_);
  for (const char* query : {"?tail=10", "?offset=18", "?limit=10", "?offset=3&limit=10"}) {
    const Answer part = Logs({}, query);
    EXPECT_EQ(part.status, 200) << query;
    EXPECT_EQ(part.text.size(), 10 * kLogEntryBytesMax) << query;
  }
  EXPECT_EQ(Logs({}, "?tail=20").status, 429);
  ExpectAllAnswered();
  EXPECT_EQ(Logs().text.size(), 28 * kLogEntryBytesMax);
}

}  // namespace
}  // namespace carillon::test
