// Converts one row of the table xxl_job_info to a job. Pure.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/imports/import_writer.h"
#include "common/imports/xxl_job/mysql_dump.h"

namespace carillon {

// An executor of XXL-JOB: a row of xxl_job_group.
struct XxlJobApp {
  std::string name;
  std::string title;
};

struct XxlJobRow {
  std::string id;        // of XXL-JOB
  ImportedRow row = {};  // its remarks; if `refused`, its reasons
  nlohmann::json job = {};
  bool refused = false;
  bool stopped = false;
  std::vector<std::string> children = {};  // ids of XXL-JOB
};

class XxlJobReader {
 public:
  // By the id of the executor.
  XxlJobReader(const ImportWriter& writer, const ImportOptions& options,
               std::map<std::string, XxlJobApp> apps)
      : writer_(writer), options_(options), apps_(std::move(apps)) {}

  XxlJobRow Read(const DumpRow& row);

 private:
  std::string IdOf(const XxlJobApp* app, const std::string& id) const;
  void SetSchedule(const DumpRow& row, XxlJobRow& read) const;
  void SetWork(const DumpRow& row, const XxlJobApp* app, XxlJobRow& read);
  void SetHandler(const DumpRow& row, const XxlJobApp* app, XxlJobRow& read);
  const std::string& Renamed(const std::string& name) const;

  const ImportWriter& writer_;
  const ImportOptions& options_;
  const std::map<std::string, XxlJobApp> apps_;
  std::map<std::string, std::string> handlers_;  // as XXL-JOB names them, by the name here
};

}  // namespace carillon
