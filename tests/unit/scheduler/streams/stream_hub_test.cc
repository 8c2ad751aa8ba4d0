#include "scheduler/streams/stream_hub.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/manual_clock.h"

namespace carillon::scheduler {
namespace {

struct Listener final : HttpStream {
  bool Write(std::string bytes) override {
    if (gone) return false;
    heard += bytes;
    return true;
  }
  size_t unsent() const override { return waiting; }
  bool closed() const override { return gone; }
  void Close() override { gone = true; }
  std::string heard;
  size_t waiting = 0;
  bool gone = false;
};

struct Script final : StreamSource {
  explicit Script(std::vector<Piece>& pieces) : pieces_(pieces) {}
  Piece Poll(SteadyTime) override {
    if (pieces_.empty()) return {};
    Piece piece = pieces_.front();
    pieces_.erase(pieces_.begin());
    return piece;
  }
  std::vector<Piece>& pieces_;
};

class StreamHubTest : public ::testing::Test {
 protected:
  std::shared_ptr<Listener> Listen(const std::string& who = "anna") {
    auto listener = std::make_shared<Listener>();
    hub_.Add(listener, std::make_unique<Script>(pieces_), {.account = who});
    return listener;
  }
  SteadyTime Step() { return hub_.Step(clock_.Steady()); }

  test::ManualClock clock_;
  std::vector<StreamSource::Piece> pieces_;
  StreamHub hub_{clock_};
};

TEST_F(StreamHubTest, TellsWhatTheSourceHasUntilItEnds) {
  const auto listener = Listen();
  pieces_ = {{.text = "a", .more = true}, {.text = "b"}, {.text = "c", .end = true}};
  EXPECT_EQ(Step(), clock_.Steady()) << "there is more";
  EXPECT_EQ(listener->heard, "a");
  EXPECT_EQ(Step(), clock_.Steady() + StreamHub::kPollEvery);
  EXPECT_FALSE(listener->gone);
  Step();
  EXPECT_EQ(listener->heard, "abc");
  EXPECT_TRUE(listener->gone);
}

TEST_F(StreamHubTest, WhoseCredentialIsGoodNoMoreIsLetGo) {
  bool stands = true;
  int asked = 0;
  std::vector<std::shared_ptr<Listener>> listeners;
  for (int i = 0; i < 3; ++i) {
    listeners.push_back(std::make_shared<Listener>());
    hub_.Add(listeners.back(), std::make_unique<Script>(pieces_),
             {.account = "anna", .credential = "s-1", .stands = [&] {
                ++asked;
                return stands;
              }});
  }
  const auto other = Listen("bert");
  Step();
  stands = false;
  clock_.Advance(StreamHub::kConfirmEvery - 1us);
  Step();
  EXPECT_FALSE(listeners[0]->gone);
  EXPECT_EQ(asked, 1) << "once for all of them";
  clock_.Advance(1us);
  pieces_ = {{.text = "secret", .more = true}};
  Step();
  for (const auto& listener : listeners) {
    EXPECT_TRUE(listener->gone);
    EXPECT_EQ(listener->heard, "");
  }
  EXPECT_FALSE(other->gone);
}

TEST_F(StreamHubTest, AStoreThatDoesNotSayIsNotAskedForEachOfThem) {
  int asked = 0;
  std::optional<bool> says;
  std::vector<std::shared_ptr<Listener>> listeners;
  for (int i = 0; i < 40; ++i) {
    listeners.push_back(std::make_shared<Listener>());
    hub_.Add(listeners.back(), std::make_unique<Script>(pieces_),
             {.account = "a" + std::to_string(i), .credential = std::to_string(i), .stands = [&] {
                ++asked;
                if (!says) clock_.Advance(3s);  // the longest time of a read of the store
                return says;
              }});
  }
  Step();
  EXPECT_EQ(asked, 1);
  Step();
  EXPECT_EQ(asked, 1) << "the rest is counted from its answer";
  EXPECT_FALSE(listeners[0]->gone) << "what was known holds";
  says = false;
  clock_.Advance(StreamHub::kConfirmEvery);
  Step();
  EXPECT_EQ(asked, 1 + StreamHub::kConfirmsPerStep);
  Step();
  Step();
  EXPECT_EQ(asked, 41);
  for (const auto& listener : listeners) EXPECT_TRUE(listener->gone);
}

TEST_F(StreamHubTest, SilenceIsBrokenSoThatProxiesKeepTheConnection) {
  const auto listener = Listen();
  Step();
  clock_.Advance(StreamHub::kHeartbeat - 1us);
  Step();
  EXPECT_EQ(listener->heard, "");
  clock_.Advance(1us);
  Step();
  EXPECT_EQ(listener->heard, ": still here\n\n");
  Step();
  EXPECT_EQ(listener->heard, ": still here\n\n");
}

TEST_F(StreamHubTest, ListenerWhoDoesNotReadIsNotWrittenTo) {
  const auto listener = Listen();
  pieces_ = {{.text = "a"}};
  listener->waiting = StreamHub::kUnsentMax + 1;
  Step();
  EXPECT_EQ(pieces_.size(), 1u);
  listener->waiting = 0;
  Step();
  EXPECT_EQ(listener->heard, "a");
}

TEST_F(StreamHubTest, ListenerComesAgainAfterItsTime) {
  const auto listener = Listen();
  Step();
  clock_.Advance(StreamHub::kLifetime);
  pieces_ = {{.text = "last"}};
  Step();
  EXPECT_EQ(listener->heard, "last");
  EXPECT_TRUE(listener->gone);
}

TEST_F(StreamHubTest, WhoIsGoneMakesRoom) {
  std::vector<std::shared_ptr<Listener>> all;
  while (!hub_.IsFull()) {
    all.push_back(Listen(std::to_string(all.size() / StreamHub::kStreamsOfOneMax)));
    ASSERT_FALSE(all.back()->gone);
  }
  EXPECT_EQ(all.size(), StreamHub::kStreamsMax);
  EXPECT_TRUE(Listen()->gone) << "one too many";
  all[3]->gone = true;
  Step();
  EXPECT_FALSE(hub_.IsFull());
}

TEST_F(StreamHubTest, NobodyTakesAllOfThem) {
  std::vector<std::shared_ptr<Listener>> annas;
  for (size_t i = 0; i < StreamHub::kStreamsOfOneMax; ++i) annas.push_back(Listen("anna"));
  const auto bert = Listen("bert");
  Step();
  for (int i = 0; i < 3; ++i) annas.push_back(Listen("anna"));
  Step();
  for (size_t i = 0; i < annas.size(); ++i) EXPECT_EQ(annas[i]->gone, i < 3) << i;
  EXPECT_FALSE(bert->gone);
  annas[5]->gone = true;
  Step();
  annas.push_back(Listen("anna"));
  Step();
  EXPECT_FALSE(annas[3]->gone) << "there was room";
  annas.push_back(Listen("anna"));
  Step();
  EXPECT_TRUE(annas[3]->gone);
  EXPECT_FALSE(annas[4]->gone);
}

TEST_F(StreamHubTest, StopLetsEverybodyGo) {
  const auto polled = Listen();
  Step();
  const auto fresh = Listen();
  hub_.Stop();
  EXPECT_TRUE(polled->gone);
  EXPECT_TRUE(fresh->gone);
  EXPECT_TRUE(Listen()->gone);
}

}  // namespace
}  // namespace carillon::scheduler
