// Messages between executors and workers: what their decoder keeps and leaves out.
#include "common/wire/messages/worker_codec.h"

#include <gtest/gtest.h>

#include "carillon/v1/worker.pb.h"
#include "common/domain/job/retry.h"

namespace carillon {
namespace {

WorkerDone Decoded(const worker::v1::Done& done, size_t dropped = 0) {
  worker::v1::FromWorker message;
  *message.add_done() = done;
  const auto decoded = DecodeFromWorker(message.SerializeAsString());
  EXPECT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->dropped.size(), dropped);
  EXPECT_EQ(decoded->done.size(), 1u) << "an end is never dropped";
  return decoded->done.at(0);
}

worker::v1::Done Failed() {
  worker::v1::Done done;
  done.set_ticket("t");
  done.set_state(worker::v1::Done::FAILED);
  return done;
}

TEST(WorkerCodecTest, AFailureKeepsItsCodeAndItsHints) {
  FromWorkerMessage message;
  message.done.push_back({.ticket = "t",
                          .state = RunState::kFailed,
                          .code = "Out.of_stock-1",
                          .no_retry = true,
                          .retry_after = 90s});
  const auto decoded = DecodeFromWorker(EncodeFromWorker(message));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->done.at(0).code, "Out.of_stock-1");
  EXPECT_TRUE(decoded->done.at(0).no_retry);
  EXPECT_EQ(decoded->done.at(0).retry_after, Duration(90s));
  EXPECT_TRUE(decoded->dropped.empty());
}

TEST(WorkerCodecTest, AWorkerThatDoesNotKnowThemHasNone) {
  const WorkerDone done = Decoded(Failed());
  EXPECT_EQ(done.code, "");
  EXPECT_FALSE(done.no_retry);
  EXPECT_FALSE(done.retry_after);
}

TEST(WorkerCodecTest, AWrongCodeIsLeftOutAndALongWaitIsCut) {
  worker::v1::Done done = Failed();
  done.set_retry_after(UINT32_MAX);
  for (const std::string& code : {std::string("a b"), std::string(49, 'x'), std::string("a,b")}) {
    done.set_code(code);
    EXPECT_EQ(Decoded(done, 1).code, "") << code;
  }
  done.set_code(std::string(48, 'x'));
  EXPECT_EQ(Decoded(done).code.size(), 48u);
  EXPECT_EQ(Decoded(done).retry_after, kRetryAfterMax);
}

TEST(WorkerCodecTest, OnlyAFailureHasHints) {
  worker::v1::Done done = Failed();
  done.set_state(worker::v1::Done::COMPLETED);
  done.set_code("ValueError");
  done.set_no_retry(true);
  done.set_retry_after(3);
  const WorkerDone decoded = Decoded(done);
  EXPECT_EQ(decoded.code, "");
  EXPECT_FALSE(decoded.no_retry);
  EXPECT_FALSE(decoded.retry_after);
}

TEST(WorkerCodecTest, TheAnswerToDrainingIsAMessage) {
  const ToWorkerMessage message{.drained = true};
  EXPECT_FALSE(message.empty());
  worker::v1::ToWorker decoded;
  ASSERT_TRUE(decoded.ParseFromString(EncodeToWorker(message)));
  EXPECT_TRUE(decoded.drained());
}

}  // namespace
}  // namespace carillon
