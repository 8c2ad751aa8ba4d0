// The setting events.kafka.topics: topics of Kafka whose records are events.
//
//   "orders=sales, stock"   events of `orders` belong to the namespace sales, those of `stock` to
//                           the default one
#pragma once

#include <string>
#include <vector>

#include "common/config/load.h"

namespace carillon::config {

inline constexpr size_t kEventTopicsMax = 20;

struct TopicOfEvents {
  std::string topic;
  std::string name_space;  // empty: the default one

  bool operator==(const TopicOfEvents&) const = default;
};

// In the order of the setting, which CheckEventTopics has accepted.
std::vector<TopicOfEvents> EventTopicsIn(const Config& config);

// kInvalid: too many topics, the same twice, no name of a topic, one of Carillon's own or the one
// of dead letters. Load calls it.
Status CheckEventTopics(const Config& config);
// kInvalid: the setting is used where there is no Kafka.
Status RefuseEventTopics(const Config& config);
// kInvalid: no namespace has such a name. `rule` says which it may have.
Error RefuseEventNamespace(const Config& config, const TopicOfEvents& topic, std::string_view rule);

}  // namespace carillon::config
