// Jobs of type script: their fields, what they need, and their rendering.
#include "common/domain/job/script.h"

#include <gtest/gtest.h>

#include "common/domain/job/job_types.h"
#include "common/domain/template/command_parameters.h"
#include "common/domain/template/template.h"

namespace carillon::test {
namespace {

JobDefinition Script(std::string body = "print('{{not a placeholder}}')",
                     std::vector<std::string> args = {}) {
  JobDefinition job{.name = "report", .type = JobType::kScript};
  job.script = {
      .interpreter = Interpreter::kPython3, .body = std::move(body), .args = std::move(args)};
  return job;
}

std::string Pointer(const JobDefinition& job) {
  const Status valid = ValidateJob(job);
  return valid.ok() ? "" : valid.error().pointer;
}

TEST(ScriptTest, ItsTextIsNoTemplate) {
  EXPECT_EQ(Pointer(Script()), "");
  const auto rendered = RenderAttempt(Script(), {.job_id = JobId("report")});
  ASSERT_TRUE(rendered.ok());
  EXPECT_EQ(rendered->command, "print('{{not a placeholder}}')");
}

TEST(ScriptTest, ItsArgumentsAreTemplates) {
  JobDefinition job = Script("pass", {"{{job_id}}", "a b", "{{params.day}}", "{{env.MODE}}"});
  job.parameters = {{"day", std::string("'; rm -rf /")}};
  job.env = {{"MODE", "full"}};
  ASSERT_EQ(Pointer(job), "");
  const auto rendered =
      RenderAttempt(job, {.job_id = JobId("report"), .parameters = job.parameters});
  ASSERT_TRUE(rendered.ok());
  EXPECT_EQ(rendered->args, (std::vector<std::string>{"report", "a b", "'; rm -rf /", "full"}));
  EXPECT_TRUE(CommandParameters(job).empty()) << "no shell reads the arguments";
}

TEST(ScriptTest, MistakesNameTheirPlace) {
  EXPECT_EQ(Pointer(Script("")), "/script/body");
  EXPECT_EQ(Pointer(Script(std::string(kScriptBytesMax + 1, 'x'))), "/script/body");
  EXPECT_EQ(Pointer(Script(std::string("a\0b", 3))), "/script/body");
  EXPECT_EQ(Pointer(Script("\xff")), "/script/body");
  EXPECT_EQ(Pointer(Script("pass", std::vector<std::string>(kScriptArgsMax + 1))), "/script/args");
  EXPECT_EQ(Pointer(Script("pass", {"a", "{{nothing}}"})), "/script/args/1");
  EXPECT_EQ(Pointer(Script("pass", {"{{secrets.KEY}}"})), "/script/args/0")
      << "arguments are visible in process lists";
  JobDefinition job = Script();
  job.script.reset();
  EXPECT_EQ(Pointer(job), "/script");
  job = Script();
  job.command = "true";
  EXPECT_EQ(Pointer(job), "/command");
  job = {.name = "a", .command = "true"};
  job.script = ScriptDefinition{.body = "true"};
  EXPECT_EQ(Pointer(job), "/script");
}

TEST(ScriptTest, NeedsItsInterpreterAndSecrets) {
  JobDefinition job = Script();
  EXPECT_EQ(NeedsOf(job), Features({Feature::kScriptPython3}));
  job.env = {{"KEY", "{{secrets.KEY}}"}};
  EXPECT_EQ(NeedsOf(job), Features({Feature::kScriptPython3, Feature::kSecrets}));
  EXPECT_TRUE(NeedsOf({.name = "a", .command = "true"}).empty());
}

TEST(ScriptTest, InterpretersHaveNamesSuffixesAndFeatures) {
  for (const Interpreter interpreter : AllInterpreters()) {
    const std::string name(Name(interpreter));
    EXPECT_EQ(ParseInterpreter(name).value(), interpreter);
    EXPECT_EQ(Name(FeatureOf(interpreter)), "script:" + name);
    EXPECT_EQ(SuffixOf(interpreter).front(), '.');
  }
  EXPECT_FALSE(ParseInterpreter("ruby").ok());
}

TEST(FeaturesTest, UnknownBitsAreDropped) {
  const Features all = Features::FromBits(~uint64_t{0});
  EXPECT_EQ(Features::FromBits(all.bits()), all);
  EXPECT_EQ(all.Names().size(), 21u);
  EXPECT_TRUE(all.HasAll({Feature::kSecrets, Feature::kScriptPwsh}));
  EXPECT_FALSE(Features({Feature::kSecrets}).HasAll({Feature::kScriptSh}));
  EXPECT_TRUE(Features().HasAll({}));
}

TEST(ScriptTest, TheInterpreterOfAFile) {
  const auto name_of = [](std::string_view file, std::string_view text) {
    const auto found = InterpreterOf(file, text);
    return found ? std::string(Name(*found)) : "";
  };
  EXPECT_EQ(name_of("a.py", "print(1)"), "python3");
  EXPECT_EQ(name_of("dir/a.sh", "true"), "sh");
  EXPECT_EQ(name_of("a.sh", "#!/bin/bash\ntrue"), "bash");
  EXPECT_EQ(name_of("a", "#!/usr/bin/env -S perl -w\n"), "perl");
  EXPECT_EQ(name_of("a", "#! /usr/bin/env python3\r\n"), "python3");
  EXPECT_EQ(name_of("a", "\xEF\xBB\xBF#!/bin/bash\r\ntrue"), "bash") << "a byte order mark";
  EXPECT_EQ(name_of("a.py", "#!/usr/bin/ruby\n"), "") << "the first line goes before the suffix";
  EXPECT_EQ(name_of("a.rb", "puts 1"), "");
  EXPECT_EQ(name_of("a", "#!"), "");
}

}  // namespace
}  // namespace carillon::test
