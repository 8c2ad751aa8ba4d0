// The setting dead_letters.topic: a topic of Kafka for readers outside of Carillon.
#pragma once

#include "common/config/load.h"

namespace carillon::config {

// True for the names that Kafka allows, and for none.
bool IsTopicName(std::string_view name);
// True for the topics that Carillon creates for itself.
bool IsOwnTopic(std::string_view name);

// kInvalid: no name of a topic, or one of Carillon's own. Load calls it.
Status CheckLetterTopic(const Config& config);
// kInvalid: the setting is used where there is no Kafka.
Status RefuseLetterTopic(const Config& config);

}  // namespace carillon::config
