// The setting dead_letters.topic: a topic of Kafka for readers outside of Carillon.
#pragma once

#include "common/config/load.h"

namespace carillon::config {

// kInvalid: no name of a topic, or one of Carillon's own. Load calls it.
Status CheckLetterTopic(const Config& config);
// kInvalid: the setting is used where there is no Kafka.
Status RefuseLetterTopic(const Config& config);

}  // namespace carillon::config
