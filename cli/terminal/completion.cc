#include "cli/terminal/completion.h"

namespace carillon::cli {
namespace {

void AddWords(const CLI::App& app, const std::string& path, const std::string& global,
              CompletionTable& table) {
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  std::string words;
  for (const CLI::App* verb : verbs) words += verb->get_name() + " ";
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  words += global;
  table.emplace_back(path, words.substr(0, words.find_last_not_of(' ') + 1));
  std::string inherited = global;
  if (global.empty()) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->check_name("--help") || option->check_name("--version")) continue;
      for (const std::string& name : option->get_lnames()) inherited += "--" + name + " ";
    }
  }
  for (const CLI::App* verb : verbs) {
    AddWords(*verb, path + " " + verb->get_name(), inherited, table);
  }
}

}  // namespace

CompletionTable WordsOf(const CLI::App& app) {
  CompletionTable table;
  AddWords(app, "carillon", "", table);
  return table;
}

// All three scripts read the words before the cursor that are no flags. Words that name commands
// are the path of the command. The words after the last known command are its arguments.

std::string BashCompletion(const CompletionTable& table) {
  std::string text =
      "# bash completion of carillon: source <(carillon completion bash)\n"
      "_carillon() {\n"
      "  local path=carillon words='' word i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    [[ $word == -* ]] || path+=\" $word\"\n"
      "  done\n"
      "  while :; do\n"
      "    case \"$path\" in\n";
  for (const auto& [path, words] : table) {
    text += "    '" + path + "') words='" + words + "' ;;\n";
  }
  return text +
         "    esac\n"
         "    [[ -n $words || $path != *' '* ]] && break\n"
         "    path=${path% *}\n"
         "  done\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o default -F _carillon carillon\n";
}

std::string ZshCompletion(const CompletionTable& table) {
  std::string text =
      "#compdef carillon\n"
      "# zsh completion of carillon, behind compinit: source <(carillon completion zsh)\n"
      "_carillon() {\n"
      "  local at=carillon found='' word\n"
      "  for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
      "    [[ $word == -* ]] || at+=\" $word\"\n"
      "  done\n"
      "  while :; do\n"
      "    case \"$at\" in\n";
  for (const auto& [path, words] : table) {
    text += "    '" + path + "') found='" + words + "' ;;\n";
  }
  return text +
         "    esac\n"
         "    [[ -n $found || $at != *' '* ]] && break\n"
         "    at=${at% *}\n"
         "  done\n"
         "  compadd -- ${=found} || _files\n"
         "}\n"
         "compdef _carillon carillon\n";
}

std::string FishCompletion(const CompletionTable& table) {
  std::string text =
      "# fish completion of carillon: carillon completion fish | source\n"
      "function __carillon_words\n"
      "  set -l at carillon\n"
      "  set -l before (commandline -opc)\n"
      "  set -e before[1]\n"
      "  for word in $before\n"
      "    string match -q -- '-*' $word; or set at \"$at $word\"\n"
      "  end\n"
      "  while true\n"
      "    switch $at\n";
  for (const auto& [path, words] : table) {
    text +=
        "      case '" + path + "'\n        string split ' ' -- '" + words + "'\n        return\n";
  }
  return text +
         "    end\n"
         "    string match -q '* *' -- $at; or return\n"
         "    set at (string replace -r ' [^ ]*$' '' -- $at)\n"
         "  end\n"
         "end\n"
         "complete -c carillon -f -a '(__carillon_words)'\n"
         "complete -c carillon -s f -l file -r -F\n"
         "complete -c carillon -s d -r -F\n"
         "complete -c carillon -l config -r -F\n"
         "complete -c carillon -l data-dir -r -F\n"
         "complete -c carillon -l token-file -r -F\n";
}

}  // namespace carillon::cli
