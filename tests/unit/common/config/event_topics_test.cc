#include "common/config/event_topics.h"

#include <gtest/gtest.h>

namespace carillon::config {
namespace {

Result<Config> LoadTopics(const std::string& topics, const std::string& letters = "") {
  return Load({.flags = {{"events.kafka.topics", topics, "--set"},
                         {"dead_letters.topic", letters, "--set"}}});
}

// The sentence of a refusal; empty: accepted.
std::string Refusal(const std::string& topics, const std::string& letters = "") {
  const auto config = LoadTopics(topics, letters);
  if (config.ok()) return "";
  EXPECT_EQ(config.code(), ErrorCode::kInvalid);
  return config.error().message;
}

TEST(EventTopicsTest, EachTopicHasANamespaceOrTheDefaultOne) {
  EXPECT_TRUE(EventTopicsIn(*LoadTopics("")).empty());
  EXPECT_TRUE(EventTopicsIn(*LoadTopics("  ")).empty());
  const std::vector<TopicOfEvents> both = {{"orders", "sales"}, {"stock_1.a", ""}};
  EXPECT_EQ(EventTopicsIn(*LoadTopics("orders=sales,stock_1.a")), both);
  EXPECT_EQ(EventTopicsIn(*LoadTopics(" orders = sales , stock_1.a= ")), both);
}

TEST(EventTopicsTest, NamesThatAreNoTopicOfEventsAreRefused) {
  for (const std::string& topics :
       {std::string("orders,"), std::string(","), std::string("=sales"), std::string("a b"),
        std::string(".."), std::string("caf\xc3\xa9"), std::string(221, 'a')}) {
    EXPECT_NE(Refusal(topics).find("is not the name of a topic"), std::string::npos) << topics;
  }
  EXPECT_EQ(Refusal(std::string(220, 'a')), "");
  EXPECT_NE(Refusal("carillon.tasks").find("topics of Carillon itself"), std::string::npos);
  EXPECT_NE(Refusal("orders=a,stock,orders=b").find("'orders' only once"), std::string::npos);
  EXPECT_NE(Refusal("stock,letters", "letters").find("dead_letters.topic"), std::string::npos);
  EXPECT_NE(Refusal("stock, a b").find("--set: events.kafka.topics must be"), std::string::npos);
}

TEST(EventTopicsTest, AtMostTwentyTopicsAreRead) {
  std::string topics = "t0";
  for (size_t i = 1; i < kEventTopicsMax; ++i) topics += ",t" + std::to_string(i);
  EXPECT_EQ(Refusal(topics), "");
  EXPECT_NE(Refusal(topics + ",more").find("at most 20"), std::string::npos);
}

TEST(EventTopicsTest, WithoutKafkaThereAreNone) {
  EXPECT_TRUE(RefuseEventTopics(*LoadTopics("")).ok());
  const Status refused = RefuseEventTopics(*LoadTopics("orders"));
  EXPECT_EQ(refused.code(), ErrorCode::kInvalid);
  EXPECT_NE(refused.error().message.find("needs Kafka"), std::string::npos);
}

}  // namespace
}  // namespace carillon::config
