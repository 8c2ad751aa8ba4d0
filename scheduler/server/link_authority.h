// The certificates of the control link: the authority that signs them, and the member's own one.
//
// Errors   kInvalid and kUnavailable name the setting or the file.
#pragma once

#include "common/base/ids.h"
#include "common/config/load.h"
#include "common/process/data_directory.h"
#include "common/tls/certificates.h"

namespace carillon::scheduler {

// Reads the authority from the files of link.tls_ca_file and link.tls_ca_key_file.
Result<tls::Authority> ReadLinkAuthority(const config::Config& config);

// The authority of a server that is the only member: read from its data directory, and created
// there first if it is missing. A new authority locks out executors that joined before.
Result<tls::Authority> EnsureLinkAuthority(const process::DataDirectory& directory, WallTime now);

// Returns a new identity of the member. Its key exists only in this process, so it may be valid for
// as long as the authority. kUnavailable: the authority has expired.
Result<tls::Identity> NewMemberIdentity(const tls::Authority& authority, const MemberId& member,
                                        WallTime now);

}  // namespace carillon::scheduler
