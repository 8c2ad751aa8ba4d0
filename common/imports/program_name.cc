#include "common/imports/program_name.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/domain/job_text.h"

namespace carillon {
namespace {

using Words = std::vector<std::string>;

// A program that starts the program behind its own arguments.
struct Wrapper {
  std::string_view name;
  std::string_view with_value;  // its options of one letter that take the next word
  int words = 0;                // before the program: a lock file, a time
};
constexpr std::array<Wrapper, 22> kWrappers{
    {{"exec", "a"},         {"command", ""},    {"builtin", ""},    {"time", "fo"},
     {"nohup", ""},         {"setsid", ""},     {"nice", "n"},      {"ionice", "cnp"},
     {"chrt", "TPD", 1},    {"env", "uCS"},     {"sudo", "ughpCT"}, {"doas", "uC"},
     {"timeout", "ks", 1},  {"flock", "wE", 1}, {"lockf", "t", 1},  {"setlock", "", 1},
     {"chronic", ""},       {"cronic", ""},     {"stdbuf", "ioe"},  {"unbuffer", ""},
     {"systemd-cat", "tp"}, {"taskset", "", 1}}};
// They run a command, a script or a folder of scripts: "sh -c 'backup --full'",
// "python3 /opt/report.py", "run-parts /etc/cron.daily".
constexpr std::array<std::string_view, 18> kInterpreters{
    "sh",     "bash",    "dash",    "ksh",  "zsh",  "ash", "csh",  "tcsh",    "fish",
    "python", "python2", "python3", "perl", "ruby", "php", "node", "Rscript", "run-parts"};
// They only prepare for what follows.
constexpr std::array<std::string_view, 25> kPreparations{
    "cd",    "pushd",  "source", ".",    "test", "[",     "[[",    "export", "set",
    "umask", "ulimit", "sleep",  ":",    "true", "mkdir", "unset", "eval",   "date",
    "echo",  "printf", "shopt",  "trap", "for",  "case",  "read"};
constexpr std::array<std::string_view, 11> kKeywords{"if",    "then", "else", "elif", "while", "do",
                                                     "until", "!",    "{",    "fi",   "done"};

template <size_t kSize>
bool IsAmong(const std::array<std::string_view, kSize>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view BaseName(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

// The end of "$(…)" or "`…`", which begins at `begin`.
size_t EndOfSubstitution(std::string_view text, size_t begin) {
  if (text[begin] == '`') {
    const size_t end = text.find('`', begin + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  int depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1;
  }
  return text.size();
}

// Splits a command line into its simple commands, without redirections. Quotes are removed.
std::vector<Words> SimpleCommands(std::string_view text) {
  std::vector<Words> commands(1);
  std::string word;
  bool in_word = false;
  char quote = '\0';
  const auto end_word = [&] {
    if (in_word) commands.back().push_back(word);
    word.clear();
    in_word = false;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool at_word = !in_word;
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
      continue;
    }
    if (c == '#' && at_word) break;
    if ((c == '$' && text.substr(i).starts_with("$(")) || c == '`') {
      const size_t end = EndOfSubstitution(text, i);
      word += text.substr(i, end - i);
      in_word = true;
      i = end - 1;
      continue;
    }
    if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      end_word();
    } else if (c == ';' || c == '|' || c == '(' || c == ')' || (c == '&' && !word.ends_with('>'))) {
      end_word();
      commands.emplace_back();
    } else {
      word += c;
      in_word = true;
    }
  }
  end_word();
  return commands;
}

bool IsAssignment(std::string_view word) {
  const size_t equals = word.find('=');
  return equals != std::string_view::npos && IsVariableName(word.substr(0, equals));
}

// Removes options from the front, and the values of those in `with_value`.
void SkipOptions(Words& words, std::string_view with_value) {
  while (!words.empty() && words.front().size() > 1 && words.front().front() == '-') {
    const std::string option = words.front();
    words.erase(words.begin());
    if (option == "--") return;
    const bool alone = option.size() == 2 && with_value.find(option[1]) != std::string_view::npos;
    if (alone && !words.empty()) words.erase(words.begin());
  }
}

void SkipAssignments(Words& words) {
  while (!words.empty() && IsAssignment(words.front())) words.erase(words.begin());
}

std::string NameOf(std::string_view command, int depth);

// The script or the command of an interpreter, whose name is `words`[0].
std::string NameOfScript(Words words, int depth) {
  const std::string interpreter(BaseName(words.front()));
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.front() != '-') return std::string(BaseName(word));
    const bool shell = interpreter.ends_with("sh");
    if (shell && word.find('c') != std::string::npos && i + 1 < words.size()) {
      return NameOf(words[i + 1], depth + 1);
    }
    if (word == "-m" && i + 1 < words.size()) return words[i + 1];
    if (word == "-c" || word == "-e" || word == "-r") break;  // code, which has no name
  }
  return interpreter;
}

// The command of "su - www -c 'backup --full'".
std::string NameOfOtherUsers(const Words& words, int depth) {
  const auto option = std::find(words.begin(), words.end(), "-c");
  if (option == words.end() || option + 1 == words.end()) return words.front();
  return NameOf(*(option + 1), depth + 1);
}

// Removes a redirection from the front, with the name of its file.
void SkipRedirection(Words& words) {
  const bool file_follows = words.front().ends_with('>') || words.front().ends_with('<');
  words.erase(words.begin());
  if (file_follows && !words.empty()) words.erase(words.begin());
}

// The program of a simple command; "" if it only prepares for the next one.
std::string NameOf(Words words, int depth) {
  while (!words.empty()) {
    SkipAssignments(words);
    if (words.empty()) return "";
    if (words.front().find_first_of("<>") != std::string::npos) {
      SkipRedirection(words);
      continue;
    }
    const std::string name(BaseName(words.front()));
    if (IsAmong(kKeywords, name)) {
      words.erase(words.begin());
      continue;
    }
    if (name.empty() || IsAmong(kPreparations, name)) return "";
    if (IsAmong(kInterpreters, name)) return NameOfScript(std::move(words), depth);
    if (name == "su" || name == "runuser") return NameOfOtherUsers(words, depth);
    const auto* wrapper = std::find_if(kWrappers.begin(), kWrappers.end(),
                                       [&](const Wrapper& w) { return w.name == name; });
    if (wrapper == kWrappers.end()) return name;
    words.erase(words.begin());
    SkipOptions(words, wrapper->with_value);
    SkipAssignments(words);
    for (int i = 0; i < wrapper->words && !words.empty(); ++i) words.erase(words.begin());
    if (words.size() > 1 && words.front() == "-c") return NameOf(words[1], depth + 1);
    if (words.empty()) return name;
  }
  return "";
}

std::string NameOf(std::string_view command, int depth) {
  constexpr int kDepthMax = 4;
  std::string prepares;
  for (Words& words : SimpleCommands(command)) {
    if (words.empty() || depth > kDepthMax) continue;
    if (prepares.empty()) prepares = BaseName(words.front());
    std::string name = NameOf(std::move(words), depth);
    if (!name.empty()) return name;
  }
  return prepares;
}

}  // namespace

std::string ProgramName(std::string_view command) { return NameOf(command, 0); }

}  // namespace carillon
