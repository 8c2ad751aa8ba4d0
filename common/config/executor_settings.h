// The settings of executors, a part of the table of all settings (config_table.h).
#pragma once

#include <vector>

#include "common/config/config_table.h"

namespace carillon::config {

std::vector<Setting> ExecutorSettings();

}  // namespace carillon::config
