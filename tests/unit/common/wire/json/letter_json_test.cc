#include "common/wire/json/letter_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace carillon {
namespace {

using nlohmann::json;

LetterToPublish ALetter() {
  return {.letter = {.id = 42,
                     .key = {FromUnixMicros(1'772'323'200'000'000), ScheduleId(7), 0},
                     .job_id = JobId("nightly"),
                     .state = RunState::kFailed,
                     .attempts = 3,
                     .reason = "exit_code",
                     .created = FromUnixMicros(1'772'323'205'000'000)},
          .job_name = "Nightly",
          .name_space = "default",
          .labels = {{"team", "data"}},
          .started = FromUnixMicros(1'772'323'201'000'000),
          .ended = FromUnixMicros(1'772'323'204'000'000),
          .executor = ExecutorId("e1"),
          .exit_code = 3,
          .error = "it failed"};
}

TEST(LetterJson, HasWhatReadersNeed) {
  const LetterToPublish letter = ALetter();
  EXPECT_EQ(json::parse(LetterToText(letter)), (json{{"version", 1},
                                                     {"id", 42},
                                                     {"created_at", "2026-03-01T00:00:05.000000Z"},
                                                     {"job_id", "nightly"},
                                                     {"job_name", "Nightly"},
                                                     {"namespace", "default"},
                                                     {"labels", {{"team", "data"}}},
                                                     {"run_id", EncodeRunId(letter.letter.key)},
                                                     {"fire_time", "2026-03-01T00:00:00.000000Z"},
                                                     {"state", "FAILED"},
                                                     {"reason", "exit_code"},
                                                     {"attempts", 3},
                                                     {"error", "it failed"},
                                                     {"exit_code", 3},
                                                     {"executor_id", "e1"},
                                                     {"started_at", "2026-03-01T00:00:01.000000Z"},
                                                     {"ended_at", "2026-03-01T00:00:04.000000Z"}}));
}

TEST(LetterJson, WhatIsNotKnownIsNull) {
  LetterToPublish letter{.letter = ALetter().letter};
  letter.letter.reason.clear();
  const json text = json::parse(LetterToText(letter));
  for (const char* name :
       {"reason", "error", "exit_code", "executor_id", "started_at", "ended_at"}) {
    EXPECT_TRUE(text.at(name).is_null()) << name;
  }
  EXPECT_EQ(text.at("labels"), json::object());
}

TEST(LetterJson, TextsAreReadableWhateverTheirBytes) {
  LetterToPublish letter = ALetter();
  letter.error = "a\xff b";
  EXPECT_EQ(json::parse(LetterToText(letter)).at("error"), "a\xef\xbf\xbd b");
}

}  // namespace
}  // namespace carillon
