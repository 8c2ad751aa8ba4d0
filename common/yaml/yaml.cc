#include "common/yaml/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/wire/json/json_text.h"

namespace carillon {
namespace {

using nlohmann::json;

Error Broken(int line, const std::string& what, const std::string& name = "") {
  return {ErrorCode::kInvalid,
          (name.empty() ? "line " : name + ":") + std::to_string(line + 1) + ": " + what};
}

// The line of `text` with the number `line`, from 0.
std::string LineOf(const std::string& text, int line) {
  size_t at = 0;
  for (; line > 0 && at != std::string::npos; --line) {
    at = text.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
}

// "; quote it: '*/5 * * * *'" if the value on this line begins with a character that YAML takes for
// something else. Empty otherwise.
std::string QuoteHint(const std::string& text, int line) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::string found = LineOf(text, line);
  size_t begin = found.find_first_not_of(kBlanks);
  if (begin != std::string::npos && found.compare(begin, 2, "- ") == 0) {
    begin = found.find_first_not_of(kBlanks, begin + 1);
  }
  if (begin == std::string::npos) return {};
  // In braces there are several values on a line.
  const auto is_special = [&found](size_t at) {
    return std::string_view("*&%@!`").find(found[at]) != std::string::npos;
  };
  for (size_t colon = found.find(": ", begin);
       colon != std::string::npos && begin != std::string::npos && !is_special(begin);
       colon = found.find(": ", colon + 1)) {
    begin = found.find_first_not_of(kBlanks, colon + 1);
  }
  if (begin == std::string::npos || !is_special(begin)) return {};
  const bool flow = found.find_first_of("{[") < begin;
  const size_t end = flow ? found.find_first_of(",}]", begin) : found.find(" #", begin);
  std::string value = found.substr(begin, end - begin);
  value.resize(value.find_last_not_of(kBlanks) + 1);
  for (size_t at = value.find('\''); at != std::string::npos; at = value.find('\'', at + 2)) {
    value.insert(at, 1, '\'');
  }
  return "; quote it: '" + value + "'";
}

Error BrokenYaml(const YAML::Exception& e, const std::string& text, const std::string& name = "") {
  return Broken(e.mark.line, e.msg + QuoteHint(text, e.mark.line), name);
}

// Converts a scalar without quotes by YAML's core schema: null, boolean, number, or else text.
json PlainScalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return nullptr;
  }
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const char* begin = text.data();
  const char* end = begin + text.size();
  int64_t whole = 0;
  if (const auto [at, error] = std::from_chars(begin, end, whole); at == end) {
    if (error == std::errc()) return whole;
  }
  // from_chars also accepts "inf" and "nan", which are text here.
  if (text.find_first_not_of("+-.0123456789eE") == std::string::npos) {
    double number = 0;
    const auto [at, error] = std::from_chars(begin, end, number);
    if (at == end && error == std::errc() && std::isfinite(number)) return number;
  }
  return text;
}

// Converts YAML nodes to JSON. Counts the bytes, because aliases may expand a short text to a very
// long one.
class Converter {
 public:
  Converter() = default;
  // `name`: the name of the file, for messages.
  Converter(std::map<std::string, int>& lines, std::string name)
      : lines_(&lines), name_(std::move(name)) {}

  Result<json> Convert(const YAML::Node& node, const std::string& pointer = "", size_t depth = 1) {
    constexpr size_t kNodeBytes = 16;
    if (depth > kJsonDepthMax) return At(node, "nested too deeply");
    bytes_ += kNodeBytes + (node.IsScalar() ? node.Scalar().size() : 0);
    if (bytes_ > kYamlBytesMax) return At(node, "larger than 4 MiB with all aliases expanded");
    if (lines_ != nullptr) lines_->emplace(pointer, node.Mark().line + 1);
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null: return json(nullptr);
      case YAML::NodeType::Scalar:
        // The tag "!" marks a quoted scalar. Any other is a text that lacks its quotes.
        if (node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str") return json(node.Scalar());
        if (node.Tag().starts_with("!")) {
          return At(node,
                    node.Tag() + " is a tag of YAML; put a text that begins with ! in quotes");
        }
        return PlainScalar(node.Scalar());
      case YAML::NodeType::Map: return ConvertMap(node, pointer, depth);
      case YAML::NodeType::Sequence: break;
    }
    json list = json::array();
    for (const auto& item : node) {
      CARILLON_ASSIGN_OR_RETURN(
          json value, Convert(item, JsonPointer(pointer, std::to_string(list.size())), depth + 1));
      list.push_back(std::move(value));
    }
    return list;
  }

 private:
  Result<json> ConvertMap(const YAML::Node& node, const std::string& pointer, size_t depth) {
    json object = json::object();
    std::vector<YAML::Node> merged;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) return At(entry.first, "a field name must be text");
      const std::string& name = entry.first.Scalar();
      if (name == "<<" && entry.first.Tag() != "!") {
        merged.push_back(entry.second);
        continue;
      }
      if (object.contains(name)) return At(entry.first, name + " appears twice");
      const std::string member = JsonPointer(pointer, name);
      // The line is that of the name. The value may be a block that begins on the next line.
      if (lines_ != nullptr) lines_->emplace(member, entry.first.Mark().line + 1);
      CARILLON_ASSIGN_OR_RETURN(object[name], Convert(entry.second, member, depth + 1));
    }
    for (const YAML::Node& source : merged) CARILLON_TRY(Merge(source, pointer, depth, object));
    return object;
  }

  // Adds the fields of `source`, a mapping or a list of mappings. A field that `object`
  // already has stays unchanged. So explicit fields override merged fields, and earlier
  // mappings override later ones.
  Status Merge(const YAML::Node& source, const std::string& pointer, size_t depth, json& object) {
    if (source.IsSequence()) {
      if (depth >= kJsonDepthMax) return At(source, "nested too deeply");
      for (const auto& one : source) CARILLON_TRY(Merge(one, pointer, depth + 1, object));
      return {};
    }
    if (!source.IsMap()) return At(source, "<< needs a mapping or a list of mappings");
    CARILLON_ASSIGN_OR_RETURN(const json values, Convert(source, pointer, depth + 1));
    for (const auto& [name, value] : values.items()) {
      if (!object.contains(name)) object[name] = value;
    }
    return {};
  }

  Error At(const YAML::Node& node, const std::string& what) const {
    return Broken(node.Mark().line, what, name_);
  }

  std::map<std::string, int>* const lines_ = nullptr;
  const std::string name_;
  size_t bytes_ = 0;
};

// Detects aliases. Does not build the document, because aliases can expand a short text to
// a huge document.
class AliasFinder : public YAML::EventHandler {
 public:
  bool found = false;

 private:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { found = true; }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

bool HasAlias(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  AliasFinder finder;
  while (!finder.found && parser.HandleNextDocument(finder)) {
  }
  return finder.found;
}

// ---- writing -----------------------------------------------------------------------------------

bool IsPlainText(const std::string& text) {
  if (text.empty() || !PlainScalar(text).is_string()) return false;
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
           c == '/' || c == ' ';
  };
  if (!std::all_of(text.begin(), text.end(), plain)) return false;
  if (std::isalpha(static_cast<unsigned char>(text[0])) == 0 && text[0] != '/') return false;
  if (text.back() == ' ') return false;
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower != "yes" && lower != "no" && lower != "on" && lower != "off" && lower != "y" &&
         lower != "n";
}

// True if the text has several lines and a YAML literal block (|) preserves it. The text must not
// begin with a space, must have no line of spaces only, and must end with at most one newline.
bool IsBlockText(const std::string& text) {
  if (text.find('\n') == std::string::npos || text[0] == ' ' || text[0] == '\n') return false;
  for (const unsigned char c : text) {
    if ((c < 0x20 && c != '\n') || c == 0x7F) return false;
  }
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.find_first_not_of(' ') == std::string_view::npos) return false;
    at = end + 1;
  }
  return true;
}

class Writer {
 public:
  void Write(const json& value, size_t indent) {
    if (value.is_object() && !value.empty()) {
      WriteMap(value, indent);
    } else if (value.is_array() && !value.empty()) {
      WriteList(value, indent);
    } else {
      text_ += Scalar(value, indent) + "\n";
    }
  }
  std::string Take() && { return std::move(text_); }

 private:
  static std::string Pad(size_t indent) { return std::string(indent, ' '); }

  static std::string Scalar(const json& value, size_t indent) {
    if (!value.is_string()) return JsonToText(value);
    const auto& text = value.get_ref<const std::string&>();
    if (IsPlainText(text)) return text;
    if (!IsBlockText(text)) return JsonToText(value);  // as a JSON string, which is valid YAML
    const bool ends = text.back() == '\n';
    std::string block = ends ? "|" : "|-";
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      block += "\n" + Pad(std::max<size_t>(indent, 2)) + text.substr(at, end - at);
      at = end + 1;
    }
    return block;
  }

  static bool IsNested(const json& value) { return value.is_structured() && !value.empty(); }

  void WriteMap(const json& map, size_t indent) {
    bool first = true;
    for (const auto& [name, value] : map.items()) {
      if (!first || !in_list_) text_ += Pad(indent);
      first = false;
      in_list_ = false;
      text_ += (IsPlainText(name) ? name : JsonToText(json(name))) + ":";
      if (IsNested(value)) {
        text_ += "\n";
        Write(value, indent + 2);
      } else {
        text_ += " " + Scalar(value, indent + 2) + "\n";
      }
    }
  }

  void WriteList(const json& list, size_t indent) {
    bool first = true;
    for (const json& value : list) {
      if (!first || !in_list_) text_ += Pad(indent);
      first = false;
      text_ += "- ";
      in_list_ = IsNested(value);
      Write(value, indent + 2);
      in_list_ = false;
    }
  }

  std::string text_;
  bool in_list_ = false;  // the text ends with the "- " of a list item
};

}  // namespace

Result<json> ReadYaml(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (text[first] == '{' || text[first] == '[')) {
    auto document = ParseJsonText(text);
    if (document.ok()) return document;  // if not, the text may be YAML in flow style
  }
  if (text.size() > kJsonBytesMax) return {ErrorCode::kInvalid, "larger than 1 MiB"};
  try {
    if (HasAlias(text)) return {ErrorCode::kInvalid, "aliases (*name) are not supported here"};
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) return Broken(documents[1].Mark().line, "more than one document");
    return documents.empty() ? json(nullptr) : Converter().Convert(documents[0]);
  } catch (const YAML::Exception& e) {
    return BrokenYaml(e, text);
  }
}

namespace {

Result<std::vector<YamlDocument>> ConvertAll(const std::string& text, const std::string& name) {
  std::vector<YamlDocument> documents;
  try {
    for (const YAML::Node& node : YAML::LoadAll(text)) {
      YamlDocument document;
      CARILLON_ASSIGN_OR_RETURN(document.value, Converter(document.lines, name).Convert(node));
      documents.push_back(std::move(document));
    }
  } catch (const YAML::Exception& e) {
    return BrokenYaml(e, text, name);
  }
  return documents;
}

}  // namespace

Result<std::vector<YamlDocument>> ReadYamlDocuments(const std::string& text,
                                                    const std::string& name) {
  auto documents = ConvertAll(text, name);
  // If the text is valid JSON, its values are read as JSON, because YAML reads some values
  // differently. YAML gives only the line numbers, if the text is also valid YAML.
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (text[first] != '{' && text[first] != '[')) return documents;
  auto strict = ParseJsonText(text);
  if (!strict.ok()) return documents;
  YamlDocument document{.value = std::move(strict).value()};
  if (documents.ok() && documents->size() == 1) document.lines = std::move((*documents)[0].lines);
  return std::vector{std::move(document)};
}

std::string WriteYaml(const json& document, const std::vector<std::string_view>& first) {
  Writer writer;
  if (!document.is_object() || document.empty() || first.empty()) {
    writer.Write(document, 0);
    return std::move(writer).Take();
  }
  json rest = document;
  for (const std::string_view name : first) {
    const auto found = rest.find(name);
    if (found == rest.end()) continue;
    writer.Write({{std::string(name), *found}}, 0);
    rest.erase(found);
  }
  if (!rest.empty()) writer.Write(rest, 0);
  return std::move(writer).Take();
}

}  // namespace carillon
