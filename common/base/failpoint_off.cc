#include "common/base/failpoint.h"

namespace carillon::failpoint {

bool Hit(std::string_view) { return false; }
bool Broken(std::string_view) { return false; }

}  // namespace carillon::failpoint
