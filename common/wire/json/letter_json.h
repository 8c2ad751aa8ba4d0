// A dead letter as a message of the dead-letter topic (docs/operations.md). Never contains a job's
// commands, parameters, environment or output.
#pragma once

#include <string>

#include "common/ports/store/letter_store.h"

namespace carillon {

// Readers must pass over fields that they do not know: only a change that they would misread raises
// this number.
inline constexpr int kLetterVersion = 1;

std::string LetterToText(const LetterToPublish& letter);

}  // namespace carillon
