#include "scheduler/server/scheduler_settings.h"

#include <gtest/gtest.h>

namespace carillon::scheduler {
namespace {

config::Config WithTopics(const std::string& topics) {
  return config::Load({.flags = {{"events.kafka.topics", topics, "--set"}}}).value();
}

TEST(SchedulerSettingsTest, ATopicOfEventsBelongsToItsNamespaceOrTheDefaultOne) {
  const auto topics = EventTopicsOf(WithTopics("orders=sales, stock"));
  ASSERT_TRUE(topics.ok()) << topics.error().message;
  EXPECT_EQ(*topics, (std::vector<EventTopic>{{"orders", "sales"}, {"stock", "default"}}));
  EXPECT_TRUE(EventTopicsOf(WithTopics("")).value().empty());
}

TEST(SchedulerSettingsTest, ANamespaceThatNoJobCanHaveIsRefused) {
  for (const char* topics : {"orders=Sales", "stock, orders=-a", "orders=a=b"}) {
    const auto refused = EventTopicsOf(WithTopics(topics));
    EXPECT_EQ(refused.code(), ErrorCode::kInvalid) << topics;
    EXPECT_NE(refused.error().message.find("--set: events.kafka.topics gives 'orders'"),
              std::string::npos)
        << refused.error().message;
  }
}

TEST(SchedulerSettingsTest, TheReaderOfTopicsHasAConnectionOfItsOwn) {
  EXPECT_EQ(StoreConnectionsOf(WithTopics("orders")), StoreConnectionsOf(WithTopics("")) + 1);
}

}  // namespace
}  // namespace carillon::scheduler
