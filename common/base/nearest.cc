#include "common/base/nearest.h"

#include <algorithm>

namespace carillon {
namespace {

constexpr size_t kEditsMax = 3;

size_t Edits(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j < row.size(); ++j) {
      const size_t replace = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row.back();
}

}  // namespace

std::string_view Nearest(std::string_view name, const std::vector<std::string_view>& known) {
  size_t least = std::min(name.size() / 3, kEditsMax) + 1;
  std::string_view nearest;
  for (const std::string_view one : known) {
    if (one.size() > name.size() + kEditsMax) continue;  // bounds the cost of long names
    if (name.size() > one.size() + kEditsMax) continue;
    if (const size_t edits = Edits(name, one); edits < least) {
      least = edits;
      nearest = one;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view nearest = Nearest(name, known);
  return nearest.empty() || nearest == name ? "" : "; did you mean '" + std::string(nearest) + "'?";
}

}  // namespace carillon
