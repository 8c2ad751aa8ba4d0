#include "common/adapters/grpc/link_protocol.h"

namespace carillon::rpc {

bool IsIdentity(std::string_view text) {
  if (text.empty() || text.size() > 63 || text[0] == '-') return false;
  for (const char c : text) {
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return false;
  }
  return true;
}

bool SameSecret(std::string_view given, std::string_view wanted) {
  unsigned different = given.size() == wanted.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    different |= static_cast<unsigned char>(given[i] ^ wanted[i % wanted.size()]);
  }
  return different == 0;
}

}  // namespace carillon::rpc
