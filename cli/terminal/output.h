// Writes a document to standard output in the form that the user asked for.
//
// Always   Nothing but the asked-for form goes to `out`; control characters of texts do not reach
//          a terminal through a table.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/zone.h"

namespace carillon::cli {

enum class Form { kTable, kJson, kJsonl, kYaml, kName };  // "wide" is a table
Result<Form> ParseForm(std::string_view text);

// One column: its title and the member it shows ("late_ms.p50" looks inside).
struct Column {
  std::string title;
  std::string member;
  bool exact = false;  // a time with its fraction of a second
  bool share = false;  // from 0 to 1, shown as a percentage
};

struct View {
  std::vector<Column> columns;
  std::string id;                 // the member that -o name and --quiet print
  std::vector<Column> wide = {};  // more columns of -o wide
};
const View& JobView();
const View& RunView();
const View& ExecutorView();
const View& FireView();

struct PrinterOptions {
  Form form = Form::kTable;
  bool quiet = false;  // ids only
  bool color = false;
  bool wide = false;  // a table with all columns, of whole texts
  // How a table shows a time; empty: in UTC, to the second.
  std::function<std::string(WallTime)> show_time = {};
};

class Printer {
 public:
  Printer(std::ostream& out, PrinterOptions options) : out_(out), options_(options) {}

  // {"items": [...], …}: a row each; as JSON the whole object.
  void List(const nlohmann::json& page, const View& view);
  // One object: a line for each member; as JSON the object.
  void Object(const nlohmann::json& object, const View& view);
  // A row of the view, for what a command changed.
  void Row(const nlohmann::json& object, const View& view);
  void Line(std::string_view text);
  Form form() const { return options_.form; }

 private:
  bool Document(const nlohmann::json& document);
  void Table(const std::vector<nlohmann::json>& rows, const View& view);
  std::string Show(const nlohmann::json& value, const Column& column) const;

  std::ostream& out_;
  const PrinterOptions options_;
};

// "1 job", "2 jobs".
std::string Counted(int64_t count, const std::string& what);

// "in 5m", "2h ago", "now".
std::string RelativeTime(WallTime time, WallTime now);
// "2026-03-01 04:00:00+01:00"
std::string ZonedTime(WallTime time, const Zone& zone);

// A value as a table shows it: times to the second, null as "-", no control characters.
std::string Cell(const nlohmann::json& value);

}  // namespace carillon::cli
