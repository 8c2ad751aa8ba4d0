// Writes documents to standard output in the requested form.
//
// Always   Only the requested form goes to `out`. Tables show texts without control characters.
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

enum class Form { kTable, kJson, kJsonl, kYaml, kName };  // "wide" is a table
Result<Form> ParseForm(std::string_view text);

// A column: its title and the member it shows ("late_ms.p50" selects a nested member).
struct Column {
  std::string title;
  std::string member;
  bool exact = false;  // show a time with its fraction of a second
  bool share = false;  // from 0 to 1, shown as a percentage
};

struct View {
  std::vector<Column> columns;
  std::string id;                 // the member printed by -o name and --quiet
  std::vector<Column> wide = {};  // additional columns of -o wide
};
const View& JobView();
const View& RunView();
const View& ExecutorView();
const View& FireView();

struct PrinterOptions {
  Form form = Form::kTable;
  bool quiet = false;  // ids only
  bool color = false;
  bool wide = false;  // a table with all columns and untruncated texts
};

// Formats a time in tables.
using TimeText = std::function<std::string(WallTime)>;

class Printer {
 public:
  // `time_text`: empty for UTC, to the second.
  Printer(std::ostream& out, const PrinterOptions& options, TimeText time_text = {})
      : out_(out), options_(options), time_text_(std::move(time_text)) {}

  // Prints {"items": [...], …}: a row per item; as JSON the whole object.
  void List(const nlohmann::json& page, const View& view);
  // Prints one object: a line per member; as JSON the object.
  void Object(const nlohmann::json& object, const View& view);
  // Prints an object that a command has changed as a row of the view.
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

// "1 job", "2 jobs".
std::string Counted(int64_t count, const std::string& what);

// "in 5m", "2h ago", "now".
std::string RelativeTime(WallTime time, WallTime now);
// "2026-03-01 04:00:00+01:00"
std::string ZonedTime(WallTime time, const Zone& zone);

// Formats a value for tables: times to the second, null as "-", no control characters.
std::string Cell(const nlohmann::json& value);

}  // namespace carillon::cli
