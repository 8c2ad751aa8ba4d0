// A container's record on disk. The driver starts from it; the warden removes the container by it.
// The container's end is stored beside it. Both stay until the attempt's end is in the journal.
//
// Threads  Stateless. Waits for the disk: never called by the warden's own loop, except at its
//          start.
// Errors   kNotFound only if the directory could be opened and says that there is no such file.
//          kUnavailable: the disk does not say. kCorrupt: the file is no record, or one of another
//          version.
// Always   Readers see a whole file, or none, also after a power cut.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "executor/warden/container/engine_commands.h"

namespace carillon::executor {

struct ContainerRecord {
  std::string engine;  // absolute path of its command line
  std::string name;
  std::string warden_id;
  EngineArguments create;
  std::optional<Limits> limits = {};
  int64_t grace_s = 0;
  std::string outputs_file = {};        // of the host
  std::vector<std::string> client_env;  // of the engine's command line, "NAME=value"

  bool operator==(const ContainerRecord&) const = default;
};

std::string EncodeRecord(const ContainerRecord& record);
std::optional<ContainerRecord> DecodeRecord(std::string_view bytes);
Result<ContainerRecord> ReadRecord(const std::string& path);

// The records of a warden, in its directory.
std::string RecordsIn(const std::string& warden_directory);
// The names of all records there: those of their containers.
Result<std::vector<std::string>> ListRecords(const std::string& records);
// The file beside a record that has the end of its container.
std::string EndFileOf(const std::string& record_file);
Status WriteEnd(const std::string& record_file, const ContainerEnd& end);
Result<ContainerEnd> ReadEnd(const std::string& record_file);

// The id of the warden with this directory, made if there is none. Unlike its path it is unique
// among all wardens that use one engine. An id that cannot be read is never replaced: the
// containers with its label would be nobody's.
Result<std::string> WardenIdOf(const std::string& warden_directory);

Status WriteWhole(const std::string& path, std::string_view text);

// The variables of this process that an engine's command line needs. Nothing of a job is
// among them.
std::vector<std::string> ClientEnvironment();

}  // namespace carillon::executor
