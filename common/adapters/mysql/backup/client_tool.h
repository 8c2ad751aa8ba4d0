// The database's own client programs, which dump and load a store.
//
// Errors   Find…: kNotFound; the message names the package to install. Start: kUnavailable.
// Always   The password is never an argument, because every user of the machine can see arguments.
//          The program reads no option file.
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

// Return the first program found in `search`, a list of directories in the form of PATH.
// FindDumpTool finds mariadb-dump or mysqldump, FindLoadTool finds mariadb or mysql.
Result<ClientTool> FindDumpTool(const std::string& search);
Result<ClientTool> FindLoadTool(const std::string& search);

// Pure. `tables` are dumped in this order.
std::vector<std::string> DumpCommand(const ClientTool& tool, const SessionOptions& session,
                                     const std::vector<std::string>& tables);
std::vector<std::string> LoadCommand(const ClientTool& tool, const SessionOptions& session);

// One run of a client program. The destructor kills the program.
class ToolRun {
 public:
  struct Streams {
    int in = -1;   // -1: /dev/null
    int out = -1;  // -1: /dev/null
  };
  static Result<std::unique_ptr<ToolRun>> Start(const std::vector<std::string>& command,
                                                const std::string& password, Streams streams);
  ~ToolRun();
  ToolRun(const ToolRun&) = delete;
  ToolRun& operator=(const ToolRun&) = delete;

  // Waits until the program ends. kUnavailable: the program failed. The message has the beginning
  // of the program's error output.
  Status Finish();

 private:
  ToolRun(std::string name, pid_t pid, int complaints)
      : name_(std::move(name)), pid_(pid), complaints_(complaints) {}
  std::string Complaints() const;

  const std::string name_;
  pid_t pid_;             // 0: already waited for
  const int complaints_;  // file in memory with the program's error output
};

}  // namespace carillon::mysql
