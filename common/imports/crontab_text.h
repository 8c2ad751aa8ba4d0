// The texts of a crontab: settings, commands and their input, read as cron does. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace carillon {

struct CrontabSetting {
  std::string name;
  std::string value;
  bool quoted = false;  // the value
};

// Reads NAME = value, where both may be quoted; nullopt if cron does not take the line for a
// setting.
std::optional<CrontabSetting> ReadCrontabSetting(std::string_view line);

// A command, and the text that cron writes to its standard input: cron ends the command at a "%",
// and each further one ends a line. "\%" is a percent sign.
struct CrontabCommand {
  std::string command;
  bool has_percent = false;
  std::string input = {};  // "" = the standard input is empty
};
CrontabCommand ReadCrontabCommand(std::string_view text);

// The fault of a text that a job cannot keep, as in "contains a NUL byte"; "" = none.
std::string CrontabTextFault(std::string_view text, size_t bytes_max);

// False if the shell would look for the end of a quotation or of brackets behind the text.
bool IsCompleteCommand(std::string_view command);

// The text in single quotes, for a shell.
std::string ShellQuoted(std::string_view text);

// True if a comment only names the fields, as "m h dom mon dow command", or draws lines to them.
bool NamesFields(std::string_view comment);

}  // namespace carillon
