// The record of a container on disk: what its driver needs, and what whoever must remove it needs. It exists from before
// the container is created until the engine has said that nothing is left of it.
//
// Threads  Stateless.
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
  EngineWords create;
  int64_t grace_s = 0;
  std::vector<std::string> client_env;  // of the engine's command line, "NAME=value"

  bool operator==(const ContainerRecord&) const = default;
};

std::string EncodeRecord(const ContainerRecord& record);
std::optional<ContainerRecord> DecodeRecord(std::string_view bytes);
// kNotFound: there is none. kCorrupt: it is no record. kUnavailable: the disk does not say.
Result<ContainerRecord> ReadRecord(const std::string& path);

// The records of a warden, in its directory.
std::string RecordsIn(const std::string& warden_directory);
// The names of all records there: those of their containers.
std::vector<std::string> ListRecords(const std::string& records);
// The file beside a record that has the end of its container.
std::string EndFileOf(const std::string& record_file);
Status WriteEnd(const std::string& record_file, const ContainerEnd& end);
std::optional<std::string> ReadEnd(const std::string& record_file);

// The id of the warden with this directory, made at the first call. Unlike its path it is unique among all wardens that
// use one engine.
Result<std::string> WardenIdOf(const std::string& warden_directory);

// The variables of this process that an engine's command line needs.
std::vector<std::string> ClientEnvironment();

}  // namespace carillon::executor
