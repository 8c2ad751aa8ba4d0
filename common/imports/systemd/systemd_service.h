// Converts the service of a systemd timer to the work of a job. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/imports/systemd/systemd_unit.h"

namespace carillon {

struct SystemdWork {
  nlohmann::json job = nlohmann::json::object();  // command, env, user, directory, times
  std::vector<std::string> remarks = {};
  std::vector<std::string> refusals = {};
};

// `name`: that of the service, with its instance.
SystemdWork ConvertService(const SystemdUnit& service, const std::string& name);

// A line of ExecStart= as a command of /bin/sh. kInvalid: it has a prefix or a form that a shell
// does not have.
Result<std::string> ShellCommandOf(std::string_view line, std::string_view unit);

}  // namespace carillon
