// Users of workers, with a user directory that the test controls.
#include "executor/worker/worker_users.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

namespace carillon::executor {
namespace {

using Answer = WorkerUsers::Answer;

constexpr uid_t kWeb = 4'294'001;
constexpr uid_t kOther = 4'294'002;

TEST(WorkerUsersTest, NumbersNeedNoDirectory) {
  const WorkerUsers users({{"4294001", "shop|cart"}, {"4294003", "*"}},
                          [](const std::string&) -> std::optional<uid_t> {
                            ADD_FAILURE() << "it was asked";
                            return std::nullopt;
                          });
  EXPECT_EQ(users.MayOffer(kWeb, "shop"), Answer::kYes);
  EXPECT_EQ(users.MayOffer(kWeb, "cart"), Answer::kYes);
  EXPECT_EQ(users.MayOffer(kWeb, "car"), Answer::kNo);
  EXPECT_EQ(users.MayOffer(4'294'003, "any"), Answer::kYes);
  EXPECT_EQ(users.MayOffer(kOther, "shop"), Answer::kNo);
  EXPECT_EQ(users.MayOffer(geteuid(), "any"), Answer::kYes);
  EXPECT_FALSE(users.Admits(kOther));
}

TEST(WorkerUsersTest, AUserThatTheDirectoryDoesNotKnowYetIsNotRefused) {
  std::atomic<bool> away = true;
  std::atomic<int> asked = 0;
  const WorkerUsers users({{"web", "shop"}}, [&](const std::string& name) -> std::optional<uid_t> {
    ++asked;
    asked.notify_all();
    if (away || name != "web") return std::nullopt;
    return kWeb;
  });
  asked.wait(0);
  EXPECT_EQ(users.MayOffer(kWeb, "shop"), Answer::kUnknown);
  EXPECT_EQ(users.MayOffer(kOther, "shop"), Answer::kUnknown)
      << "it may be the one that is missing";
  EXPECT_FALSE(users.Admits(kWeb));
  away = false;
  while (users.MayOffer(kWeb, "shop") == Answer::kUnknown) std::this_thread::yield();
  EXPECT_EQ(users.MayOffer(kWeb, "shop"), Answer::kYes);
  EXPECT_EQ(users.MayOffer(kWeb, "cart"), Answer::kNo);
  EXPECT_EQ(users.MayOffer(kOther, "shop"), Answer::kNo);
  EXPECT_TRUE(users.Admits(kWeb));
  EXPECT_EQ(users.NameOf(kWeb), "web");
}

}  // namespace
}  // namespace carillon::executor
