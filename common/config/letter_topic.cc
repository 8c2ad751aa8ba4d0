#include "common/config/letter_topic.h"

#include <algorithm>

namespace carillon::config {
namespace {

constexpr std::string_view kLetterTopic = "dead_letters.topic";
constexpr size_t kTopicNameMax = 249;  // Kafka's
constexpr std::string_view kOwnTopics = "carillon.";

Error RefuseTopic(const Config& config, const std::string& why) {
  const Value& value = config.Get(kLetterTopic);
  return {ErrorCode::kInvalid, value.place + ": " + std::string(kLetterTopic) + " " + why};
}

}  // namespace

bool IsTopicName(std::string_view name) {
  constexpr std::string_view kOthers = "._-";
  const auto fits = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != kOthers.npos;
  };
  return name.size() <= kTopicNameMax && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), fits);
}

bool IsOwnTopic(std::string_view name) { return name.starts_with(kOwnTopics); }

Status CheckLetterTopic(const Config& config) {
  const std::string& name = config.Text(kLetterTopic);
  if (!IsTopicName(name)) {
    return RefuseTopic(config,
                       "must be the name of a topic: up to 249 of the characters a-z, A-Z, "
                       "0-9, '.', '_' and '-'");
  }
  if (!IsOwnTopic(name)) return {};
  return RefuseTopic(config,
                     "must not begin with 'carillon.', as the topics of Carillon itself do");
}

Status RefuseLetterTopic(const Config& config) {
  if (config.Text(kLetterTopic).empty()) return {};
  return RefuseTopic(config,
                     "needs Kafka, which a standalone server does not use: remove the "
                     "setting, or run a cluster (docs/cluster.md)");
}

}  // namespace carillon::config
