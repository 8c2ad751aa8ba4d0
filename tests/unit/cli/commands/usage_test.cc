// Messages for wrong usage, and inputs that must not count as wrong usage.
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class UsageTest : public CliTest {
 protected:
  bool Told(const std::string& text) const { return err().find(text) != std::string::npos; }
};

TEST_F(UsageTest, WhatNothingTakesIsToldAsItWasTyped) {
  EXPECT_EQ(Run({"job", "create", "--name", "n", "--retries", "3"}), 2);
  EXPECT_TRUE(
      Told("The following arguments were not expected: --retries 3; did you mean "
           "'--retry'?\n"))
      << err();
  EXPECT_EQ(Run({"job", "create", "--nam=n"}), 2);
  EXPECT_TRUE(Told("The following argument was not expected: --nam=n; did you mean '--name'?\n"))
      << err();
  EXPECT_EQ(Run({"job", "list", "--contxt", "c"}), 2);
  EXPECT_TRUE(Told("--contxt c; did you mean '--context'?\n")) << "a flag of every command";
  EXPECT_EQ(Run({"job", "get", "a", "--frobnicate", "b", "c"}), 2);
  EXPECT_TRUE(Told("The following argument was not expected: --frobnicate\n")) << err();
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(UsageTest, AnExpressionThatTheShellTookApartIsToBeQuoted) {
  const std::string hint = "A cron expression is one argument: quote it, as in '0 9 * * MON'.";
  for (const char* verb : {"explain", "next", "lint"}) {
    EXPECT_EQ(Run({"schedule", verb, "0", "9", "*", "*", "MON"}), 2);
    EXPECT_TRUE(Told("were not expected: 9 * * MON\n" + hint)) << err();
  }
  EXPECT_EQ(Run({"job", "create", "--name", "n", "--cron", "0", "9", "*", "*", "MON"}), 2);
  EXPECT_TRUE(Told(hint)) << err();
  EXPECT_EQ(Run({"schedule", "explain", "0 9 * * MON", "more"}), 2);
  EXPECT_FALSE(Told(hint)) << "it was quoted";
  EXPECT_EQ(Run({"schedule", "explain", "@daily", "--verbose"}), 2);
  EXPECT_FALSE(Told(hint)) << "only a flag is too much";
}

TEST_F(UsageTest, HelpIsAVerbToo) {
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{}, {"job"}, {"job", "run"}, {"standalone"}}) {
    std::vector<std::string> by_flag = verb;
    by_flag.emplace_back("--help");
    EXPECT_EQ(Run(by_flag), 0);
    const std::string text = out();
    EXPECT_NE(text.find("Usage: carillon"), std::string::npos);
    std::vector<std::string> by_verb = {"help"};
    by_verb.insert(by_verb.end(), verb.begin(), verb.end());
    EXPECT_EQ(Run(by_verb), 0) << err();
    EXPECT_EQ(out(), text);
    by_verb.insert(by_verb.begin(), "-q");
    EXPECT_EQ(Run(by_verb), 0) << err();
    EXPECT_EQ(out(), text);
  }
  EXPECT_EQ(Run({"help", "job", "frobnicate"}), 2);
  EXPECT_TRUE(Told(": unknown command 'job frobnicate'")) << err();
}

TEST_F(UsageTest, VersionIsAFlagToo) {
  EXPECT_EQ(Run({"--version"}), 0) << err();
  EXPECT_EQ(out(), "carillon 1.2.3\n");
}

TEST_F(UsageTest, HelpIsInGroupsAndHasExamples) {
  EXPECT_EQ(Run({"--help"}), 0);
  size_t at = 0;
  for (const char* group :
       {"\nJobs:", "\nRuns:", "\nFiles:", "\nOperations:", "\nAccess:", "\nLocal:"}) {
    const size_t found = out().find(group);
    ASSERT_NE(found, std::string::npos) << group;
    EXPECT_GT(found, at) << group;
    at = found;
  }
  EXPECT_EQ(out().find("Subcommands:"), std::string::npos) << "each command is in a group";
  EXPECT_EQ(Run({"job", "create", "--help"}), 0);
  EXPECT_NE(out().find("Examples:\n  carillon job create "), std::string::npos) << out();
}

// All commands and flags in the examples exist.
TEST_F(UsageTest, ExamplesNameCommandsAndFlagsThatExist) {
  EXPECT_EQ(Run({"help"}), 0);
  std::vector<std::string> commands;
  std::istringstream help(out());
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("  ") && line.size() > 2 && line[2] >= 'a' && line[2] <= 'z') {
      commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  ASSERT_GE(commands.size(), 30u);
  size_t examples = 0;
  for (const std::string& command : commands) {
    if (command == "carillon") continue;
    EXPECT_EQ(Run({"help", command}), 0);
    std::istringstream text(out());
    bool within = false;
    for (std::string line; std::getline(text, line);) {
      within = line == "Examples:" || (within && line.starts_with("  "));
      const size_t begin = line.find("carillon ");
      if (!within || begin == std::string::npos) continue;
      ++examples;
      std::istringstream words(line.substr(begin + 9));
      std::string first;
      words >> first;
      std::vector<std::string> verb = {"help", first};
      for (std::string word; words >> word && word[0] >= 'a' && word[0] <= 'z';) {
        verb.push_back(word);
        if (Run(verb) != 0) {
          verb.pop_back();
          break;
        }
      }
      EXPECT_EQ(Run(verb), 0);
      const std::string flags = out();
      std::istringstream again(line.substr(begin));
      for (std::string word; again >> word;) {
        if (!word.starts_with("--")) continue;
        EXPECT_NE(flags.find(word), std::string::npos) << word << " of: " << line;
      }
    }
  }
  EXPECT_GE(examples, 50u);
}

TEST_F(UsageTest, NoScheduleAndAScheduleExcludeEachOther) {
  const std::vector<std::pair<std::string, std::string>> schedules = {
      {"--cron", "0 3 * * *"}, {"--every", "5m"}, {"--at", "2030-03-01T02:00:00Z"}, {"--in", "1h"}};
  for (const auto& [flag, value] : schedules) {
    EXPECT_EQ(Run({"job", "create", "--name", "n", flag, value, "--manual"}), 2);
    EXPECT_TRUE(Told(flag + " excludes --manual")) << err();
    EXPECT_EQ(Run({"job", "edit", "a", "--manual", flag, value}), 2);
    EXPECT_TRUE(Told(flag + " excludes --manual")) << err();
  }
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(UsageTest, WhatIsNoPathOfTheApiIsNotAsked) {
  for (const char* path : {"/jobs", "/", "/api", "/apis/jobs", "api/jobs", ""}) {
    EXPECT_EQ(Run({"api", "GET", path}), 2) << path;
    EXPECT_TRUE(Told("/api/jobs")) << err();
    EXPECT_EQ(out(), "");
  }
  EXPECT_TRUE(server_.requests.empty());
  AnswerText("GET /readyz?verbose", "[+] clock\n");
  EXPECT_EQ(Run({"api", "GET", "/readyz?verbose"}), 0) << err();
  EXPECT_EQ(out(), "[+] clock\n");
}

TEST_F(UsageTest, WhatToDoIsSaidByCode) {
  Answer("GET /api/jobs/a", ProblemOf("unauthenticated"), 401);
  EXPECT_EQ(Run({"job", "get", "a"}), 4);
  EXPECT_TRUE(Told("it is wrong (unauthenticated)\n")) << "what the server says stays";
  EXPECT_TRUE(Told("Sign in with `carillon login`, or pass a token with --token-file.\n"));
  Answer("GET /api/jobs/b", JobShown("b"), 200, "\"1\"");
  Answer("PATCH /api/jobs/b", ProblemOf("stale_version"), 412);
  EXPECT_EQ(Run({"job", "edit", "b", "--timeout", "5m"}), 5);
  EXPECT_TRUE(Told("Someone else has changed it")) << err();
  Answer("GET /api/jobs/c", ProblemOf("forbidden"), 403);
  EXPECT_EQ(Run({"job", "get", "c"}), 4);
  EXPECT_FALSE(Told("Sign in")) << err();
}

TEST_F(UsageTest, VersionAndHelp) {
  EXPECT_EQ(Run({"version"}), 0);
  EXPECT_EQ(out(), "carillon 1.2.3\n");
  EXPECT_EQ(Run({"version", "-o", "json"}), 0);
  EXPECT_EQ(OutJson(), (json{{"version", "1.2.3"}}));
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_NE(out().find("standalone"), std::string::npos);
  EXPECT_EQ(Run({"job", "create", "--help"}), 0);
  for (const char* flag : {"--retry-interval", "--token-file", "--output", "--quiet", "--yes"}) {
    EXPECT_NE(out().find(flag), std::string::npos) << flag;
  }
}

TEST_F(UsageTest, QuietSaysErrorsAndNothingElse) {
  Answer("GET /api/jobs/j", JobShown("j"), 200, "\"v3\"");
  server_.answers["DELETE http://a/api/jobs/j"].emplace_back(HttpResponse{.status = 204});
  EXPECT_EQ(Run({"job", "delete", "j", "-y", "-q"}), 0);
  EXPECT_EQ(err(), "");
  EXPECT_EQ(Run({"job", "get", "none", "-q"}), 3);
  EXPECT_NE(err(), "");
  environment_.erase("CARILLON_TOKEN");
  EXPECT_EQ(Run({"--token-file", "/nonexistent", "job", "list"}), 2);
}

TEST_F(UsageTest, AMistypedVerbIsToldFromTheNearest) {
  EXPECT_EQ(Run({"job", "creat", "--name", "x"}), 2);
  EXPECT_NE(err().find("unknown command 'job creat'; did you mean 'job create'?"),
            std::string::npos)
      << err();
  EXPECT_EQ(Run({"jobs", "list"}), 2);
  EXPECT_NE(err().find("unknown command 'jobs'; did you mean 'job'?"), std::string::npos) << err();
  EXPECT_EQ(Run({"help", "jbo"}), 2);
  EXPECT_NE(err().find("unknown command 'jbo'; did you mean 'job'?"), std::string::npos) << err();
  EXPECT_EQ(Run({"help", "job", "creat"}), 2);
  EXPECT_NE(err().find("unknown command 'job creat'; did you mean 'job create'?"),
            std::string::npos)
      << err();
  EXPECT_EQ(Run({"help", "job", "list", "all"}), 2);
  EXPECT_NE(err().find("unknown command 'list all' (usage)\n"), std::string::npos) << err();
  EXPECT_EQ(Run({"job", "frobnicate"}), 2);
  EXPECT_NE(err().find("unknown command 'job frobnicate'\n"), std::string::npos) << err();
  EXPECT_EQ(Run({"job", "--limit", "5"}), 2);
  EXPECT_EQ(err().find("unknown command"), std::string::npos) << err();
  EXPECT_EQ(Run({"job"}), 2);
  EXPECT_EQ(err().find("unknown command"), std::string::npos) << err();
}

TEST_F(UsageTest, UnknownVerbsAreUsageErrors) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(Run({"job"}), 2);
  EXPECT_EQ(Run({"job", "explode"}), 2);
  EXPECT_EQ(Run({"job", "get"}), 2);
  EXPECT_EQ(out(), "");
}

}  // namespace
}  // namespace carillon::cli
