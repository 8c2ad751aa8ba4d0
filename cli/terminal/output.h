// Writes documents to standard output in the requested form.
//
// Always   Only the document is written to `out`. Texts in tables have no control characters.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/schedule/zone.h"

namespace carillon::cli {

// `-o wide` is a kTable with more columns.
enum class Form { kTable, kJson, kJsonl, kYaml, kName };
Result<Form> ParseForm(std::string_view text);

// A column: its title, and in `member` the field that it shows. "late_ms.p50" means a field of a
// nested object.
struct Column {
  std::string title;
  std::string member;
  bool exact = false;   // show a time with its fraction of a second
  bool share = false;   // a number from 0 to 1, shown as a percentage
  bool sparse = false;  // no column in a table in which no item has it
};

struct View {
  std::vector<Column> columns;
  std::string id;                 // the field that -o name and --quiet print
  std::vector<Column> wide = {};  // the additional columns of -o wide
};
const View& JobView();
const View& RunView();
const View& ExecutorView();
const View& FireView();

struct PrinterOptions {
  Form form = Form::kTable;
  bool quiet = false;  // print ids only
  bool color = false;
  bool wide = false;  // a table with all columns and untruncated texts
};

// A function that formats a time for tables.
using TimeText = std::function<std::string(WallTime)>;

class Printer {
 public:
  // Without `time_text`, times in tables are in UTC, with seconds.
  Printer(std::ostream& out, const PrinterOptions& options, TimeText time_text = {})
      : out_(out), options_(options), time_text_(std::move(time_text)) {}

  // Prints a page, {"items": [...], …}. A table has a row per item. JSON is the whole object.
  void List(const nlohmann::json& page, const View& view);
  // Prints one object. A table has a line per field. JSON is the whole object.
  void Object(const nlohmann::json& object, const View& view);
  // Prints one object as a row of `view`, for example a job that a command has changed.
  void Row(const nlohmann::json& object, const View& view);
  void Line(std::string_view text);
  Form form() const { return options_.form; }

 private:
  bool Document(const nlohmann::json& document);
  void Table(const std::vector<nlohmann::json>& rows, const View& view);
  std::string Show(const nlohmann::json& value, const Column& column) const;

  std::ostream& out_;
  PrinterOptions options_;
  TimeText time_text_;
};

// Returns a number with its noun: "1 job", "2 jobs".
std::string Counted(int64_t count, const std::string& what);

// Returns a time relative to now: "in 5m", "2h ago", "now".
std::string RelativeTime(WallTime time, WallTime now);
// Returns a local time with its offset: "2026-03-01 04:00:00+01:00".
std::string ZonedTime(WallTime time, const Zone& zone);

// Formats a value for tables: times with seconds, null as "-". Control characters become spaces.
std::string Cell(const nlohmann::json& value);

}  // namespace carillon::cli
