#include "common/config/event_topics.h"

#include <set>

#include "common/config/letter_topic.h"

namespace carillon::config {
namespace {

constexpr std::string_view kEventTopics = "events.kafka.topics";
constexpr std::string_view kBlanks = " \t";
// The topic of a refused record is a part of its id, with its partition and its offset.
constexpr size_t kNameMax = 220;

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

Error Refuse(const Config& config, const std::string& why) {
  const Value& value = config.Get(kEventTopics);
  return {ErrorCode::kInvalid, value.place + ": " + std::string(kEventTopics) + " " + why};
}

Status CheckName(const Config& config, const std::string& name) {
  const std::string shown = "'" + name.substr(0, kNameMax) + "'";
  if (name.empty() || name.size() > kNameMax || !IsTopicName(name)) {
    return Refuse(config, "must be topic=namespace,topic=namespace; " + shown +
                              " is not the name of a topic: up to " + std::to_string(kNameMax) +
                              " of the characters a-z, A-Z, 0-9, '.', '_' and '-'");
  }
  if (IsOwnTopic(name)) {
    return Refuse(config, "names " + shown + ", but topics of Carillon itself have no events");
  }
  if (name == config.Text("dead_letters.topic")) {
    return Refuse(config, "names " + shown + ", but dead_letters.topic has no events");
  }
  return {};
}

}  // namespace

std::vector<TopicOfEvents> EventTopicsIn(const Config& config) {
  std::vector<TopicOfEvents> topics;
  const std::string_view text = Trimmed(config.Text(kEventTopics));
  if (text.empty()) return topics;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    const size_t equals = one.find('=');
    TopicOfEvents topic{.topic = std::string(Trimmed(one.substr(0, equals))), .name_space = {}};
    if (equals != one.npos) topic.name_space = Trimmed(one.substr(equals + 1));
    topics.push_back(std::move(topic));
    begin = end + 1;
  }
  return topics;
}

Status CheckEventTopics(const Config& config) {
  const std::vector<TopicOfEvents> topics = EventTopicsIn(config);
  if (topics.size() > kEventTopicsMax) {
    return Refuse(config, "must name at most " + std::to_string(kEventTopicsMax) + " topics");
  }
  std::set<std::string> names;
  for (const TopicOfEvents& one : topics) {
    CARILLON_TRY(CheckName(config, one.topic));
    if (!names.insert(one.topic).second) {
      return Refuse(config, "must name '" + one.topic + "' only once");
    }
  }
  return {};
}

Status RefuseEventTopics(const Config& config) {
  if (EventTopicsIn(config).empty()) return {};
  return Refuse(config,
                "needs Kafka, which a standalone server does not use: remove the setting, or run "
                "a cluster (docs/cluster.md)");
}

Error RefuseEventNamespace(const Config& config, const TopicOfEvents& topic,
                           std::string_view rule) {
  return Refuse(config, "gives '" + topic.topic + "' the namespace '" + topic.name_space +
                            "', which " + std::string(rule));
}

}  // namespace carillon::config
