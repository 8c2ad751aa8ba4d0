// Finds the units of systemd in files: unit files, drop-ins, and what `systemctl cat` prints. Pure.
//
// Always   Drop-ins are read behind their unit in the order of their names, as systemd does.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/imports/import_result.h"
#include "common/imports/systemd/systemd_unit.h"

namespace carillon {

struct SystemdUnits {
  std::map<std::string, SystemdUnit> units = {};  // timers and services, by name
  std::vector<ImportedRow> unread = {};           // texts of which no unit is known, and why
};

SystemdUnits ReadSystemdUnits(const std::vector<ImportFile>& files);

// True for a folder of drop-ins of timers or services: "backup.timer.d", "service.d".
bool IsDropInFolder(std::string_view name);

}  // namespace carillon
