// Commands and scripts that were written on Windows, at every door by which they come.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_json.h"

namespace carillon::line_ends_json {
namespace {

TEST(LineEndsJsonTest, CommandsAndScriptsGetTheLineEndsOfUnixAtEveryDoor) {
  const std::string windows = "\xEF\xBB\xBFset -e\r\nfalse\r\n";
  const std::string unix_text = "set -e\nfalse\n";
  const auto created = ParseJob({{"name", "n"}, {"command", windows}});
  ASSERT_TRUE(created.ok()) << created.error().message;
  EXPECT_EQ(created->definition.command, unix_text);
  const StoredJob plain{.job_id = JobId("j"), .definition = {.name = "n", .command = "true"}};
  EXPECT_EQ(PatchJob(plain, {{"command", windows}})->definition.command, unix_text);
  EXPECT_EQ(ParseReplacement(plain, {{"name", "n"}, {"command", windows}})->definition.command,
            unix_text);
  // One that an earlier version has stored.
  const nlohmann::json stored = {
      {"name", "n"}, {"type", "script"}, {"script", {{"interpreter", "bash"}, {"body", windows}}}};
  EXPECT_EQ(DefinitionFromText(stored.dump(), JobId("j"))->script->body, unix_text);
  for (const Interpreter interpreter : AllInterpreters()) {
    nlohmann::json script = stored;
    script["script"]["interpreter"] = Name(interpreter);
    EXPECT_EQ(ParseJob(script)->definition.script->body,
              interpreter == Interpreter::kPwsh ? windows : unix_text)
        << Name(interpreter);
  }
}

}  // namespace
}  // namespace carillon::line_ends_json
