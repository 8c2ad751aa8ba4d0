#include "scheduler/api/http/client_address.h"

namespace carillon::scheduler {

std::string AddressOf(const HttpRequest& request) {
  return request.peer.substr(0, request.peer.rfind(':'));
}

}  // namespace carillon::scheduler
