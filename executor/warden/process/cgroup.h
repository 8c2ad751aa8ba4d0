// A control group (version 2) for each attempt with limits on its memory, CPU or processes.
//
// The warden moves into a leaf, because a group with processes of its own cannot pass controllers
// on; beside it lie the groups of attempts:
//
//   …/carillon-warden.service   delegated to the warden
//     warden                    the warden and its keepers
//     RUN.ATTEMPT               what an attempt has started; made and removed by its keeper
//
// The command writes itself into its group between fork and exec. Being born there
// (CLONE_INTO_CGROUP) would be cheaper, but needs a stack of its own for a child that shares its
// keeper's memory, or a copy of that memory.
//
// Threads  Stateless.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/domain/host_check.h"
#include "common/domain/isolation.h"

namespace carillon::executor {

// A file of a group, and the value written to it before the command begins.
struct CgroupSetting {
  std::string file;
  std::string value;
  bool optional = false;  // the kernel may have been built without the file

  bool operator==(const CgroupSetting&) const = default;
};
// The settings of the limits for which the host has the feature. Pure.
std::vector<CgroupSetting> CgroupSettings(const Limits& limits, Features host);

// The group of a process, from the texts of its /proc/PID/cgroup and mountinfo; empty: there is no
// hierarchy of version
// 2. Pure.
std::string CgroupPath(std::string_view cgroup, std::string_view mountinfo);
// The number after `name` in a text of lines such as "oom_kill 3"; 0 without it. Pure.
int64_t CgroupCount(std::string_view events, std::string_view name);

// ---- of one attempt; false, with the reason in errno
bool MakeCgroup(const std::string& path, const std::vector<CgroupSetting>& settings);
// Kills every process in it.
void KillCgroup(const std::string& path);
// Succeeds only if no process is left in it.
bool RemoveCgroup(const std::string& path);
// The number of its processes that the kernel has killed to free memory.
int64_t OomKills(const std::string& path);

// ---- of the warden
struct CgroupHost {
  std::string path = {};  // of the group in which those of attempts are made; empty: none can be
  Features features = {};
  HostCheck check = {};
};
// Moves the calling process into a leaf of its group, and tries what attempts need: makes a group
// with limits, and kills a child in it. The group must hold no other process. It can hold none from
// then on, so whoever starts the next warden makes it anew, as systemd does.
CgroupHost PrepareCgroups();

}  // namespace carillon::executor
