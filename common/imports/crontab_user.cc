#include "common/imports/crontab_user.h"

#include <algorithm>
#include <array>

#include "common/domain/isolation.h"
#include "common/domain/job_text.h"
#include "common/imports/crontab_times.h"

namespace carillon {
namespace {

constexpr std::array<std::string_view, 12> kAccounts{"backup", "daemon",   "mysql",      "nagios",
                                                     "nobody", "postgres", "prometheus", "redis",
                                                     "root",   "www-data", "zabbix",     "nginx"};

constexpr std::array<std::string_view, 71> kPrograms{
    "apt",     "apt-get", "awk",        "aws",       "bash",    "bundle",    "cat",    "cd",
    "certbot", "chmod",   "chown",      "composer",  "cp",      "csh",       "curl",   "date",
    "dnf",     "docker",  "echo",       "env",       "exec",    "export",    "find",   "flock",
    "ionice",  "java",    "kill",       "ksh",       "kubectl", "ln",        "logger", "ls",
    "make",    "mkdir",   "mv",         "mysqldump", "nice",    "node",      "nohup",  "npm",
    "perl",    "pg_dump", "pg_dumpall", "php",       "podman",  "printf",    "psql",   "python",
    "python3", "reboot",  "rm",         "rsync",     "ruby",    "run-parts", "scp",    "sed",
    "service", "sh",      "shutdown",   "sleep",     "source",  "ssh",       "sudo",   "systemctl",
    "tar",     "test",    "timeout",    "vacuumdb",  "wget",    "yarn",      "["};

// Programs after which accounts are called, too, and the ending of what they read.
struct ProgramAccount {
  std::string_view name;
  std::string_view script = {};  // "" = it reads no scripts
};
constexpr std::array<ProgramAccount, 11> kProgramAccounts{{{"aws"},
                                                           {"certbot"},
                                                           {"docker"},
                                                           {"java", ".jar"},
                                                           {"node", ".js"},
                                                           {"npm"},
                                                           {"php", ".php"},
                                                           {"podman"},
                                                           {"python", ".py"},
                                                           {"ruby", ".rb"},
                                                           {"service"}}};
constexpr std::array<std::string_view, 5> kScripts{".js", ".php", ".py", ".rb", ".jar"};

template <size_t kSize>
bool IsOneOf(const std::array<std::string_view, kSize>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsProgram(std::string_view word) {
  return IsOneOf(kPrograms, word.substr(word.rfind('/') + 1));
}

// True if `word` begins a command, and is not what the program of this account reads.
bool BeginsCommand(std::string_view word, const ProgramAccount& account) {
  const bool assignment =
      IsVariableName(word.substr(0, word.find('='))) && word.find('=') != std::string_view::npos;
  if (IsProgram(word) || assignment || word == ".") return true;
  if (word.find('/') == std::string_view::npos) return false;
  if (account.script.empty()) return word.starts_with('/');
  // An interpreter reads scripts without an ending, too, but hardly from such a folder.
  constexpr std::array<std::string_view, 5> kFolders{"/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/",
                                                     "/usr/local/"};
  const bool installed = std::any_of(kFolders.begin(), kFolders.end(),
                                     [word](auto folder) { return word.starts_with(folder); });
  const bool script = std::any_of(kScripts.begin(), kScripts.end(),
                                  [word](auto ending) { return word.ends_with(ending); });
  return word.ends_with(".sh") || (installed && !script);
}

}  // namespace

bool StartsWithUser(std::string_view command) {
  const std::string_view first = TakeCrontabWord(command);
  if (!IsOneOf(kAccounts, first)) return false;
  return first == "root" || first == "www-data" || command.starts_with('/') ||
         IsProgram(TakeCrontabWord(command));
}

bool MayBeUser(std::string_view word, std::string_view command) {
  if (command.empty() || !IsUserName(word)) return false;
  const auto* account = std::find_if(kProgramAccounts.begin(), kProgramAccounts.end(),
                                     [word](const auto& one) { return one.name == word; });
  if (account == kProgramAccounts.end()) return !IsProgram(word);
  return BeginsCommand(TakeCrontabWord(command), *account);
}

}  // namespace carillon
