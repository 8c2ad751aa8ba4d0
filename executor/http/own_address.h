// Tells whether an address belongs to this host.
#pragma once

#include <sys/socket.h>

namespace carillon::executor {

// True if what is sent to the address stays on this host, where a firewall rarely looks: an address
// of one of its interfaces or containers' bridges. Asks the kernel each time, because addresses
// come and go. Sends nothing.
bool IsOwnAddress(const sockaddr& address, socklen_t length);

}  // namespace carillon::executor
