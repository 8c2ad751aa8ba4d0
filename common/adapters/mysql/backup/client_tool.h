// The database's own client programs, which dump and load a store.
//
// Errors   Find…: kNotFound with what to install. Start: kUnavailable.
// Always   A password is in no argument, where every user of the machine would see it; the program
//          reads no option file.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"

namespace carillon::mysql {

enum class ToolKind { kMariadb, kMysql };

struct ClientTool {
  std::string path;
  ToolKind kind = ToolKind::kMariadb;
};

// mariadb-dump or mysqldump, mariadb or mysql: the
// first that `search`, as PATH is written, leads to.
Result<ClientTool> FindDumpTool(const std::string& search);
Result<ClientTool> FindLoadTool(const std::string& search);

// Pure. `tables` in their order.
std::vector<std::string> DumpCommand(const ClientTool& tool, const SessionOptions& session,
                                     const std::vector<std::string>& tables);
std::vector<std::string> LoadCommand(const ClientTool& tool, const SessionOptions& session);

// One run of such a program; destroyed, it is killed.
class ToolRun {
 public:
  struct Streams {
    int in = -1;   // -1: /dev/null
    int out = -1;  // likewise
  };
  static Result<std::unique_ptr<ToolRun>> Start(const std::vector<std::string>& command,
                                                const std::string& password, Streams streams);
  ~ToolRun();
  ToolRun(const ToolRun&) = delete;
  ToolRun& operator=(const ToolRun&) = delete;

  // Waits until it ends. kUnavailable with the first of what it complained about.
  Status Finish();

 private:
  ToolRun(std::string name, pid_t pid, int complaints)
      : name_(std::move(name)), pid_(pid), complaints_(complaints) {}
  std::string Complaints() const;

  const std::string name_;
  pid_t pid_;             // 0: it was waited for
  const int complaints_;  // a file in memory
};

}  // namespace carillon::mysql
