#include "common/imports/xxl_job/xxl_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/imports/xxl_job/xxl_job_row.h"

namespace carillon {
namespace {

using nlohmann::json;

constexpr size_t kXxlParentsMax = 31;  // a job has 32 schedules, one of them its own

struct XxlTables {
  std::vector<DumpRow> jobs;
  std::vector<DumpRow> apps;
};

// Version 2.0 has other names for its tables.
Result<XxlTables> ReadXxlTables(const std::vector<ImportFile>& files) {
  XxlTables read;
  bool found = false;
  for (const ImportFile& file : files) {
    std::string_view text = file.text;
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
    auto tables = ReadMysqlDump(text, {"xxl_job_info", "xxl_job_group", "xxl_job_qrtz_trigger_info",
                                       "xxl_job_qrtz_trigger_group"});
    if (!tables.ok()) {
      return Error{ErrorCode::kInvalid, file.name.empty()
                                            ? tables.error().message
                                            : file.name + ": " + tables.error().message};
    }
    for (auto& [name, table] : *tables) {
      const bool jobs = name.ends_with("_info");
      found = found || (jobs && table.found);
      auto& rows = jobs ? read.jobs : read.apps;
      std::move(table.rows.begin(), table.rows.end(), std::back_inserter(rows));
    }
  }
  if (found) return read;
  return Error{ErrorCode::kInvalid, "no table xxl_job_info in it; mysqldump writes it as SQL"};
}

std::map<std::string, XxlJobApp> AppsOf(const std::vector<DumpRow>& rows) {
  std::map<std::string, XxlJobApp> apps;
  for (const DumpRow& row : rows) {
    const auto text = [&row](const char* name) {
      const auto found = row.find(name);
      return found == row.end() ? std::string() : ImportShown(found->second.value_or(""));
    };
    apps[text("id")] = {.name = text("app_name"), .title = text("title")};
  }
  return apps;
}

void RejectRow(XxlJobRow& read, std::string why) {
  read.refused = true;
  read.row.remarks = {std::move(why)};
}

// The jobs and which of them start which others.
class XxlChildren {
 public:
  explicit XxlChildren(std::vector<XxlJobRow>& rows) : rows_(rows) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (by_id_.emplace(rows[i].id, i).second || rows[i].refused) continue;
      RejectRow(rows[i], fmt::format("the id {} comes twice", rows[i].id));
    }
    parents_.resize(rows.size());
    children_.resize(rows.size());
    Link();
  }

  // Refuses what cannot be said, and gives the others their schedules.
  void Resolve() {
    RefuseCrowds();
    RefuseCircles();
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].refused) Follow(i);
    }
  }

 private:
  void Link() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].refused) continue;
      for (const std::string& id : rows_[i].children) {
        const auto child = by_id_.find(id);
        if (id == rows_[i].id) continue;  // XXL-JOB ignores it
        if (child == by_id_.end() || rows_[child->second].refused) {
          rows_[i].row.remarks.push_back(
              fmt::format("its child job {} is not imported, so nothing starts it", id));
        } else if (children_[i].insert(child->second).second) {
          parents_[child->second].insert(i);
        }
      }
    }
  }

  void RefuseCrowds() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (parents_[i].size() <= kXxlParentsMax) continue;
      RejectRow(rows_[i], fmt::format("it is the child job of {} jobs; at most {} are possible",
                                      parents_[i].size(), kXxlParentsMax));
    }
  }

  // Removes again and again the jobs without parents and those without children. Those that are
  // left lie on circles, or between two of them.
  void RefuseCircles() {
    std::vector<size_t> in(rows_.size());
    std::vector<size_t> out(rows_.size());
    std::vector<size_t> ends;
    std::vector<bool> gone(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      in[i] = parents_[i].size();
      out[i] = children_[i].size();
      if (in[i] == 0 || out[i] == 0) ends.push_back(i);
    }
    while (!ends.empty()) {
      const size_t i = ends.back();
      ends.pop_back();
      if (gone[i]) continue;
      gone[i] = true;
      for (const size_t child : children_[i]) {
        if (--in[child] == 0) ends.push_back(child);
      }
      for (const size_t parent : parents_[i]) {
        if (--out[parent] == 0) ends.push_back(parent);
      }
    }
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (gone[i] || rows_[i].refused) continue;
      RejectRow(rows_[i], fmt::format("its child jobs ({}) lead back to it",
                                      fmt::join(rows_[i].children, ", ")));
    }
  }

  void Follow(size_t i) {
    XxlJobRow& row = rows_[i];
    json after = json::array();
    for (const size_t parent : parents_[i]) {
      if (rows_[parent].refused) {
        row.row.remarks.push_back(
            fmt::format("it is a child job of {}, which is not imported", rows_[parent].id));
        continue;
      }
      after.push_back({{"kind", "after"}, {"job", rows_[parent].job["job_id"]}, {"on", "success"}});
      if (!rows_[parent].stopped) row.job["labels"]["was-running"] = "yes";
    }
    if (after.empty()) return;
    // XXL-JOB starts a child job that is stopped, but a paused job stays paused.
    if (row.stopped && row.job.contains("schedules")) {
      row.row.remarks.push_back(
          "it was stopped, so it runs after its parent only, without a schedule of its own");
      row.job.erase("schedules");
    }
    for (const json& own : row.job.value("schedules", json::array())) after.push_back(own);
    row.job["schedules"] = std::move(after);
  }

  std::vector<XxlJobRow>& rows_;
  std::map<std::string, size_t> by_id_;
  std::vector<std::set<size_t>> parents_;
  std::vector<std::set<size_t>> children_;
};

}  // namespace

Result<ImportResult> ImportXxlJob(const std::vector<ImportFile>& files,
                                  const ImportOptions& options) {
  if (options.time_zone.empty()) {
    return Error{ErrorCode::kInvalid,
                 "the time zone of the XXL-JOB server must be given; its tables do not name it"};
  }
  CARILLON_ASSIGN_OR_RETURN(const XxlTables tables, ReadXxlTables(files));
  ImportWriter writer(ImportKind::kXxlJob, options);
  XxlJobReader reader(writer, options, AppsOf(tables.apps));
  std::vector<XxlJobRow> rows;
  rows.reserve(tables.jobs.size());
  for (const DumpRow& row : tables.jobs) rows.push_back(reader.Read(row));
  XxlChildren(rows).Resolve();
  for (XxlJobRow& row : rows) {
    if (row.refused) {
      writer.Refuse(std::move(row.row));
    } else {
      writer.Add(std::move(row.row), std::move(row.job));
    }
  }
  return writer.Take();
}

}  // namespace carillon
