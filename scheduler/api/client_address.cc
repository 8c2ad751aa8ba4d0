#include "scheduler/api/client_address.h"

namespace carillon::scheduler {

std::string AddressOf(const HttpRequest& request) {
  return request.peer.substr(0, request.peer.rfind(':'));
}

}  // namespace carillon::scheduler
