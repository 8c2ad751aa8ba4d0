#include "executor/link/proc_load.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace carillon::executor {
namespace {

double Share(uint64_t part, uint64_t whole) {
  if (whole == 0) return 0;
  return std::clamp(static_cast<double>(part) / static_cast<double>(whole), 0.0, 1.0);
}

double ReadMemory() {
  std::ifstream file("/proc/meminfo");
  uint64_t total = 0;
  uint64_t available = 0;
  std::string name;
  std::string rest;
  for (uint64_t value = 0; file >> name >> value; std::getline(file, rest)) {
    if (name == "MemTotal:") total = value;
    if (name == "MemAvailable:") available = value;
  }
  return Share(total - std::min(total, available), total);
}

double ReadDisk(const std::string& directory) {
  struct statvfs disk {};
  if (statvfs(directory.c_str(), &disk) != 0) return 0;
  return Share(disk.f_blocks - std::min(disk.f_blocks, disk.f_bavail), disk.f_blocks);
}

}  // namespace

// Reads the first line of /proc/stat: "cpu  user nice system idle iowait irq softirq steal …".
ProcLoad::Ticks ProcLoad::ReadTicks() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line);
  std::string name;
  fields >> name;
  Ticks ticks;
  uint64_t value = 0;
  for (int i = 0; i < 8 && fields >> value; ++i) {
    ticks.total += value;
    if (i == 3 || i == 4) ticks.idle += value;
    if (i == 4) ticks.io_wait = value;
  }
  return ticks;
}

ExecutorLoad ProcLoad::Sample() {
  const Ticks now = ReadTicks();
  const uint64_t total = now.total - std::min(now.total, last_.total);
  const uint64_t idle = now.idle - std::min(now.idle, last_.idle);
  ExecutorLoad load;
  load.cpu = Share(total - std::min(total, idle), total);
  load.io = Share(now.io_wait - std::min(now.io_wait, last_.io_wait), total);
  load.memory = ReadMemory();
  load.disk = ReadDisk(directory_);
  last_ = now;
  return load;
}

}  // namespace carillon::executor
