// Credentials of both ends of the control link.
#pragma once

#include <memory>
#include <string>

#include "common/adapters/grpc/grpc_include.h"
#include "common/tls/certificates.h"

namespace carillon::rpc {

// Plain text if `identity` is empty. A client without a certificate can make a call, because the
// Join call requests a certificate. A client with an invalid certificate cannot connect.
std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const tls::Identity& identity);

// Accepts only a server with a certificate for `name`, whatever its address. Plain text if
// `identity` is empty.
std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const tls::Identity& identity,
                                                             const std::string& name,
                                                             grpc::ChannelArguments& arguments);

// Returns the name in the verified certificate of the peer; empty if there is no certificate.
std::string CertifiedName(const grpc::AuthContext& context);

// Options of an executor for the connection of a stream. Every stream has one of its own. So a new
// stream immediately reaches a server that was restarted or replaced.
grpc::ChannelArguments LinkArguments();

}  // namespace carillon::rpc
