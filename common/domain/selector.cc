#include "common/domain/selector.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr size_t kRequirementsMax = 32;

}  // namespace

class SelectorParser {
 public:
  explicit SelectorParser(std::string_view text) : text_(text) {}

  Result<Selector> Parse() {
    if (text_.size() > Selector::kBytesMax) {
      return Error{ErrorCode::kInvalid, fmt::format("has {} bytes; at most {} are allowed",
                                                    text_.size(), Selector::kBytesMax)};
    }
    Selector selector;
    SkipSpace();
    while (at_ < text_.size()) {
      if (selector.requirements_.size() == kRequirementsMax) {
        return Wrong(fmt::format("more than {} conditions", kRequirementsMax));
      }
      CARILLON_TRY(ReadRequirement(selector.requirements_.emplace_back()));
      if (at_ == text_.size()) break;
      if (!Take(',')) return Wrong("expected , between two conditions");
      if (at_ == text_.size()) return Wrong("expected a condition after ,");
    }
    return selector;
  }

 private:
  Error Wrong(std::string_view what) const {
    return {ErrorCode::kInvalid, fmt::format("at character {}: {}", at_ + 1, what)};
  }

  Status ReadRequirement(Selector::Requirement& to) {
    if (Take('!')) {
      to.wanted = false;
      to.any_value = true;
      return ReadWord("a label name", to.name);
    }
    CARILLON_TRY(ReadWord("a label name", to.name));
    if (at_ == text_.size() || text_[at_] == ',') {
      to.any_value = true;
      return {};
    }
    if (Take('!')) {
      if (!Take('=')) return Wrong("expected = after !");
      to.wanted = false;
      return ReadWord("a value", to.values.emplace_back());
    }
    if (Take('=')) {
      Take('=');
      return ReadWord("a value", to.values.emplace_back());
    }
    std::string word;
    CARILLON_TRY(ReadWord("=, !=, in or notin", word));
    if (word != "in" && word != "notin") return Wrong("expected =, !=, in or notin before this");
    to.wanted = word == "in";
    return ReadList(to.values);
  }

  Status ReadList(std::vector<std::string>& values) {
    if (!Take('(')) return Wrong("expected ( before the values");
    do {
      CARILLON_TRY(ReadWord("a value", values.emplace_back()));
    } while (Take(','));
    if (!Take(')')) return Wrong("expected , or ) after a value");
    return {};
  }

  Status ReadWord(std::string_view what, std::string& word) {
    const size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      const size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) return Wrong("unclosed quotation mark");
      word = text_.substr(begin + 1, end - begin - 1);
      at_ = end + 1;
    } else {
      while (at_ < text_.size() && IsBare(text_[at_])) ++at_;
      if (at_ == begin) return Wrong(fmt::format("expected {}", what));
      word = text_.substr(begin, at_ - begin);
    }
    SkipSpace();
    return {};
  }

  bool Take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    SkipSpace();
    return true;
  }

  static bool IsSpace(char c) { return c == ' ' || c == '\t'; }
  static bool IsBare(char c) {
    return c != ' ' && !IsControl(c) &&
           std::string_view(",()=!\"").find(c) == std::string_view::npos;
  }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

Result<Selector> Selector::Parse(std::string_view text) { return SelectorParser(text).Parse(); }

Selector Selector::Nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

bool Selector::Matches(const std::map<std::string, std::string>& labels) const {
  if (nothing_) return false;
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& r) {
    const auto label = labels.find(r.name);
    const bool described =
        label != labels.end() && (r.any_value || std::find(r.values.begin(), r.values.end(),
                                                           label->second) != r.values.end());
    return described == r.wanted;
  });
}

}  // namespace carillon
